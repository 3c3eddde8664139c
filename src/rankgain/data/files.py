"""Files that are read as bytes: from a path, standard input or an open file, compressed or not.

Layouts other than TREC's are known by the first line: BEIR's qrels are a table with a header, ``query-id corpus-id
score``; a run of MS MARCO has three columns: query, document, rank.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any, BinaryIO

from rankgain.errors import escaped, quoted

FileInput = str | os.PathLike[str] | BinaryIO

BLOCK = 1 << 21  # bytes of a run that are processed together
KEPT = 1 << 25  # of input that cannot be read twice, the bytes kept in memory; the rest goes to a temporary file
GZIP = b"\x1f\x8b"  # the magic bytes of gzip
MARK = b"\xef\xbb\xbf"  # the byte-order mark that some editors write
PEEKED = 1 << 9  # bytes in which to look for the first line
HEADER = [b"queryid", b"corpusid", b"score"]

_LINE = rb"(?m)^[ \t\v\f]*(?=[^\s#])"  # the beginning of one that is neither blank nor a comment


def is_standard_input(source: Any) -> bool:
    return isinstance(source, str) and source == "-"


# Formats that are not read, by their first bytes, and what to do.
_OTHER_FORMATS = (
    (rb"BZh[1-9]1AY&SY", "a bzip2 file: decompress it, or pass bz2.open(path)"),
    (rb"\xfd7zXZ\0", "an xz file: decompress it, or pass lzma.open(path)"),
    (rb"\x28\xb5\x2f\xfd", "a Zstandard file: decompress it"),
    (rb"PK\x03\x04", "a zip archive: extract the file"),
    (rb"PAR1[\0-\x08\x0e-\x1f]", "a parquet table: pass it to rankgain.evaluate or rankgain.from_frames"),
    (rb"ARROW1\0", "an Arrow table: pass it to rankgain.evaluate or rankgain.from_frames"),
    (rb"\xff\xfe|\xfe\xff", "UTF-16 text: convert it to UTF-8, as by iconv -f UTF-16 -t UTF-8"),
)
_MAGIC = 10  # bytes


class File:
    """The bytes of a file, uncompressed; they can be read twice, wherever they come from."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = escaped(name)
        self._path = name
        self._file: Any = file
        self._start = file.tell() if _seekable(file) else None
        self._kept: Any = _storage() if self._start is None else None
        self._size = _size(file)

    def begin(self) -> None:
        """Look how the file begins, where it stands now."""
        self._done = 0
        self._ahead = b""
        start = self.take(len(GZIP))
        self._ahead = start + self._ahead
        self._stream: Any = _Raw(self)
        self._damage: tuple[type[Exception], ...] = ()
        if start == GZIP:
            self._stream, self._damage = _inflating(self._stream)
        first = self._text(len(MARK))
        self._first = b"" if first == MARK else first
        self.is_plain = start != GZIP and first != MARK
        self._plain = self._kept is None and start != GZIP and type(self._file) is io.FileIO

    def check_format(self) -> None:
        """Refuse files of other formats by name."""
        begins = self.peek(_MAGIC)
        for magic, advice in _OTHER_FORMATS:
            if re.match(magic, begins):
                raise ValueError(f"{self.name} is {advice}")

    def _raw(self, size: int) -> bytes:
        """Up to this many raw bytes, or more if the file returns more; none at its end."""
        with self._named():
            data = self._file.read(size)
        if not isinstance(data, bytes):
            raise TypeError(f"{self.name} must be opened in binary mode: its read() returned {type(data).__name__}")
        if self._kept is not None and self._kept is not self._file:
            self._keep(data)
        self._count(len(data))
        return data

    def _keep(self, data: bytes) -> None:
        """Copy what cannot be read twice: where the disk is full, it is not that of the file."""
        try:
            self._kept.write(data)
            self._kept.flush()
        except OSError as error:
            import tempfile

            what = f"{error.strerror} for a copy of {self.name} (TMPDIR can name another folder)"
            raise OSError(error.errno, what, tempfile.gettempdir()) from None

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Add the name of the file to errors of the system."""
        try:
            yield
        except OSError as error:
            if error.errno is not None and error.filename is None:
                error.filename = self._path
            raise

    def _count(self, read: int) -> None:
        self._done += read
        if not read and self._size is not None and self._done < self._size:
            raise ValueError(f"{self.name} became shorter while it was read: {self._done} bytes of {self._size}")

    def take(self, size: int) -> bytes:
        """This many raw bytes, however few the file returns at once; fewer at its end."""
        parts, have = [self._ahead] if self._ahead else [], len(self._ahead)
        while have < size and (more := self._raw(size - have)):
            parts.append(more)
            have += len(more)
        data = b"".join(parts)
        self._ahead = data[size:]
        return data[:size]

    def _text(self, size: int) -> bytes:
        try:
            data: bytes = self._stream.read(size)
        except self._damage as error:
            raise ValueError(f"{self.name}: the gzip data are damaged or cut off ({error})") from None
        return data

    def read(self, size: int) -> bytes:
        """This many bytes of the text; fewer at its end."""
        first, self._first = self._first[:size], self._first[size:]
        return first + self._text(size - len(first))

    def peek(self, size: int) -> bytes:
        """So many bytes of the text, which are read again afterwards; less at its end."""
        self._first = self.read(size)
        return self._first

    def comment_out_first(self) -> None:
        """Make a comment of the first line that is neither blank nor a comment, as far as was peeked."""
        line = re.search(_LINE, self._first)
        if line is not None:
            self._first = self._first[: line.end()] + b"#" + self._first[line.end() + 1 :]

    def pass_over(self, stops: bytes) -> None:
        """Leave out the text up to the next of these bytes."""
        while stops and (data := self.read(BLOCK)):
            found = [at for stop in stops if (at := data.find(stop)) >= 0]
            if found:
                self._first = data[min(found) :] + self._first
                return

    def fill(self, buffer: memoryview) -> int:
        """Put as much of the text into a buffer as it holds, or some of it; how much, and 0 at the end."""
        if self._plain and not (self._first or self._ahead):
            with self._named():
                count: int = self._file.readinto(buffer)
            self._count(count)
        else:
            data = self.read(len(buffer))
            count = len(data)
            buffer[:count] = data
        return count

    def again(self) -> File:
        """Back to the beginning."""
        if self._kept is not None and self._kept is not self._file:
            while self._raw(BLOCK):  # keep the rest
                pass
            self._file = self._kept
        self._file.seek(self._start or 0)
        self.begin()
        return self

    def close(self) -> None:
        """Release what was kept and what reads this file; the file itself is left to its owner."""
        self._stream = None
        if self._kept is not None:
            with suppress(OSError):  # of what a full disk did not take
                self._kept.close()


class _Raw:
    """The compressed bytes, as `gzip` asks for them."""

    def __init__(self, file: File) -> None:
        self.read = file.take


def _inflating(raw: Any) -> tuple[Any, tuple[type[Exception], ...]]:
    """The decompressor, and the errors that it raises if the bytes are damaged."""
    import gzip  # imported only here, since it takes long
    import zlib

    return gzip.GzipFile(mode="rb", fileobj=raw), (EOFError, zlib.error, gzip.BadGzipFile)


def _storage() -> Any:
    """Storage for a copy of what cannot be read twice."""
    import tempfile

    return tempfile.SpooledTemporaryFile(KEPT)  # closed by its File


def _seekable(file: BinaryIO) -> bool:
    return bool(getattr(file, "seekable", lambda: False)())


def _size(file: Any) -> int | None:
    """The least number of bytes in a file of the system; other file objects may not tell."""
    raw = file.raw if isinstance(file, io.BufferedReader) else file
    if not isinstance(raw, io.FileIO) or not raw.seekable():
        return None
    return os.fstat(raw.fileno()).st_size - int(file.tell())


@contextmanager
def opened(source: FileInput, argument: str) -> Iterator[File]:
    """The file of a path, of standard input or of the caller, who closes it."""
    with ExitStack() as stack:
        file: Any = source
        name: Any = None
        if is_standard_input(source):
            if not hasattr(sys.stdin, "buffer"):
                raise ValueError(f"{argument} is to be standard input, which cannot be read as bytes here: give a path")
            file, name = sys.stdin.buffer, "standard input"
        elif isinstance(source, (str, os.PathLike)):
            name = os.fsdecode(source)
            if "\0" in name:
                raise ValueError(f"{argument}: the path {quoted(name)} holds a null character: give that of a file")
            file = stack.enter_context(open(source, "rb", buffering=0))
        elif hasattr(source, "read"):  # the name may be a number, or empty
            name = getattr(source, "name", None)
            if getattr(source, "closed", False):
                raise ValueError(f"{argument}: the file is closed; open it anew")
        else:
            raise TypeError(f"{argument} must be a path, '-' or an open binary file, not {type(source).__name__}")
        found = stack.enter_context(closing(File(file, name if name and isinstance(name, str) else argument)))
        found.begin()
        yield found


def _first_fields(text: bytes) -> list[bytes]:
    """The fields of the first line that is neither blank nor a comment, if all of it is there."""
    lines = text.split(b"\n")
    for line in lines if len(text) < PEEKED else lines[:-1]:
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            return fields
    return []


def is_beir(file: File) -> bool:
    """Whether qrels begin with BEIR's header."""
    return [re.sub(rb"[-_]", b"", field.lower()) for field in _first_fields(file.peek(PEEKED))] == HEADER


def is_msmarco(file: File) -> bool:
    """Whether a run has three columns, of which the last is a rank."""
    fields = _first_fields(file.peek(PEEKED))
    return len(fields) == 3 and fields[2].isdigit()
