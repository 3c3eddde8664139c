"""Recognise by its content whether a file is a TREC file or a table that `data.tables` reads."""

from __future__ import annotations

import os
import re
import stat
import sys
from typing import Any

from rankgain.data.compression import compression_of, decompressed
from rankgain.data.files import BLOCK, HEADER, MARK, FileInput, is_rank, is_standard_input

PARQUET, ARROW = b"PAR1", b"ARROW1"
HEAD = 1 << 16  # number of bytes used to recognise a file; more are read if the first line is longer
DELIMITERS = b"\t", b",", b";"


class _Replayed:
    """A wrapper for a stream that cannot seek. Its `read` first returns the bytes that have already been read."""

    def __init__(self, head: bytes, stream: Any, name: str, *, closes: bool) -> None:
        self._head = head
        self._stream = stream
        self._closes = closes
        self.name = name

    def __del__(self) -> None:
        if self._closes:
            self._stream.close()

    def read(self, size: int) -> bytes:
        if self._head:
            head, self._head = self._head[:size], self._head[size:]
            return head
        data: bytes = self._stream.read(size)
        return data


def file_kind(source: FileInput, argument: str, *, beir: bool = False) -> tuple[str | None, bytes, Any]:
    """Return the kind of a file (None for TREC), the beginning of its text, and an input that reads the whole file."""
    head, source = _head_of(source, argument)
    text = _text(head)
    return _kind(text, beir), text, source


def _head_of(source: FileInput, argument: str) -> tuple[bytes, Any]:
    """Return the first bytes of a file, and an input that reads the file from the beginning."""
    if isinstance(source, (str, os.PathLike)) and not is_standard_input(source):
        name = os.fsdecode(source)
        if "\0" in name:
            return b"", source  # `opened` raises an error that names the argument
        if stat.S_ISREG(os.stat(source).st_mode):
            with open(source, "rb", buffering=0) as file:
                return _read_head(file), source
        stream: Any = open(source, "rb", buffering=0)  # noqa: SIM115  # _Replayed closes it
    elif is_standard_input(source):
        if not hasattr(sys.stdin, "buffer"):
            return b"", source
        name, stream = "standard input", sys.stdin.buffer
    else:
        stream = source
        named = getattr(source, "name", None)
        name = named if named and isinstance(named, str) else argument
        if getattr(stream, "closed", False):
            return b"", source
    if getattr(stream, "seekable", lambda: False)():
        start = stream.tell()
        head = _read_head(stream)
        stream.seek(start)
        return head if isinstance(head, bytes) else b"", source
    head = _read_head(stream)
    if not isinstance(head, bytes):
        return b"", source  # `File` raises an error
    return head, _Replayed(head, stream, name, closes=stream is not source and not is_standard_input(source))


def _read_head(file: Any) -> bytes:
    """Return the first bytes of a file. If the file is text, they contain at least one complete line."""
    head: bytes = file.read(HEAD)
    while isinstance(head, bytes) and head and (len(head) < HEAD or _is_too_short(head)):
        more = file.read(max(len(head), HEAD - len(head)))
        if not more:
            break
        head += more
    return head


def _is_too_short(head: bytes) -> bool:
    """Return whether the text in the first bytes of a file is a part of its first line."""
    text = _text(head)
    if not text:  # a block of bzip2 is decompressed as a whole, but more bytes than that are damaged
        return len(head) < BLOCK
    return b"\n" not in text and b"\0" not in text


def _text(head: bytes) -> bytes:
    """Return the first bytes of a file, decompressed and without a byte-order mark."""
    compression = compression_of(head)
    return (head if compression is None else decompressed(head, compression)).removeprefix(MARK)


def _kind(text: bytes, beir: bool) -> str | None:
    """Return the kind of a table from the first bytes of its file.

    Return None for a TREC file, and for a file that `read_trec` refuses.
    """
    if text[:4] == PARQUET:
        return "parquet"
    if text[:6] == ARROW:
        return "arrow"
    if b"\0" in text:
        return None
    first = text.lstrip()[:1]
    lines = (line for line in text.split(b"\n") if line.strip() and not line.lstrip().startswith(b"#"))
    line = next(lines, b"")
    if _is_trec(line.split(), beir):
        return None
    if first in (b"{", b"["):
        return "json"
    return "delimited" if any(delimiter in line for delimiter in DELIMITERS) else None


def _is_trec(fields: list[bytes], beir: bool) -> bool:
    """Return whether the first line has the fields of a TREC run, TREC qrels, BEIR's qrels or an MS MARCO run.

    The first line of BEIR's qrels is recognised as their header.
    """
    if len(fields) == 3:
        header = [re.sub(rb"[-_]", b"", field.lower()) for field in fields] == HEADER
        return beir if header else is_rank(fields[2])
    numbers = {6: (3, 4), 4: (3,)}.get(len(fields), ())
    return bool(numbers) and all(is_number(fields[index]) for index in numbers)


def is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
