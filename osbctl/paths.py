"""What a document holds, and where in it a value stands."""

from __future__ import annotations

from typing import Any, TypeAlias

JsonValue: TypeAlias = Any
"""None, bool, int, float (finite), str, list of JsonValue or dict of str to JsonValue."""

Path: TypeAlias = tuple[str | int, ...]
"""Keys and zero-based indexes from the top, `()` for the top itself."""


def pointer(path: Path) -> str:
    """The JSON pointer (RFC 6901) of `path`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
