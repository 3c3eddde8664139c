"""Writing the output of a command."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

from rankgain.data.writing import write_whole


def encoded(text: str) -> bytes:
    """Encode text as UTF-8. Ids that were not valid UTF-8 become the bytes that were read."""
    return text.encode("utf-8", "surrogateescape")


def write_output(text: str, output: str | None) -> None:
    if output is None:
        show(text)
    else:
        write_whole(output, encoded(text))


def show(text: str) -> None:
    """Write the whole text to standard output, or raise OSError.

    The bytes are the same as in a file, in any locale. Python's buffer is bypassed because, after an error, it would be
    flushed at exit and fail again. Without a buffer (`python -u`), a disk that is almost full may take only part of the
    text, which `print` does not notice.
    """
    out = sys.stdout
    if out is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    if not isinstance(out, io.TextIOWrapper):
        print(text, end="", flush=True)
        return
    out.flush()
    file: Any = getattr(out.buffer, "raw", out.buffer)
    data, written = memoryview(encoded(text)), 0
    while written < len(data):
        written += file.write(data[written:]) or 0
