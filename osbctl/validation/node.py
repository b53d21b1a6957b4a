"""A value in a document together with its path, so that no rule builds a path by hand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from osbctl.fields import PARTS
from osbctl.findings import Fix
from osbctl.paths import Path
from osbctl.platforms import ApiVersion


class Hit(NamedTuple):
    """What a rule's check yields: a sentence and a place. The engine makes a `Finding` of it.

    `several`, `earlier`: as in `Finding`.
    """

    message: str
    path: Path
    hint: str = ""
    fixes: tuple[Fix, ...] = ()
    several: str = ""
    earlier: Path | None = None


class Node:
    """An object of the catalog: the catalog itself, a service offering, a service plan, a parameter schema.

    `value` is always a dict.
    """

    __slots__ = ("api_version", "path", "value")

    def __init__(self, value: dict[str, Any], path: Path, api_version: ApiVersion) -> None:
        self.value = value
        self.path = path
        self.api_version = api_version

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def get(self, key: str) -> Any:
        """The value at `key`, None where it is missing."""
        return self.value.get(key)

    def text(self, key: str) -> str | None:
        """The value at `key` if it is a string, else None: a wrong type is the schema's finding."""
        value = self.value.get(key)
        return value if isinstance(value, str) else None

    def child(self, key: str) -> Node:
        """The object at `key`, an empty one where there is none or it is not an object."""
        value = self.value.get(key)
        return Node(value if isinstance(value, dict) else {}, (*self.path, key), self.api_version)

    def children(self, key: str) -> Iterator[Node]:
        """The objects in the array at `key`; what is no array or no object is passed over."""
        value = self.value.get(key)
        if isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield Node(item, (*self.path, key, index), self.api_version)

    @property
    def label(self) -> str:
        """How a sentence calls the object: its name where it has one, else its place."""
        name = self.text("name")
        return repr(name) if name else "/" + "/".join(map(str, self.path))

    def hit(
        self,
        message: str,
        at: str | int | Path = (),
        hint: str = "",
        fixes: tuple[Fix, ...] = (),
        several: str = "",
        earlier: Path | None = None,
    ) -> Hit:
        """Say something about this object, or about the part of it named by `at`."""
        below = at if isinstance(at, tuple) else (at,)
        return Hit(message, (*self.path, *below), hint, fixes, several, earlier)


class CatalogNode(Node):
    """The catalog itself."""

    @cached_property
    def fields(self) -> dict[str, set[str]]:
        """The names of the fields that objects of each kind (`osbctl.fields.PARTS`) have in this catalog."""
        found: dict[str, set[str]] = {}
        _gather([self.value], "catalog", found)
        return found


def _gather(values: list[Any], kind: str, found: dict[str, set[str]]) -> None:
    """Add the names of the fields of objects of one kind, and of those below; objects may be in lists."""
    objects: list[dict[str, Any]] = []
    while values:
        objects += [value for value in values if isinstance(value, dict)]
        values = [item for value in values if isinstance(value, list) for item in value]
    names = set().union(*objects)
    found.setdefault(kind, set()).update(names)
    for key, inner in PARTS.get(kind, {}).items():
        if key in names:
            _gather([value[key] for value in objects if key in value], inner, found)
