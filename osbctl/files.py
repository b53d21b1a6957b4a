"""Writing files so that nobody ever sees half of one, and what is no file so that it stays what it is."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import tempfile
import time
from pathlib import Path

from osbctl.errors import SourceError

READER_WAIT = 10.0
"""Seconds that a FIFO without a reader is waited for."""

_LINKS = 40
"""Symbolic links that are followed, as many as Linux follows."""


def write_file(path: Path | str, data: bytes, mode: int | None = None) -> None:
    """Put `data` at `path`: a temporary file beside it, flushed to disk, then renamed.

    An interrupted write leaves the old file. `mode` sets the permission bits; None keeps those of the file that
    stands, or the umask's for a new one. A symbolic link is followed, not replaced. What is no regular file (a FIFO,
    a device), or is reached through /dev/fd or /proc, is written into.

    Raises:
        SourceError: the folder is missing, or it may not be written to; nobody reads from the FIFO.
    """
    try:
        descriptor = _special(str(path))
        if descriptor is None:
            _replace(Path(os.path.realpath(path)), data, mode)
            return
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        raise SourceError(f"{path}: cannot be written: {error.strerror}") from error


def _special(path: str) -> int | None:
    """A descriptor to write to where `path` is not to be replaced, None where it is a regular file or nothing yet."""
    try:
        # The kernel's own look comes first: it follows no link that another user put into a shared folder.
        kind = os.stat(path).st_mode  # noqa: PTH116
    except FileNotFoundError:
        return None
    behind = _descriptor_path(path)
    own = re.fullmatch(rf"(?:/proc/{os.getpid()}(?:/task/\d+)?|/dev)/fd/(\d+)", behind)
    if own:  # opened anew it would begin at its start and cut what a shell has appended to
        return os.dup(int(own[1]))
    if stat.S_ISREG(kind) and not behind:
        return None
    return _fifo(path) if stat.S_ISFIFO(kind) else os.open(path, os.O_WRONLY | os.O_NOCTTY)


def _descriptor_path(path: str) -> str:
    """The first step of the links from `path` on that lies in /proc or /dev/fd, empty where none does."""
    for _ in range(_LINKS):
        parent, name = os.path.split(path)
        here = os.path.join(os.path.realpath(parent), name)  # noqa: PTH118
        if here.startswith(("/proc/", "/dev/fd/")):
            return here
        if not os.path.islink(here):  # noqa: PTH114
            break
        path = os.path.join(os.path.dirname(here), os.readlink(here))  # noqa: PTH115, PTH118, PTH120
    return ""


def _fifo(path: str) -> int:
    """A FIFO opened for writing, once there is a reader."""
    end = time.monotonic() + READER_WAIT
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > end:
                raise OSError(errno.ENXIO, "nobody reads from this FIFO") from None
            time.sleep(0.02)
        else:
            os.set_blocking(descriptor, True)
            return descriptor


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, _permissions(target) if mode is None else mode)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        Path(temporary).replace(target)
        _flush_folder(target.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _flush_folder(folder: Path) -> None:
    """Make the rename itself outlive a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _permissions(target: Path) -> int:
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
