"""The origin of each value of a composed catalog: a text, and a path in it."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from osbctl.findings import Location
from osbctl.paths import JsonPath, get_at
from osbctl.sources.document import Document

Origin: TypeAlias = tuple[Document, JsonPath]
"""One of the documents that a catalog is composed from, and the path of a value in it."""


class PathOrigins:
    """The origins of the values of `data`, remembered at the seams only: below a seam, paths run in parallel.

    A seam is a whole object (a plan taken from a file of its own), or a key of an object (one that an overlay or a
    default has set). Objects are distinguished by identity, so that moving one in a list keeps its origin; they live
    as long as the composed catalog, which this holds.
    """

    def __init__(self, data: dict[str, Any], origin: Origin) -> None:
        self.data = data
        self._top = origin
        self._objects: dict[int, Origin] = {}
        self._keys: dict[tuple[int, str], Origin] = {}
        self._hidden: dict[tuple[int, str], dict[str, Any]] = {}

    def set_object_origin(self, value: dict[str, Any], origin: Origin) -> None:
        """Note that the object `value` came from `origin`."""
        self._objects[id(value)] = origin

    def set_key_origin(self, container: dict[str, Any], key: str, origin: Origin) -> None:
        """Note that the value at `key` of `container` came from `origin`."""
        self._keys[id(container), key] = origin

    def put(self, container: dict[str, Any], key: str, value: Any, origin: Origin) -> None:
        """Set `key` of `container` to a value that came from `origin`."""
        container[key] = value
        self.set_key_origin(container, key, origin)

    def merge(self, container: dict[str, Any], other: dict[str, Any]) -> None:
        """Move the values of `other` to `container`, with their origins."""
        container.update(other)
        for key in other:
            if origin := self._keys.pop((id(other), key), None):
                self.set_key_origin(container, key, origin)

    def hide(self, container: dict[str, Any], key: str, value: dict[str, Any]) -> None:
        """Locate paths below `key` of a container, which is not in the data, or null, as if there was the value."""
        self._hidden[id(container), key] = value

    def find_origin(self, path: JsonPath) -> Origin:
        """The origin of the value at `path`; of a missing value, what its place would have been."""
        value: Any = self.data
        part, inside = self._top
        for step in path:
            below = get_at(value, (step,))
            if below is None and isinstance(step, str):
                below = self._hidden.get((id(value), step))
            known = self._keys.get((id(value), step)) if isinstance(step, str) else None
            known = known or (self._objects.get(id(below)) if isinstance(below, dict) else None)
            part, inside = known or (part, (*inside, step))
            value = below
        return part, inside

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        """The places of all `paths` in the texts that they came from; each text is gone through once."""
        asked: dict[Document, dict[JsonPath, JsonPath]] = {}
        for path in paths:
            part, inside = self.find_origin(path)
            asked.setdefault(part, {})[path] = inside
        found: dict[JsonPath, Location] = {}
        for part, inside_of in asked.items():
            places = part.locate(inside_of.values())
            found |= {path: places[inside] for path, inside in inside_of.items()}
        return found
