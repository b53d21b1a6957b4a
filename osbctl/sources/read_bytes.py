"""Read the bytes of a SOURCE argument: a file, standard input, or a file in a git revision."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from osbctl.errors import SourceError, UsageError
from osbctl.sources.limits import DEFAULT_LIMITS, Limits, read_file, too_large
from osbctl.text import closest

STDIN = "<stdin>"
"""Default name of standard input in reports."""


def called(source: str, stdin_filename: str | None = None) -> str:
    """Name of `source` in reports, readable or not."""
    return stdin_filename or STDIN if source == "-" else source


def read_bytes(source: str, *, limits: Limits = DEFAULT_LIMITS, stdin_filename: str | None = None) -> tuple[bytes, str]:
    """Bytes and name of a source that is not a folder; `source` and errors as in `read_source`.

    Raises IsADirectoryError: it is a folder.
    """
    name = called(source, stdin_filename)
    try:
        return read_stdin(name, limits) if source == "-" else read_file(source, limits), name
    except IsADirectoryError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        return _from_git(source, limits), name
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{source}: cannot be opened: {reason}") from error


def check_stdin(words: Sequence[str]) -> None:
    """Raise UsageError where `-` is among `words` more than once: standard input would be empty for the second."""
    if words.count("-") > 1:
        raise UsageError("standard input can be read only once", "name files for the others")


def read_stdin(name: str, limits: Limits) -> bytes:
    """The bytes of standard input; `name` is what reports call it.

    Raises:
        SourceError: it cannot be read.
        DocumentError: it is larger than the limit.
    """
    try:
        data = sys.stdin.buffer.read(limits.bytes + 1)
    except OSError as error:
        raise SourceError(f"standard input cannot be read: {error.strerror}", "pipe a catalog into it") from error
    if len(data) > limits.bytes:
        raise too_large(name, limits)
    return data


def _from_git(source: str, limits: Limits) -> bytes:
    if "://" in source:  # not named in the message: it may hold a password
        advice = "osbctl fetch URL gets a broker's catalog; diff, drift and check take the address itself"
        raise UsageError("a source is a file, not an address", advice)
    revision, colon, path = source.partition(":")
    if colon and revision and path:
        from osbctl.sources.git import read_blob

        return read_blob(revision, path, limits)
    if os.path.islink(source):  # noqa: PTH114  # as in file.py
        raise SourceError(f"{source}: the link leads nowhere, to {os.readlink(source)}")  # noqa: PTH115
    raise SourceError(f"{source}: there is no such file", _close_names(source))


def _close_names(source: str) -> str:
    folder, name = os.path.split(source)
    try:
        names = os.listdir(folder or os.curdir)  # noqa: PTH208
    except OSError:
        return f"there is no folder {folder} either"
    stem = os.path.splitext(name)[0]  # noqa: PTH122
    close = next((other for other in names if os.path.splitext(other)[0] == stem), "") or closest(name, names)  # noqa: PTH122
    return f"did you mean {os.path.join(folder, close)}?" if close else ""  # noqa: PTH118
