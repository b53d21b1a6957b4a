"""Rules on references in parameter schemas: platforms fetch nothing, so the target must be in the schema."""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import unquote, urljoin

from osbctl.findings import Finding, Severity
from osbctl.jsonschemas.dialects import DRAFT_4, DRAFTS
from osbctl.jsonschemas.walk import IN_PLACE, SchemaPlace, subschemas
from osbctl.paths import BY_NAME, resolve_pointer, value_at
from osbctl.redaction import redact_text
from osbctl.rule import Category, rule
from osbctl.validation.node import Node

_KEYWORDS = ("$ref", "$dynamicRef")
_MOST_CIRCLES = 20


@rule("parameters-reference-external", Severity.ERROR, Category.SPEC)
def parameters_reference_external(schema: Node) -> Iterator[Finding]:
    """A parameter schema refers to something outside of itself.

    Platforms fetch nothing. `osbctl build` includes schemas from separate files.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "https://example.com/size.json"}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {type: integer}}}
    Source: OSB 2.13, Input Parameters Schema Object: schemas MUST NOT contain external references
    """
    references = References(schema.value)
    for place, keyword in references.all:
        reference = place.value[keyword]
        if references.resolve(place, keyword) is OUTSIDE and reference.partition("#")[0] not in DRAFTS:
            message = f"{redact_text(reference)[:80]!r} leads out of the schema"
            yield schema.finding(message, (*place.path, keyword), "put the definition into the schema itself")


@rule("parameters-reference-missing", Severity.ERROR, Category.SPEC)
def parameters_reference_missing(schema: Node) -> Iterator[Finding]:
    """A reference in a parameter schema has no target.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "#/items"}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "#/items", items: {type: object}}
    Source: JSON Schema, $ref: the reference identifies a schema
    """
    references = References(schema.value)
    for place, keyword in references.all:
        if references.resolve(place, keyword) is MISSING:
            message = f"{redact_text(place.value[keyword])[:80]!r} leads nowhere"
            yield schema.finding(message, (*place.path, keyword), "add the definition, or correct the reference")


@rule("parameters-reference-loop", Severity.ERROR, Category.SPEC)
def parameters_reference_loop(schema: Node) -> Iterator[Finding]:
    """References in a parameter schema form a circle and never reach a schema.

    Recursion into a part of the value is valid, as in a tree. A reference back to itself is not, neither through
    `allOf` and the like, which check the same value. Each circle is reported once.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "#"}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {child: {$ref: "#"}}}
    Source: JSON Schema, $ref: a schema MUST NOT be run into an infinite loop; Cloud Foundry crashes on one
    """
    for place in References(schema.value).find_loops():
        yield schema.finding("the reference leads back to itself", (*place.path, "$ref"), "let it lead to a schema")


OUTSIDE, MISSING = object(), object()
"""Instead of the target of a reference that leads out of the schema, or nowhere."""


class References:
    """The references of one schema (JSON Schema Core 2020-12, section 8.2, and its counterparts in older drafts)."""

    def __init__(self, schema: dict[str, Any]) -> None:
        dialect = schema.get("$schema")
        old = isinstance(dialect, str) and dialect.removesuffix("#") == DRAFT_4.uri
        self._id = "id" if old else "$id"
        self._resources: dict[str, Any] = {"": schema}
        self._anchors: dict[tuple[str, str], Any] = {}
        self._base: dict[SchemaPlace, str] = {}
        self._places = list(subschemas(schema))
        places = self._places
        self.all = [(place, key) for place in places for key in _KEYWORDS if isinstance(place.value.get(key), str)]
        for place in self._places:
            self._index_identifiers(place)

    def _index_identifiers(self, place: SchemaPlace) -> None:
        """Record the base URI, the id and the anchors of a subschema."""
        base = self._base[place.parent] if place.parent else ""
        identity = place.value.get(self._id)
        if isinstance(identity, str):
            address, _, anchor = identity.partition("#")
            if address:
                base = _join_url(base, address)
                self._resources.setdefault(base, place.value)
                self._resources.setdefault(address, place.value)
            if anchor:
                self._anchors[base, anchor] = place.value
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = place.value.get(keyword)
            if isinstance(name, str):
                self._anchors[base, name] = place.value
        self._base[place] = base

    def resolve(self, place: SchemaPlace, keyword: str = "$ref") -> Any:
        """Target of the reference at `place`; `OUTSIDE` or `MISSING` without one."""
        address, _, fragment = place.value[keyword].partition("#")
        base = self._base.get(place, "")
        if address:
            joined = _join_url(base, address)
            base = joined if joined in self._resources else address
        if base not in self._resources:
            return OUTSIDE
        if fragment and not fragment.startswith("/"):
            return self._anchors.get((base, unquote(fragment)), MISSING)
        path = resolve_pointer(self._resources[base], unquote(fragment))
        return MISSING if path is None else value_at(self._resources[base], path)

    def find_loops(self) -> Iterator[SchemaPlace]:
        """Find the first reference of each endless circle, of at most `_MOST_CIRCLES`."""
        place_by_id = {id(place.value): place for place in reversed(self._places)}
        following = {place: list(self._schemas_of_same_value(place, place_by_id)) for place in self._places}
        for _ in range(_MOST_CIRCLES):
            try:
                TopologicalSorter(following).prepare()
                return
            except CycleError as error:
                circle = {place for place in error.args[1] if isinstance(place.value.get("$ref"), str)}
            first = next(place for place in self._places if place in circle)
            following[first] = []
            yield first

    def _schemas_of_same_value(self, place: SchemaPlace, place_by_id: dict[int, SchemaPlace]) -> Iterator[SchemaPlace]:
        """The schemas that a schema applies to its own value; `place_by_id` has the `id()` of each as key."""
        if isinstance(place.value.get("$ref"), str):
            schemas = [self.resolve(place)]  # up to draft-07 nothing beside it counts
        else:
            values = [place.value.get(keyword) for keyword in IN_PLACE if keyword not in BY_NAME]
            schemas = [item for value in values for item in (value if isinstance(value, list) else [value])]
        for value in schemas:
            if id(value) in place_by_id:
                yield place_by_id[id(value)]


def _join_url(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:  # a broken IPv6 address
        return address
