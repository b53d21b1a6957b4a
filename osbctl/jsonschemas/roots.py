"""A schema as a tree of places, its local references resolved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Literal, TypeAlias

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.dialects import Dialect, dialect_of
from osbctl.jsonschemas.walk import BY_NAME, IN_PLACE, UndecidableError, target_of
from osbctl.paths import JsonValue, Path, depth, value_at

Side: TypeAlias = Literal["old", "new"]

MAX_DEPTH = 64
"""Levels of nesting; real schemas have under 12. Below this no recursion here comes near Python's limit."""

_ONE = ("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_LIST = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_MAP = tuple(sorted(BY_NAME))
_SAME_VALUE = (*IN_PLACE, "dependencies", "dependentSchemas")
_NAMES = ("$id", "id")
BARE = frozenset({*_ONE, *_LIST, *_MAP, *_NAMES, "$schema", "default"})
"""What stays of a schema's words beside those that its draft asserts."""
_BEYOND = ("$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties")


@dataclass(frozen=True, slots=True)
class Subschema:
    """A schema at its place; equal when the place is the same."""

    side: Side
    pointer: Path
    root: Root = field(compare=False, repr=False)
    value: JsonValue = field(compare=False, repr=False)

    def get(self, keyword: str) -> JsonValue:
        """The keyword's value; None where it is missing or its draft does not assert it."""
        if isinstance(self.value, dict) and keyword in self.root.dialect.keywords:
            return self.value.get(keyword)
        return None

    def child(self, *steps: str | int) -> Subschema:
        """The subschema that these steps lead to, which must exist."""
        return Subschema(self.side, self.pointer + steps, self.root, value_at(self.value, steps))

    def children(self, keyword: str) -> tuple[Subschema, ...]:
        """The subschemas in a keyword that holds a list of them; none where it is missing."""
        known, key = self.root.children, (self.pointer, keyword)
        if key not in known:
            found = self.get(keyword)
            known[key] = tuple(self.child(keyword, i) for i in range(len(found))) if isinstance(found, list) else ()
        return known[key]

    def plain(self) -> tuple[Subschema, ...]:
        """The schemas that must all hold here: this one, its `allOf` and `$ref`, each a step deep only.

        `true` adds nothing; `false` stays.
        """
        known = self.root.plain
        if self.pointer not in known:
            seen: dict[Subschema, None] = {}
            self._flatten(seen, set())
            known[self.pointer] = tuple(seen)
        return known[self.pointer]

    def _flatten(self, seen: dict[Subschema, None], visited: set[Subschema]) -> None:
        if self in visited or self.value is True:
            return
        visited.add(self)
        if self.get("$ref") is not None:
            self.root.resolve(self.value["$ref"])._flatten(seen, visited)
            if self.root.dialect.ref_stands_alone:
                return
        seen[self] = None
        for part in self.children("allOf"):
            part._flatten(seen, visited)


class Root:
    """A whole schema of one side, checked so that no later step can raise.

    Raises `UndecidableError` for what the comparison does not read: too deep, an unknown draft, not
    valid under its metaschema, references that leave the schema or run in a loop.
    """

    def __init__(self, side: Side, value: JsonValue) -> None:
        self.side: Side = side
        self.value = value
        if depth(value) > MAX_DEPTH:
            raise UndecidableError(f"it is nested deeper than {MAX_DEPTH} levels")
        self.dialect: Dialect = dialect_of(value)
        self.children: dict[tuple[Path, str], tuple[Subschema, ...]] = {}
        self.plain: dict[Path, tuple[Subschema, ...]] = {}
        self.listed: dict[Path, list[JsonValue] | None] = {}

    def bare(self) -> Root:
        """The same schema without titles, descriptions and whatever else refuses nothing; defaults stay."""
        return Root(self.side, _bare(self.value, self.dialect.keywords | BARE))

    @property
    def top(self) -> Subschema:
        """The whole schema."""
        return Subschema(self.side, (), self, self.value)

    @cached_property
    def unnamed(self) -> JsonValue:
        """The schema without identities: no reference that is followed leads to one, and relative ones need a base."""
        return _bare(self.value, self.dialect.keywords | BARE - {*_NAMES})

    @cached_property
    def places(self) -> dict[Path, Subschema]:
        """Every place that holds a schema, by pointer."""
        found: dict[Path, Subschema] = {}
        todo = [self.top]
        while todo:
            place = todo.pop()
            found[place.pointer] = place
            todo.extend(inner for _, inner in below(place))
        return found

    @property
    def unread(self) -> Iterator[Subschema]:
        """The schemas under keywords of other drafts, which the metaschema passes over; a reference may lead there."""
        read = self.dialect.keywords | {"definitions", *(("$defs",) if self.dialect.year >= 2019 else ())}
        return (inner for place in self.places.values() for keyword, inner in below(place) if keyword not in read)

    @cached_property
    def has_formats(self) -> bool:
        """Whether anything depends on whether formats are enforced."""
        return any(place.get("format") is not None for place in self.places.values())

    @cached_property
    def heaviest_pattern(self) -> int:
        """The weight of the pattern that costs most to run; 0 where there is none."""
        own = [place.get("pattern") for place in self.places.values()]
        of_keys = [pattern for place in self.places.values() for pattern in place.get("patternProperties") or ()]
        return max((patterns.weight(pattern) for pattern in (*own, *of_keys) if pattern), default=0)

    def resolve(self, ref: JsonValue) -> Subschema:
        """The schema that a local `$ref` names. Raises `UndecidableError`."""
        if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
            raise UndecidableError("it has a $ref that leaves the schema, or is not a JSON pointer")
        place = self.places.get(pointer) if (pointer := target_of(self.value, ref)) is not None else None
        if place is None:
            raise UndecidableError("it has a $ref to a place that holds no schema")
        return place

    def check(self) -> None:
        """Raises `UndecidableError` where references or keywords are beyond this comparison."""
        refers = any(_has_ref(place) for place in self.places.values())
        for place in self.places.values():
            if not isinstance(place.value, dict):
                continue
            for keyword in _BEYOND:
                if place.get(keyword) is not None:
                    raise UndecidableError(f"it uses {keyword}, which this comparison does not read")
            named = any(isinstance(place.value.get(keyword), str) for keyword in _NAMES)
            if place.pointer and ("$schema" in place.value or (named and refers)):
                raise UndecidableError("a part of it has an identity or a draft of its own")
        if refers:
            self._refuse_loops()

    def _refuse_loops(self) -> None:
        graph = {place: list(self._same_value(place)) for place in self.places.values()}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            raise UndecidableError("its references run in a loop") from None

    def _same_value(self, place: Subschema) -> Iterator[Subschema]:
        if _has_ref(place):
            yield self.resolve(place.value["$ref"])
        yield from (inner for keyword, inner in below(place) if keyword in _SAME_VALUE)


def _has_ref(place: Subschema) -> bool:
    return isinstance(place.value, dict) and "$ref" in place.value


def below(place: Subschema) -> Iterator[tuple[str, Subschema]]:
    """The schemas one step further down, each with the keyword that holds it."""
    value = place.value
    if not isinstance(value, dict):
        return
    for keyword in _ONE:
        if isinstance(value.get(keyword), dict | bool):
            yield keyword, place.child(keyword)
    for keyword in _LIST:
        if isinstance(value.get(keyword), list):
            yield from ((keyword, place.child(keyword, i)) for i in range(len(value[keyword])))
    for keyword in _MAP:
        if isinstance(value.get(keyword), dict):
            yield from (
                (keyword, place.child(keyword, name))
                for name, inner in value[keyword].items()
                if isinstance(inner, dict | bool)
            )


def _bare(value: JsonValue, kept: frozenset[str]) -> JsonValue:
    if not isinstance(value, dict):
        return value
    return {keyword: _bare_inside(keyword, inner, kept) for keyword, inner in value.items() if keyword in kept}


def _bare_inside(keyword: str, value: JsonValue, kept: frozenset[str]) -> JsonValue:
    if isinstance(value, dict):
        if keyword in _MAP:
            return {name: _bare(inner, kept) for name, inner in value.items()}
        return _bare(value, kept) if keyword in _ONE else value
    return [_bare(inner, kept) for inner in value] if isinstance(value, list) and keyword in _LIST else value
