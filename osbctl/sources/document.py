"""A parsed source with lazily computed locations."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from osbctl.catalog import Catalog
from osbctl.findings import Finding, Location, Severity
from osbctl.paths import JsonPath, JsonValue

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
