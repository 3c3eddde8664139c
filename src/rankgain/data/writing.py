"""Write files completely or not at all, even if the disk is full or the process ends."""

from __future__ import annotations

import contextlib
import errno
import os
import stat


def check_writable(path: str) -> None:
    """Raise OSError in advance if `write_whole` could not write the file."""
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise _os_error(errno.EISDIR, path)
    if not os.path.isdir(os.path.dirname(target)):
        raise _os_error(errno.ENOENT, path)
    written = [target] if os.path.exists(target) else []
    written += [] if _is_special(target) else [os.path.dirname(target)]
    if not all(os.access(entry, os.W_OK) for entry in written):
        raise _os_error(errno.EACCES, path)


def write_whole(path: str, data: bytes) -> None:
    """Write a file completely or not at all: the old contents stay in place until the new contents are on the disk.

    Symbolic links are followed, and the permissions are those that `open` would leave. Pipes and devices are written
    directly. If a signal kills the process during the write, a file named ``.rankgain-…`` remains in the folder; it can
    be deleted.
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
    try:
        with open(temporary, "xb") as file:  # `open` applies the umask to the permissions
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


def _os_error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)
