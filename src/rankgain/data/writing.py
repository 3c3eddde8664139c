"""Files that are written whole or not at all, though the disk be full or the process end."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import threading
from collections.abc import Iterator
from typing import Any

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # not every system has all of them


def check_writable(path: str) -> None:
    """Raise OSError, before any work is done, if `write_whole` could not write."""
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise _os_error(errno.EISDIR, path)
    if not os.path.isdir(os.path.dirname(target)):
        raise _os_error(errno.ENOENT, path)
    places = [target] if os.path.exists(target) else []
    places += [] if _is_special(target) else [os.path.dirname(target)]
    if not all(os.access(place, os.W_OK) for place in places):
        raise _os_error(errno.EACCES, path)


def write_whole(path: str, data: bytes) -> None:
    """Write a file whole or not at all: the old contents stay until all of the new are on the disk.

    A link stays one, and the permissions become what `open` would have left. Pipes and devices are written to as usual.
    A process that is killed in between (SIGKILL) leaves ``.rankgain-`` and a number beside the file, of no further use.
    """
    target = os.path.realpath(path)
    try:
        if _is_special(target):
            with open(target, "wb") as file:
                file.write(data)
        else:
            _replace(target, data)
    except OSError as error:
        raise _os_error(error.errno or 0, path) from None


def _is_special(target: str) -> bool:
    return os.path.exists(target) and not os.path.isfile(target)


def _replace(target: str, data: bytes) -> None:
    temporary = os.path.join(os.path.dirname(target), f".rankgain-{os.urandom(8).hex()}")
    with _undisturbed():
        try:
            with open(temporary, "xb") as file:  # `open` applies the umask
                if os.path.exists(target):
                    os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay the signals that end a process until the work is done, or they would leave a temporary file behind."""
    before: dict[int, Any] = {}
    came: list[int] = []
    if threading.current_thread() is threading.main_thread():  # only the main thread may set handlers
        for number in filter(None, (getattr(signal, name, None) for name in _ENDING)):
            if signal.getsignal(number) not in (None, signal.SIG_IGN):
                before[number] = signal.signal(number, lambda its, _: came.append(its))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def _os_error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)
