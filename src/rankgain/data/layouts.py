"""Files in other layouts than TREC's, rewritten as TREC's while they are read.

BEIR's qrels are a table with a header, ``query-id corpus-id score``; a run of MS MARCO has three columns: query,
document, rank. Line numbers do not change, so errors name the right line.
"""

from __future__ import annotations

import re

from rankgain.data.files import BLOCK, File

PEEKED = 1 << 9  # bytes in which to look for the first line
HEADER = [b"queryid", b"corpusid", b"score"]

_COLUMNS = rb"(?m)^[ \t]*([^\s#]\S*)[ \t]+(\S+)[ \t]+(\S+)[ \t\r]*$"


def _first_fields(text: bytes) -> list[bytes]:
    """The fields of the first line that is neither blank nor a comment, if all of it is there."""
    lines = text.split(b"\n")
    for line in lines if len(text) < PEEKED else lines[:-1]:
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            return fields
    return []


def is_beir(text: bytes | bytearray) -> bool:
    """Whether qrels begin with BEIR's header."""
    fields = _first_fields(bytes(text[:PEEKED]))
    return [re.sub(rb"[-_]", b"", field.lower()) for field in fields] == HEADER


def beir_as_qrels(text: bytes | bytearray) -> bytes:
    """BEIR's qrels as TREC's; the header becomes a comment."""
    header = re.search(rb"(?m)^[ \t]*[^\s#]", text)
    start = 0 if header is None else header.start()
    return b"".join((text[:start], b"#", re.sub(_COLUMNS, rb"\1 0 \2 \3", text[start + 1 :])))


def is_msmarco(file: File) -> bool:
    """Whether a run has three columns, of which the last is a rank."""
    fields = _first_fields(file.peek(PEEKED))
    return len(fields) == 3 and fields[2].isdigit()


class MsMarcoRun(File):
    """A run of MS MARCO as TREC's, with the negated rank as the score."""

    def __init__(self, file: File) -> None:
        self.name = file.name
        self._inner = file
        self._kept = None
        self._plain = False  # kernels read what `fill` gives, not the file
        self.begin()

    def begin(self) -> None:
        """Forget what was read ahead."""
        self._tail = self._made = b""

    def read(self, size: int) -> bytes:
        """As `File.read`, but it may return less than is left."""
        while not self._made:
            data = self._inner.read(BLOCK // 2)
            if not data and not self._tail:
                return b""
            text = self._tail + data
            end = text.rfind(b"\n") + 1 if data else len(text)
            text, self._tail = text[:end], text[end:]
            self._made = re.sub(_COLUMNS, rb"\1 Q0 \2 0 -\3 -", text)
        made, self._made = self._made[:size], self._made[size:]
        return made

    def _put_back(self, data: bytes) -> None:
        self._made = data + self._made

    def again(self) -> File:
        """Back to the beginning."""
        self._inner.again()
        self.begin()
        return self
