"""The schemas within a parameter schema, each with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.paths import Path

_LITERAL = frozenset(("enum", "const", "default", "examples"))
"""Keywords whose value is data of the service."""

_BY_NAME = frozenset(("properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"))
"""Keywords whose keys are names: a property may be called `$ref`."""


@dataclass(slots=True, eq=False)
class SchemaPlace:
    """An object that stands where a schema may stand.

    `keys` lead to it from `parent`, None for the whole schema. A path is put together only when it is asked for:
    schemas may be thousands of levels deep.
    """

    value: dict[str, Any]
    parent: SchemaPlace | None = None
    keys: Path = ()

    @property
    def path(self) -> Path:
        """The keys that lead to it from the whole schema."""
        parts = []
        here: SchemaPlace | None = self
        while here:
            parts.append(here.keys)
            here = here.parent
        return tuple(key for keys in reversed(parts) for key in keys)


def subschemas(schema: dict[str, Any]) -> Iterator[SchemaPlace]:
    """The schema and all schemas within it, in the order of the text; unknown keywords are looked into as well."""
    stack = [SchemaPlace(schema)]
    while stack:
        here = stack.pop()
        yield here
        below: list[SchemaPlace] = []
        for key, value in here.value.items():
            if isinstance(value, dict):
                if key in _BY_NAME:
                    for name, inner in value.items():
                        _gather(inner, (key, name), here, below)
                elif key not in _LITERAL:
                    below.append(SchemaPlace(value, here, (key,)))
            elif isinstance(value, list) and key not in _LITERAL:
                _gather(value, (key,), here, below)
        below.reverse()
        stack += below


def _gather(value: Any, keys: Path, parent: SchemaPlace, below: list[SchemaPlace]) -> None:
    """Add `value` where it is an object, or what an array of it, of whatever depth, holds."""
    stack = [(keys, value)]
    while stack:
        keys, value = stack.pop()
        if isinstance(value, dict):
            below.append(SchemaPlace(value, parent, keys))
        elif isinstance(value, list):
            stack += [((*keys, index), item) for index, item in reversed(list(enumerate(value)))]
