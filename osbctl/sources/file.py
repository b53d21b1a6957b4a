"""The bytes of one file, within a limit and in bounded time."""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING

from osbctl.errors import DocumentError, SourceError
from osbctl.findings import Finding, Location, Severity

if TYPE_CHECKING:
    from osbctl.sources.limits import Limits

WAIT = 60.0
"""Seconds within which a FIFO or a device must have given all it has, as a broker has for its answer."""


def read_file(path: str, limits: Limits) -> bytes:
    """The bytes of a file, a FIFO or a device.

    Raises:
        OSError: it cannot be opened or read; IsADirectoryError where it is a folder.
        SourceError: a FIFO or a device does not come to an end.
        DocumentError: it is larger than the limit.
    """
    with open(path, "rb", opener=_opened) as file:  # pathlib costs its import at every start
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            data = file.read(limits.bytes + 1)
        else:
            data = _awaited(path, file.fileno(), limits.bytes)
    if len(data) > limits.bytes:
        raise too_large(path, limits)
    return data


def too_large(name: str, limits: Limits) -> DocumentError:
    """The error of a source that is larger than the limit."""
    message, hint = f"the source is larger than {limits.bytes:,} bytes", "raise the limit with --max-bytes"
    return DocumentError((Finding("too-large", Severity.ERROR, message, (), Location(name, 1, 1), hint=hint),))


def _opened(path: str, flags: int) -> int:
    # To open a FIFO waits for a writer, and a terminal would become this process's own.
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def _awaited(path: str, descriptor: int, most: int) -> bytes:
    """What comes out of `descriptor` up to its end, or one byte more than `most`."""
    import select

    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    end, data = time.monotonic() + WAIT, bytearray()
    while len(data) <= most:
        if not poll.poll(max(0, end - time.monotonic()) * 1000):
            message = f"{path}: no end of it came within {WAIT:g} seconds"
            raise SourceError(message, "it is no regular file: does anything write to it?")
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            break
        data += chunk
    return bytes(data)
