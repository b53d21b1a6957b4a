"""How much a reader takes before it gives up. Options change what `Limits` holds; nothing changes the rest."""

from __future__ import annotations

from typing import NamedTuple

MAX_BYTES = 50_000_000
"""The largest source, in bytes: ten times the largest catalog met in the field."""

MAX_DEPTH = 100
"""The deepest nesting. Real catalogs, with schemas in schemas, have 14 levels. Platforms read deeper ones, each up to
where its own stack ends; up to here, Python's 1,000 frames are enough for whatever walks over a value."""

TOO_DEEP_HINT = "real catalogs have under 15 levels"

MAX_NODES = 20_000_000
"""The most values, YAML aliases expanded: more than 50 MB of plain text can hold is an alias bomb."""


MAX_DIGITS = 4_300
"""Longer integers are refused: it is what Python itself takes, since reading them costs quadratic time."""

MAX_PROBLEMS = 100
"""So many faults of one text are reported; more of the same would only hide the first."""


class Limits(NamedTuple):
    """The limits of one read: bytes of text, levels of nesting, values with aliases expanded."""

    bytes: int = MAX_BYTES
    depth: int = MAX_DEPTH
    nodes: int = MAX_NODES
