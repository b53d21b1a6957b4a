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


def steps(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON pointer (RFC 6901, section 4), as texts: what they stand in says which are indexes."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def value_at(data: Any, path: Path) -> Any:
    """What stands at `path`, which leads somewhere."""
    for step in path:
        data = data[step]
    return data
