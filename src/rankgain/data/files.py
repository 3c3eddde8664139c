"""Read bytes from a path, standard input or an open file, and decompress them if necessary.

Two layouts besides TREC's are recognised by the first line. BEIR's qrels have the header ``query-id corpus-id score``.
MS MARCO's runs have three columns: query, document, rank.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any, BinaryIO

from rankgain.data.advice.layouts import format_advice
from rankgain.data.compression import START, Damage, compression_of
from rankgain.errors import escaped, quoted

FileInput = str | os.PathLike[str] | BinaryIO

BLOCK = 1 << 21  # number of bytes read at a time, and the fewest for which another thread is used
MARK = b"\xef\xbb\xbf"  # the UTF-8 byte-order mark, which some editors write
PEEKED = 1 << 9  # number of bytes that are searched for the first line
HEADER = [b"queryid", b"corpusid", b"score"]

_LINE = rb"(?m)^[ \t\v\f]*(?=[^\s#])"  # the start of a line that is neither blank nor a comment


def is_standard_input(source: Any) -> bool:
    return isinstance(source, str) and source == "-"


_MAGIC = 128  # number of bytes in which formats are recognised


class File:
    """The decompressed bytes of a file."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = escaped(name)
        self._path = name
        self._file: Any = file
        self._size = _size(file)

    def begin(self) -> None:
        """Detect compression and a byte-order mark at the current position."""
        self._done = 0
        self._ahead = b""
        start = self.take(START)
        self._ahead = start + self._ahead
        self._decode: Any = self.take
        self._damage: Damage = ()
        self._failure: Exception | None = None  # an error of the file itself
        self._compression = compression_of(start)
        if self._compression is not None:
            file, self._damage = self._compression.open(_Raw(self))
            self._decode = file.read
        self._first = b""
        first = self.read(len(MARK))
        self._first = b"" if first == MARK else first
        self.is_plain = self._compression is None and first != MARK

    def check_format(self) -> None:
        """Refuse unsupported formats, and name the format in the error."""
        if advice := format_advice(self.peek(_MAGIC)):
            raise ValueError(f"{self.name} is {advice}")

    def _raw(self, size: int) -> bytes:
        """Read up to `size` raw bytes, or more if the file returns more; return b"" at the end of the file."""
        try:
            data = self._file.read(size)
        except OSError as error:
            self._failure = error
            raise self._with_name(error)  # noqa: B904  # this is the same error
        if not isinstance(data, bytes):
            raise TypeError(f"{self.name} must be opened in binary mode: its read() returned {type(data).__name__}")
        self._count(len(data))
        return data

    def _with_name(self, error: OSError) -> OSError:
        """Return the error, and add the file name if the error comes from the operating system."""
        if error.errno is not None and error.filename is None:
            error.filename = self._path
        return error

    def _count(self, read: int) -> None:
        self._done += read
        if not read and self._size is not None and self._done < self._size:
            raise ValueError(f"{self.name} became shorter while it was read: {self._done} bytes of {self._size}")

    def take(self, size: int) -> bytes:
        """Read exactly `size` raw bytes, or fewer at the end of the file."""
        parts, have = [self._ahead] if self._ahead else [], len(self._ahead)
        while have < size and (more := self._raw(size - have)):
            parts.append(more)
            have += len(more)
        data = b"".join(parts)
        self._ahead = data[size:]
        return data[:size]

    def read(self, size: int) -> bytes:
        """Read `size` bytes of the text, or fewer at the end."""
        first, self._first = self._first[:size], self._first[size:]
        try:
            data: bytes = first + self._decode(size - len(first))
        except self._damage as error:
            if error is self._failure or self._compression is None:
                raise
            raise ValueError(
                f"{self.name}: the {self._compression.name} data are damaged or cut off ({error})"
            ) from None
        return data

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes of the text, or fewer at the end, without consuming them."""
        self._first = self.read(size)
        return self._first

    def text(self) -> tuple[bytes | bytearray, Exception | None]:
        """Return the rest of the text, and the error that ended it, if any.

        After an error, the text ends with a complete line, and the caller raises an error in the text first. A plain
        file is read in one piece; for other input, a buffer grows in place, since joining parts would take twice the
        memory.
        """
        text = bytearray()
        try:
            if (whole := self._whole()) is not None:
                return whole, None
            while more := self._more():
                text += more
        except Exception as error:
            del text[text.rfind(b"\n") + 1 :]
            return text, error
        return text, None

    def _more(self) -> bytes:
        """Read some of the text, or b"" at the end. In contrast to `read`, an error does not lose what precedes it."""
        peeked = len(self._first) + len(self._ahead)
        if self._decode != self.take:
            return self.read(BLOCK)
        return self.read(peeked) if peeked else self._raw(BLOCK)

    def _whole(self) -> bytes | None:
        """Return the bytes of a plain file from its beginning, or None if they must be read a block at a time."""
        if not self.is_plain or self._size is None or type(self._file) is not io.FileIO:
            return None
        position = self._file.tell()
        self._file.seek(position - self._done)
        try:
            text: bytes = self._file.readall()
        except OSError:  # reading a block at a time preserves the text before the error
            text = b""
        if len(text) >= self._size:
            return text
        self._file.seek(position)
        return None

    def close(self) -> None:
        """Release the decompressor. The owner of the file has to close it."""
        self._decode = None  # break a reference cycle


class _Raw:
    """The compressed bytes of a file, with the interface that decompressors require."""

    def __init__(self, file: File) -> None:
        self.read = file.take


def _size(file: Any) -> int | None:
    """Return the number of bytes left in a regular file, or None for other file objects.

    The number is a lower bound if the file is still growing.
    """
    raw = file.raw if isinstance(file, io.BufferedReader) else file
    if not isinstance(raw, io.FileIO) or not raw.seekable():
        return None
    return os.fstat(raw.fileno()).st_size - int(file.tell())


@contextmanager
def opened(source: FileInput, argument: str) -> Iterator[File]:
    """Open a path or standard input, or wrap the caller's open file, which is not closed."""
    with ExitStack() as stack:
        file: Any = source
        name: Any = None
        if is_standard_input(source):
            if not hasattr(sys.stdin, "buffer"):
                raise ValueError(f"{argument} is standard input, which cannot be read as bytes here: give a path")
            file, name = sys.stdin.buffer, "standard input"
        elif isinstance(source, (str, os.PathLike)):
            name = os.fsdecode(source)
            if "\0" in name:
                raise ValueError(f"{argument}: the path {quoted(name)} has a null character: give the path of a file")
            file = stack.enter_context(open(source, "rb", buffering=0))
        elif hasattr(source, "read"):  # the name of an open file may be a number or empty
            name = getattr(source, "name", None)
            if getattr(source, "closed", False):
                raise ValueError(f"{argument}: the file is closed; open it again")
        else:
            raise TypeError(f"{argument} must be a path, '-' or an open binary file, not {type(source).__name__}")
        opened_file = stack.enter_context(closing(File(file, name if name and isinstance(name, str) else argument)))
        opened_file.begin()
        yield opened_file


def _first_fields(text: bytes) -> list[bytes]:
    """Return the fields of the first line that is neither blank nor a comment.

    The list is empty if that line is incomplete.
    """
    lines = text.split(b"\n")
    for line in lines if len(text) < PEEKED else lines[:-1]:
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            return fields
    return []


def comment_out_first(text: bytearray) -> None:
    """Turn the header line into a comment. It is the first line that is neither blank nor a comment."""
    line = re.search(_LINE, text)
    if line is not None:
        text[line.end()] = ord("#")


def is_beir(file: File) -> bool:
    """Return whether a qrels file begins with BEIR's header."""
    return [re.sub(rb"[-_]", b"", field.lower()) for field in _first_fields(file.peek(PEEKED))] == HEADER


def is_msmarco(file: File) -> bool:
    """Return whether the first line of a run has three columns, the last of which is a rank."""
    fields = _first_fields(file.peek(PEEKED))
    return len(fields) == 3 and is_rank(fields[2])


def is_rank(field: bytes) -> bool:
    """Return whether a field is a rank, or -1, which ColBERT writes where it has none."""
    return field.isdigit() or field == b"-1"
