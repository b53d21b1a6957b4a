"""Reading files in bounded time, and replacing them atomically.

FIFOs and devices are written into, never replaced; reading them has a timeout.
"""

import contextlib
import errno
import os
import re
import select
import stat
import time
from collections.abc import Iterator
from typing import Any

from osbctl.errors import ConfigError, SourceError

WRITER_WAIT = 60.0
"""Seconds to read a FIFO or device to its end; a broker gets the same time for its response."""

_STREAMS = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}


def read_bounded(path: os.PathLike[str] | str, max_bytes: int) -> bytes:
    """Read a file, FIFO or device; at most `max_bytes` + 1 bytes, so that the caller notices a larger one.

    Raises OSError: it cannot be opened or read, or does not end in time; IsADirectoryError for a folder.
    """
    with open(path, "rb", opener=_open_nonblocking) as file:  # `path` may be /dev/fd/N
        descriptor, data = file.fileno(), bytearray()
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return file.read(max_bytes + 1)
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        end = time.monotonic() + WRITER_WAIT
        while len(data) <= max_bytes:
            if not poll.poll(max(0, end - time.monotonic()) * 1000):
                reason = f"it did not end within {WRITER_WAIT:g} seconds; does a program write to it?"
                raise OSError(errno.ETIMEDOUT, reason)
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                break
            data += chunk
        return bytes(data)


def _open_nonblocking(path: str, flags: int) -> int:
    # Opening a FIFO would block until it has a writer, and a terminal would become the controlling one.
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def parse_toml(data: bytes, name: str) -> dict[str, Any]:
    """Parse the bytes of the TOML file `name`. Raises ConfigError."""
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML: it is not UTF-8", "save the file as UTF-8") from error
    except RecursionError:
        raise ConfigError(f"{name}: nested too deeply") from None
    except ValueError as error:  # of tomllib, or Python's limit for int() (sys.set_int_max_str_digits)
        raise ConfigError(f"{name}: not valid TOML: {error}") from error


def check_regular_file(path: os.PathLike[str] | str) -> None:
    """Raise OSError unless `path` is a regular file: a library would block on a FIFO."""
    kind = os.stat(path).st_mode  # noqa: PTH116
    if not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "it is not a regular file")


def write_file(path: os.PathLike[str] | str, data: bytes, mode: int | None = None) -> None:
    """Write `data` to a temporary file beside `path`, flush it to disk, and rename it.

    An interrupted write leaves the old file. `mode` sets the permission bits; None keeps those of an existing file
    (a new one gets the umask's) and, if permitted, its owner. A symbolic link is followed, not replaced. FIFOs,
    devices, /dev/stdout and paths in /dev/fd are written into.

    Raises SourceError: the folder is missing, it or the file is not writable, or the FIFO has no reader.
    """
    with write_on_success(path, data, mode):
        pass


@contextlib.contextmanager
def write_on_success(path: os.PathLike[str] | str, data: bytes, mode: int | None = None) -> Iterator[None]:
    """Write `data` to `path` like `write_file` once the block succeeds; if it raises, the old file stays.

    Raises SourceError before the block if `path` is not writable.
    """
    try:
        descriptor = _open_special_file(str(path))
        if descriptor is None:
            with _replace_on_success(os.path.realpath(path), data, mode):
                yield
            return
        with os.fdopen(descriptor, "wb") as file:
            yield
            file.write(data)
    except OSError as error:
        raise SourceError(f"{path}: cannot be written: {error.strerror}") from error


def _open_special_file(path: str) -> int | None:
    """Open a FIFO, device or descriptor of this process for writing; None for a regular or missing file."""
    own_descriptor = re.fullmatch(r"(?:/dev|/proc/self)/fd/(\d+)", _STREAMS.get(path, path))
    if own_descriptor:  # opening it again would write at the start of a file that a shell appends to
        return os.dup(int(own_descriptor[1]))
    try:
        # Ask the kernel first: it refuses to follow links of other users in shared folders.
        kind = os.stat(path).st_mode  # noqa: PTH116
    except FileNotFoundError:
        return None
    if stat.S_ISREG(kind):
        return None
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "no program reads from it") from None
        raise
    os.set_blocking(descriptor, True)
    return descriptor


@contextlib.contextmanager
def _replace_on_success(target: str, data: bytes, mode: int | None) -> Iterator[None]:
    import tempfile

    if mode is None:  # a write-protected file is not replaced either
        with contextlib.suppress(FileNotFoundError):
            os.close(os.open(target, os.O_WRONLY))
    folder, name = os.path.split(target)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is None:  # otherwise it is a secret, and must not keep the owner of an earlier file
                mode = _copy_owner_and_get_mode(descriptor, target)
            os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        yield
        os.replace(temporary, target)  # noqa: PTH105
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)  # the rename itself
        finally:
            os.close(opened)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        raise


def _copy_owner_and_get_mode(descriptor: int, target: str) -> int:
    """Copy owner and group of the replaced file, if permitted; return its mode, or that of a new file."""
    try:
        replaced = os.stat(target)  # noqa: PTH116
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
    for owner, group in ((-1, replaced.st_gid), (replaced.st_uid, -1)):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, owner, group)
    return replaced.st_mode & 0o777
