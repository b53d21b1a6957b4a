"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from osbctl.errors import SourceError


def write_atomically(path: Path | str, data: bytes, mode: int | None = None) -> None:
    """Put `data` at `path`: a temporary file beside it, flushed to disk, then renamed.

    An interrupted write leaves the old file. `mode` sets the permission bits; None keeps those of
    the file that stands, or the umask's for a new one. A symbolic link is followed, not replaced.

    Raises:
        SourceError: the folder is missing or may not be written to.
    """
    target = Path(path).resolve()
    try:
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
    except OSError as error:
        raise SourceError(f"{path}: cannot be written: {error.strerror}") from error


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
