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

# Windows has none of the first two, and translates line ends without the third.
_OPEN_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)

RESTRICTS_ACCESS = hasattr(os, "fchown")
"""True where files have owners and permission bits, and folders can be flushed to disk; False on Windows."""

REPLACE_WAIT = 5.0
"""Seconds to wait until no other program has a file open that is to be replaced; Windows alone refuses that."""


def read_bounded(path: os.PathLike[str] | str, max_bytes: int) -> bytes:
    """Read a file, FIFO or device; at most `max_bytes` + 1 bytes, so that the caller notices a larger one.

    Raises OSError: it cannot be opened or read, or does not end in time; IsADirectoryError for a folder.
    """
    with open(path, "rb", buffering=0, opener=_open_nonblocking) as file:  # `path` may be /dev/fd/N
        descriptor, data = file.fileno(), bytearray()
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) or not hasattr(select, "poll"):  # Windows has no poll
            asked = min(status.st_size, max_bytes) + 1  # memory for the most would cost more than reading a small file
            chunk = file.read(asked)
            while chunk and len(data) <= max_bytes:
                data += chunk
                chunk = file.read(1 << 20) if len(data) >= asked else b""  # it grows, or its size is not told
            return bytes(data[: max_bytes + 1])
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        end = time.monotonic() + WRITER_WAIT
        while len(data) <= max_bytes:
            left = end - time.monotonic()
            if left <= 0 or not poll.poll(left * 1000):
                reason = f"it did not end within {WRITER_WAIT:g} seconds; does a program write to it?"
                raise OSError(errno.ETIMEDOUT, reason)
            try:
                chunk = os.read(descriptor, 1 << 16)
            except BlockingIOError:  # macOS polls no devices, and calls a terminal without input ready
                time.sleep(0.05)
                continue
            if not chunk:
                break
            data += chunk
        return bytes(data)


def _open_nonblocking(path: str, flags: int) -> int:
    # Opening a FIFO would block until it has a writer, and a terminal would become the controlling one.
    try:
        return os.open(path, flags | _OPEN_FLAGS)
    except PermissionError:
        if os.path.isdir(path):  # noqa: PTH112  # Windows opens no folder
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path) from None
        raise


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
    """Open a FIFO, device or descriptor of this process for writing. None for a regular or missing file."""
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
        descriptor = os.open(path, os.O_WRONLY | _OPEN_FLAGS)
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
            if RESTRICTS_ACCESS:
                if mode is None:  # otherwise it is a secret, and must not keep the owner of an earlier file
                    mode = _copy_owner_and_get_mode(descriptor, target)
                os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        yield
        _replace_when_closed(temporary, target)
        if RESTRICTS_ACCESS:
            opened = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(opened)  # the rename itself
            finally:
                os.close(opened)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        raise


def _replace_when_closed(temporary: str, target: str) -> None:
    """Rename `temporary` to `target`; on Windows once no other program has it open, at most `REPLACE_WAIT` seconds."""
    end = time.monotonic() + (0 if RESTRICTS_ACCESS else REPLACE_WAIT)
    while True:
        try:
            os.replace(temporary, target)  # noqa: PTH105
            return
        except PermissionError as error:
            if time.monotonic() < end:
                time.sleep(0.05)
            elif RESTRICTS_ACCESS:
                raise
            else:
                raise PermissionError(error.errno, "it is write-protected, or another program has it open") from None


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
