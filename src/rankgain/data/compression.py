"""The formats in which files may be compressed, recognised by their first bytes. Their modules are slow to import."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rankgain.errors import import_extra

START = 10  # number of bytes in which a format is recognised
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_PART = 1 << 9

Damage = tuple[type[Exception], ...]


class Compression(NamedTuple):
    """A format. `open` returns a file that decompresses another one, and the errors that it raises for damaged data."""

    name: str
    start: bytes  # a pattern
    open: Callable[[Any], tuple[Any, Damage]]


def _gzip(raw: Any) -> tuple[Any, Damage]:
    import gzip
    import zlib

    return gzip.GzipFile(mode="rb", fileobj=raw), (EOFError, zlib.error, gzip.BadGzipFile)


def _bzip2(raw: Any) -> tuple[Any, Damage]:
    import bz2

    return bz2.BZ2File(raw), (EOFError, OSError)


def _xz(raw: Any) -> tuple[Any, Damage]:
    import lzma

    return lzma.LZMAFile(raw), (EOFError, lzma.LZMAError)


def _zstd(raw: Any) -> tuple[Any, Damage]:
    """Use the standard library from Python 3.14 on; pyarrow needs the compressed data at once."""
    try:
        zstd = import_extra("compression.zstd", "arrow")
    except ImportError:
        try:
            pa = import_extra("pyarrow", "arrow")
        except ImportError as error:
            raise ImportError(f"Zstandard files need Python 3.14 or pyarrow; {error}") from None
        data = b"".join(iter(lambda: raw.read(1 << 21), b""))
        return pa.CompressedInputStream(pa.BufferReader(data), "zstd"), (OSError,)
    return zstd.ZstdFile(raw), (EOFError, zstd.ZstdError)


_COMPRESSIONS = (
    Compression("gzip", rb"\x1f\x8b", _gzip),
    Compression("bzip2", rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", _bzip2),
    Compression("xz", rb"\xfd7zXZ\0", _xz),
    Compression("Zstandard", rb"\x28\xb5\x2f\xfd", _zstd),
)


def compression_of(start: bytes) -> Compression | None:
    """Return the format of a file from its first bytes, or None if it is not compressed."""
    return next((each for each in _COMPRESSIONS if re.match(each.start, start)), None)


def decompressed(head: bytes, compression: Compression) -> bytes:
    """Return as much of the beginning of a text as the first bytes of its file hold."""
    file, damage = compression.open(io.BytesIO(head))

    def parts() -> Iterator[bytes]:
        try:
            while part := file.read1(_PART):
                yield part
        except damage:  # an error is reported when the whole file is read
            return

    return b"".join(parts())
