"""A parsed source: a text, or a catalog that is composed of parts of texts; with lazily computed locations."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from osbctl.catalog import Catalog
from osbctl.findings import Finding, Location, Severity
from osbctl.messages import Sentence
from osbctl.paths import JsonPath, get_at
from osbctl.sources.places import Lines, Span, TextFault, check_faults

if TYPE_CHECKING:
    from osbctl.sources.folder.brokerpak_requests import RequestRules

Syntax: TypeAlias = Literal["json", "yaml", "folder", "brokerpak"]


class Document:
    """A source that was read. One that is neither a `ParsedText` nor a `ComposedDocument` has no text to locate it in.

    `name` is its name in reports. `data` is the catalog as plain JSON values; always a dict, except from `parse_text`.
    `notes` are findings of the reader (for example a scalar that other YAML readers take for a boolean), with
    locations. `texts` are the texts that it was read from. `top` is the path of the catalog in its text; `embedded`:
    the file is more than that text, which is in a string or a stream of documents. `read_as` is a sentence for the
    user, where a catalog was not at the top or not in the usual shape. `requests` are the rules by which the broker of
    a brokerpak judges requests, by the path of a plan and `create` or `bind`. Documents are equal by identity.
    """

    texts: "tuple[ParsedText, ...]" = ()
    top: JsonPath = ()
    embedded = False
    read_as = ""
    requests: "Mapping[tuple[JsonPath, str], RequestRules]" = MappingProxyType({})

    def __init__(self, name: str, data: Any, syntax: Syntax, notes: tuple[Finding, ...] = ()) -> None:
        self.name, self.data, self.syntax, self.notes = name, data, syntax, notes

    @cached_property
    def catalog(self) -> Catalog:
        """The typed catalog of the data."""
        catalog = Catalog.of(self.data)
        if not self.requests and not any("prohibitUpdate" in one.text for one in self.texts):
            return catalog
        from osbctl.sources.folder.brokerpak_requests import add_judged_schemas

        return add_judged_schemas(catalog, self.requests)

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        """The places of all `paths`, each one, in one pass over the text: gather all paths and call it once.

        An entry stands at its key, an item and the top at its value, a path that is not there at its closest ancestor.
        """
        return dict.fromkeys(paths, Location(self.name, 1, 1))

    def check_faults(self, path: JsonPath) -> tuple[Finding, ...]:  # noqa: ARG002  # a text has some
        """Check the value at `path` of the text, which is used; return warnings about faults in the rest of the text.

        Raises DocumentError: there are faults in the value.
        """
        return ()

    def error(self, rule: str, message: Sentence, path: JsonPath = (), hint: Sentence = "") -> Finding:
        """The finding about an error in the value at `path`."""
        return Finding(rule, Severity.ERROR, message, path, self.locate([path])[path], hint=hint)


class ParsedText(Document):
    """A text in JSON or YAML, and the value that was read from it. `faults` left it readable."""

    def __init__(
        self,
        name: str,
        data: Any,
        syntax: Syntax,
        notes: tuple[Finding, ...] = (),
        *,
        text: str,
        faults: tuple[TextFault, ...] = (),
    ) -> None:
        super().__init__(name, data, syntax, notes)
        self.text, self.faults, self.texts = text, faults, (self,)

    @cached_property
    def _span(self) -> Span:
        if self.syntax == "json":
            from osbctl.sources import json_reader

            return json_reader.locate(self.text, self.name)
        from osbctl.sources import yaml_reader

        return yaml_reader.locate(self.text, self.name)

    def spans(self, *, aliases: bool = False) -> dict[JsonPath, Span]:
        """The spans of all values, as `Span.spans`."""
        return self._span.spans(aliases=aliases)

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        lines = Lines(self.name, self.text)
        spans = {path: self._span.find(path)[-1] for path in paths}
        return {path: lines.at(span.entry_start, span.shown_end) for path, span in spans.items()}

    def check_faults(self, path: JsonPath) -> tuple[Finding, ...]:
        if not self.faults:
            return ()
        return check_faults(self.faults, Lines(self.name, self.text), self._span.find(path) if path else ())


Origin: TypeAlias = tuple[Document, JsonPath]
"""One of the documents that a catalog is composed from, and the path of a value in it."""


class ComposedDocument(Document):
    """A catalog that is composed of parts of other documents, or is a part of one; it is composed in place.

    The origins of its values are remembered at the seams only: below a seam, paths run in parallel. A seam is a whole
    object (a plan taken from a file of its own), or a key of an object (one that an overlay or a default has set).
    Objects are distinguished by identity, so that moving one in a list keeps its origin; they live as long as this.
    """

    def __init__(self, name: str, data: dict[str, Any], syntax: Syntax, origin: Origin) -> None:
        super().__init__(name, data, syntax)
        self._top = origin
        self._objects: dict[int, Origin] = {}
        self._keys: dict[tuple[int, str], Origin] = {}
        self._hidden: dict[tuple[int, str], dict[str, Any]] = {}

    @classmethod
    def of_part(cls, document: Document, path: JsonPath, data: dict[str, Any]) -> "ComposedDocument":
        """The document of the catalog `data`, which is made of the value at `path` of `document`."""
        made = cls(document.name, data, document.syntax, (document, path))
        made.notes, made.texts, made.read_as = document.notes, document.texts, document.read_as
        made.top, made.embedded = (*document.top, *path), document.embedded
        return made

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
        asked: dict[Document, dict[JsonPath, JsonPath]] = {}
        for path in paths:
            part, inside = self.find_origin(path)
            asked.setdefault(part, {})[path] = inside
        found: dict[JsonPath, Location] = {}
        for part, inside_of in asked.items():  # each text is gone through once
            places = part.locate(inside_of.values())
            found |= {path: places[inside] for path, inside in inside_of.items()}
        return found
