"""Reading files in bounded time, and replacing them atomically.

What is no regular file (a FIFO, a device) stays what it is, and nothing waits for it without end.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import stat
import time
from typing import TYPE_CHECKING, Any

from osbctl.errors import ConfigError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from pathlib import Path

WRITER_WAIT = 60.0
"""Seconds within which a FIFO or a device must have given all it has, as a broker has for its answer."""

READER_WAIT = 10.0
"""Seconds that a FIFO without a reader is waited for."""

_LINKS = 40
"""Symbolic links that are followed, as many as Linux follows."""


def read_bounded(path: Path | str, most: int) -> bytes:
    """The bytes of a file, a FIFO or a device; one byte more than `most` where it holds more.

    Raises:
        OSError: it cannot be opened or read, or does not come to an end in time; IsADirectoryError for a folder.
    """
    with open(path, "rb", opener=_opened) as file:  # it takes a descriptor's path as it is
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file.read(most + 1)
        return _awaited(file.fileno(), most)


def parse_toml(data: bytes, name: str) -> dict[str, Any]:
    """The table in `data`, the bytes of the TOML file `name`. Raises ConfigError, with line and column where known."""
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        *above, begun = data[: error.start].decode().split("\n")
        where = f"{len(above) + 1}:{len(begun) + 1}"
        fault = f"{name}:{where}: not valid TOML: the byte 0x{data[error.start]:02x} is not UTF-8"
        raise ConfigError(fault, "save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).partition(" (at line ")
        line, _, column = place.rstrip(")").partition(", column ")
        where = f":{line}:{column}" if column.isdecimal() else ""
        raise ConfigError(f"{name}{where}: not valid TOML: {what}") from error
    except RecursionError:
        raise ConfigError(f"{name}: nested too deeply") from None
    except ValueError:  # the one that tomllib lets through is of Python's own limit (sys.set_int_max_str_digits)
        raise ConfigError(f"{name}: a number has too many digits") from None


def check_regular(path: Path | str) -> None:
    """Raise OSError for what is there and no regular file, before a library opens it and waits."""
    kind = os.stat(path).st_mode  # noqa: PTH116
    if not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "it is not a regular file")


def write_file(path: Path | str, data: bytes, mode: int | None = None) -> None:
    """Put `data` at `path`: a temporary file beside it, flushed to disk, then renamed.

    An interrupted write leaves the old file. `mode` sets the permission bits; None keeps those of the file that
    stands, or the umask's for a new one; the owner stays where that may be. A symbolic link is followed, not replaced.
    What is no regular file (a FIFO, a device), or is reached through /dev/fd or /proc, is written into.

    Raises:
        SourceError: the folder is missing, or it or the file may not be written to; the FIFO has no reader.
    """
    with staged(path, data, mode):
        pass


def write_linked(path: str, data: bytes) -> None:
    """Put `data` into the file at `path` itself, since other hard links lead to it, too.

    Raises:
        SourceError: it cannot be written; what it held is put back.
    """
    try:
        with open(path, "r+b", buffering=0) as file:  # noqa: PTH123
            before = file.read()
            try:
                _overwrite(file, data)
            except OSError:
                _overwrite(file, before)
                raise
    except OSError as error:
        raise SourceError(f"{path}: cannot be written: {error.strerror}") from error


def _overwrite(file: FileIO, data: bytes) -> None:
    file.seek(0)
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
    file.truncate()
    os.fsync(file.fileno())


@contextlib.contextmanager
def staged(path: Path | str, data: bytes, mode: int | None = None) -> Iterator[None]:
    """Put `data` at `path`, as `write_file`, when the block has ended well; what it raises leaves the old file.

    The block is not entered where that cannot be done. Raises SourceError.
    """
    try:
        descriptor = _special(str(path))
        if descriptor is None:
            with _replacing(os.path.realpath(path), data, mode):
                yield
            return
        with os.fdopen(descriptor, "wb") as file:
            yield
            file.write(data)
    except OSError as error:
        raise SourceError(f"{path}: cannot be written: {error.strerror}") from error


def _opened(path: str, flags: int) -> int:
    # To open a FIFO waits for a writer, and a terminal would become this process's own.
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def _awaited(descriptor: int, most: int) -> bytes:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    end, data = time.monotonic() + WRITER_WAIT, bytearray()
    while len(data) <= most:
        if not poll.poll(max(0, end - time.monotonic()) * 1000):
            raise OSError(
                errno.ETIMEDOUT, f"no end of it came within {WRITER_WAIT:g} seconds; does anything write to it?"
            )
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            break
        data += chunk
    return bytes(data)


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
                raise OSError(errno.ENXIO, "this FIFO has no reader") from None
            time.sleep(0.02)
        else:
            os.set_blocking(descriptor, True)
            return descriptor


@contextlib.contextmanager
def _replacing(target: str, data: bytes, mode: int | None) -> Iterator[None]:
    import tempfile

    if mode is None:  # a file that is protected from writing is not replaced either
        with contextlib.suppress(FileNotFoundError):
            os.close(os.open(target, os.O_WRONLY))
    folder, name = os.path.split(target)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is None:  # else it is a secret: do not reuse the access rights of an earlier file
                _keep_owner(descriptor, target)
            os.fchmod(descriptor, _permissions(target) if mode is None else mode)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        yield
        os.replace(temporary, target)  # noqa: PTH105
        _flush_folder(folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        raise


def _flush_folder(folder: str) -> None:
    """Make the rename itself outlive a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _keep_owner(descriptor: int, target: str) -> None:
    """Give the file the owner and the group of the one that it replaces, as far as this user may."""
    with contextlib.suppress(FileNotFoundError):
        known = os.stat(target)  # noqa: PTH116
        for owner, group in ((-1, known.st_gid), (known.st_uid, -1)):
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, owner, group)


def _permissions(target: str) -> int:
    try:
        return os.stat(target).st_mode & 0o777  # noqa: PTH116
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
