"""Limits of readers. Options change the fields of `Limits`; the rest is fixed."""

from typing import NamedTuple

from osbctl.files import read_bounded
from osbctl.findings import DocumentError, Finding, Location, Severity

MAX_BYTES = 50_000_000
"""The largest source, in bytes: ten times the largest catalog met in the field."""

MAX_DEPTH = 100
"""The deepest nesting. Real catalogs, with schemas in schemas, have 14 levels. Platforms read deeper ones, each up to
where its own stack ends; up to here, Python's 1,000 frames are enough for every recursive function over a value."""

TOO_DEEP_HINT = "real catalogs have under 15 levels"

MAX_NODES = 20_000_000
"""The most values, YAML aliases expanded: more than 50 MB of plain text can hold is an alias bomb."""

MAX_DIGITS = 4_300
"""Longer integers are refused: it is what Python itself takes, since reading them costs quadratic time."""

MAX_PROBLEMS = 100
"""The most faults that are reported of one text; the last one says that more are omitted."""

TOO_MANY = "the faults from here on are omitted; repair those above first"


class Limits(NamedTuple):
    """The limits of one read: bytes of text, levels of nesting, values with aliases expanded."""

    bytes: int = MAX_BYTES
    depth: int = MAX_DEPTH
    nodes: int = MAX_NODES


DEFAULT_LIMITS = Limits()


def read_file(path: str, limits: Limits) -> bytes:
    """Read a file, FIFO or device; errors as in `read_bounded`, and DocumentError: it is larger than the limit."""
    data = read_bounded(path, limits.bytes)
    if len(data) > limits.bytes:
        raise too_large_error(path, limits)
    return data


def too_large_error(name: str, limits: Limits) -> DocumentError:
    """The error of a source that is larger than the limit."""
    message, hint = f"the source is larger than {limits.bytes:,} bytes", "raise the limit with --max-bytes"
    return DocumentError((Finding("too-large", Severity.ERROR, message, (), Location(name, 1, 1), hint=hint),))
