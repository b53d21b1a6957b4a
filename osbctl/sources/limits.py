"""How much a reader takes before it gives up. Options raise these; nothing else does."""

from __future__ import annotations

import sys
from dataclasses import dataclass

MAX_BYTES = 50_000_000
"""The largest source, in bytes: ten times the largest catalog met in the field."""

MAX_DEPTH = 500 if (3, 12) <= sys.version_info < (3, 12, 2) else 3_000
"""The deepest nesting. Real catalogs, with schemas in schemas, have 14 levels, but platforms read far deeper
ones (Cloud Foundry takes 2,000), and osbctl must not refuse what they accept. Python 3.12.0 and 3.12.1 give up
after 1,500 calls in C, whatever limit is set (python/cpython#112215)."""

MAX_NODES = 20_000_000
"""The most values, YAML aliases expanded: more than 50 MB of plain text can hold is an alias bomb."""


ORDINARY_DEPTH = 100
"""Up to here, the interpreter's own limit of 1,000 frames is enough for whatever walks over a value."""


def allow_depth(depth: int) -> None:
    """Let the interpreter recurse over a value of that many levels.

    Ordinary documents need nothing. A level costs a few frames; the stack of a thread, 8 MB, holds ten times
    as many as `MAX_DEPTH` asks for.
    """
    if depth > ORDINARY_DEPTH:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 6 * min(depth, MAX_DEPTH) + 2_000))


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one read: bytes of text, levels of nesting, values with aliases expanded."""

    bytes: int = MAX_BYTES
    depth: int = MAX_DEPTH
    nodes: int = MAX_NODES
