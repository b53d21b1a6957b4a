"""The bytes of one source, within a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.errors import DocumentError
from osbctl.files import read_bounded
from osbctl.findings import Finding, Location, Severity

if TYPE_CHECKING:
    from osbctl.sources.limits import Limits


def read_file(path: str, limits: Limits) -> bytes:
    """The bytes of a file, a FIFO or a device.

    Raises:
        OSError: it cannot be opened or read, or does not come to an end; IsADirectoryError where it is a folder.
        DocumentError: it is larger than the limit.
    """
    data = read_bounded(path, limits.bytes)
    if len(data) > limits.bytes:
        raise too_large(path, limits)
    return data


def too_large(name: str, limits: Limits) -> DocumentError:
    """The error of a source that is larger than the limit."""
    message, hint = f"the source is larger than {limits.bytes:,} bytes", "raise the limit with --max-bytes"
    return DocumentError((Finding("too-large", Severity.ERROR, message, (), Location(name, 1, 1), hint=hint),))
