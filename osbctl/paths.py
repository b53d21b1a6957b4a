"""Where a value stands in a document."""

from __future__ import annotations

from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Keys and zero-based indexes from the top, `()` for the top itself."""


def pointer(path: Path) -> str:
    """The JSON pointer (RFC 6901) of `path`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
