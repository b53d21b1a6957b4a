"""A parsed source with lazily computed locations."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from osbctl.catalog import Catalog
from osbctl.findings import Finding, Location, Severity
from osbctl.paths import JsonPath, JsonValue, get_at

if TYPE_CHECKING:
    from osbctl.sources.folder.brokerpak_requests import RequestRules

Syntax: TypeAlias = Literal["json", "yaml", "folder", "brokerpak"]


class Span(NamedTuple):
    """Location of one value: `text[start:end]`; `key` is the range of its key, (0, 0) for a list item.

    Offsets count characters from 0. `flow` says whether a mapping or list is written in brackets; `style` is the quote
    of a scalar, `|` or `>` for a block of lines, empty for a plain one; `anchored` whether an alias may stand for it
    elsewhere. `copies` is the number of places of the document at which this text stands, counted with `aliases`.
    """

    start: int
    end: int
    key: tuple[int, int] = (0, 0)
    flow: bool = True
    style: str = ""
    anchored: bool = False
    is_scalar: bool = False
    copies: int = 1

    @property
    def entry_start(self) -> int:
        """Offset of the key, or of the value if it has none."""
        return self.key[0] if self.key[1] else self.start


class SourceMap(Protocol):
    """Locations and spans of the values of one text, computed at first use."""

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        """The place of each of `paths`, or of its closest ancestor that exists."""
        ...

    def spans(self, *, aliases: bool = False) -> dict[JsonPath, Span]:
        """The spans of all values written in the text, the values in a collection before the collection.

        Values that come from a merge key have no span. An alias of a scalar has one only with `aliases`: that of the
        scalar, whose edit changes other places as well.
        """
        ...

    def text_of(self, path: JsonPath) -> tuple[list[tuple[int, int]], set[int]]:
        """The ranges of the text that the value at `path` is read from, and the offsets of the keys that lead to it.

        The ranges are in order, and disjoint.
        """
        ...


def _refuse_source_map() -> SourceMap:
    raise ValueError("a document that was composed has no text of its own")


class _Read(NamedTuple):
    name: str
    data: dict[str, JsonValue]
    syntax: Syntax
    locator: Callable[[frozenset[JsonPath]], dict[JsonPath, Location]]
    notes: tuple[Finding, ...] = ()
    text: str = ""
    top: JsonPath = ()
    parts: "tuple[Document, ...]" = ()
    embedded: bool = False
    read_as: str = ""
    source_map: Callable[[], SourceMap] = _refuse_source_map
    requests: "Mapping[tuple[JsonPath, str], RequestRules]" = MappingProxyType({})
    check_faults: Callable[[JsonPath], tuple[Finding, ...]] = lambda _: ()


class Document(_Read):
    """A source that was read.

    `name` is its name in reports. `data` is the catalog as plain JSON values; always a dict, except from `parse_text`.
    `notes` are findings of the reader (for example a scalar that other YAML readers take for a boolean), with
    locations. `locator` maps paths to places; call `locate`. `text` is the whole text that `data`
    was read from, and `top` the path in it at which `data` stands; `parts` are the files as they were read, where
    `data` differs from them. `embedded`: the file is more than the text, which is in a string or a stream of documents.
    `read_as` is a sentence for the user, where a catalog was not at the top or not in the usual shape. `source_map`
    gives the map of the whole text. `requests` are the rules by which the broker of a brokerpak judges requests, by the
    path of a plan and `create` or `bind`. `check_faults` takes the path in the whole text of the value that is used, as
    the function of `text_lines`. Documents are equal by identity.
    """

    __eq__, __ne__, __hash__ = object.__eq__, object.__ne__, object.__hash__

    @cached_property
    def catalog(self) -> Catalog:
        """The typed catalog of the data."""
        catalog = Catalog.of(self.data)
        if not self.requests and "prohibitUpdate" not in self.text:
            return catalog
        from osbctl.sources.folder.brokerpak_requests import add_judged_schemas

        return add_judged_schemas(catalog, self.requests)

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        """The places of all `paths`, each one, in one pass over the text: gather all paths and call it once.

        An entry stands at its key, an item and the top at its value, a path that is not there at its closest ancestor.
        """
        return self.locator(frozenset(paths))

    def error(self, rule: str, message: str, path: JsonPath = (), hint: str = "") -> Finding:
        """The finding about an error in the value at `path`."""
        return Finding(rule, Severity.ERROR, message, path, self.locate([path])[path], hint=hint)

    def with_data(self, data: dict[str, Any], origin_of: Callable[[JsonPath], JsonPath]) -> "Document":
        """The document with other `data`; `origin_of` maps a path of that to a path of the present data."""

        def locate(paths: frozenset[JsonPath]) -> dict[JsonPath, Location]:
            origins = {path: origin_of(path) for path in paths}
            places = self.locate(origins.values())
            return {path: places[there] for path, there in origins.items()}

        return self._replace(data=data, locator=locate)


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
