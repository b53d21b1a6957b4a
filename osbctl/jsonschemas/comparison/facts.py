"""What is known of a value at some place: the schemas that it met on the way there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TypeAlias

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.roots import Subschema
from osbctl.paths import JsonValue

Kinds: TypeAlias = frozenset[str]
"""Kinds of JSON values. `whole` is a number like 1.0, which is an `integer` since draft-06 only."""

NUMBERS: Kinds = frozenset({"integer", "whole", "fraction"})
ALL: Kinds = NUMBERS | {"null", "boolean", "string", "array", "object"}
OBJECT: Kinds = frozenset({"object"})

COUNTED = {"string": "Length", "array": "Items", "object": "Properties"}
"""What `min…` and `max…` limit of each kind that has parts."""


@dataclass(frozen=True)
class Facts:
    """A value meets all of `known` (flattened, see `Subschema.plain`), and is of `kinds`.

    Everything here is an upper bound: a value that meets the facts need not exist.
    """

    known: tuple[Subschema, ...]
    within: Kinds = ALL

    @cached_property
    def kinds(self) -> Kinds:
        """The kinds that the value can be of; empty where no value meets the facts."""
        kinds = self.within
        for schema in self.known:
            kinds &= kinds_of(schema)
        return kinds

    @cached_property
    def key(self) -> tuple[frozenset[Subschema], Kinds]:
        """Equal for facts that say the same."""
        return frozenset(self.known), self.within

    def and_also(self, *schemas: Subschema) -> Facts:
        """These facts, and these schemas hold too."""
        more = [plain for schema in schemas for plain in schema.plain()]
        return Facts(tuple(dict.fromkeys([*self.known, *more])), self.within)

    def values(self) -> list[JsonValue] | None:
        """The few values that `enum`, `const` or the kinds leave, unchecked otherwise; None where not few."""
        lists = [found for schema in self.known if (found := listed(schema)) is not None]
        if lists:
            return min(lists, key=len)
        if self.kinds <= {"null", "boolean"}:
            return [v for v, kind in ((None, "null"), (False, "boolean"), (True, "boolean")) if kind in self.kinds]
        return None

    def required(self) -> set[str]:
        """The names that an object has for certain."""
        return {name for schema in self.known for name in schema.get("required") or ()}

    def at_key(self, name: str) -> Facts:
        """What is known of the value of the property `name`, if the object has it."""
        sure = [below for schema in self.known for below in for_key(schema, name)[0]]
        return Facts(()).and_also(*sure)

    def at_index(self, index: int) -> Facts:
        """What is known of the item at `index`, if the array has it."""
        return Facts(()).and_also(*(s for schema in self.known if (s := for_index(schema, index)) is not None))

    def least(self, keyword: str) -> float:
        """The strongest lower limit that this keyword sets for a count; 0 where none does."""
        return max((schema.get(keyword) or 0 for schema in self.known), default=0)

    def most(self, keyword: str) -> float:
        """The strongest upper limit that this keyword sets for a count; infinite where none does."""
        return min((limit for schema in self.known if (limit := schema.get(keyword)) is not None), default=inf)

    def most_items(self) -> float:
        """The largest length of an array."""
        closed = [len(prefix) for prefix, rest in map(items, self.known) if rest is not None and rest.value is False]
        return min([self.most("maxItems"), *closed])

    def most_properties(self) -> float:
        """The largest number of properties that a list of their names leaves, where no others are allowed."""
        closed = [s for s in self.known if s.get("additionalProperties") is False and not s.get("patternProperties")]
        return min((len(s.get("properties") or ()) for s in closed), default=inf)

    def counts(self, kind: str) -> tuple[float, float]:
        """The bounds of what `COUNTED` counts of a value of this kind."""
        least, most = self.least(f"min{COUNTED[kind]}"), self.most(f"max{COUNTED[kind]}")
        if kind == "object":
            return max(least, len(self.required())), min(most, self.most_properties())
        return least, self.most_items() if kind == "array" else most


def listed(schema: Subschema) -> list[JsonValue] | None:
    """The values that this schema allows at most: of `enum` or `const`, or of all branches of an `anyOf` or `oneOf`."""
    known = schema.root.listed
    if schema.pointer not in known:
        known[schema.pointer] = _listed(schema)
    return known[schema.pointer]


def _listed(schema: Subschema) -> list[JsonValue] | None:
    if "const" in schema.root.dialect.keywords and isinstance(schema.value, dict) and "const" in schema.value:
        return [schema.value["const"]]
    found = schema.get("enum")
    if isinstance(found, list):
        return found
    for keyword in ("anyOf", "oneOf"):
        lists = [_shortest(branch) for branch in schema.children(keyword)]
        if lists and all(found is not None for found in lists):
            return [value for found in lists for value in found or ()]
    return None


def _shortest(branch: Subschema) -> list[JsonValue] | None:
    lists = [found for part in branch.plain() if (found := listed(part)) is not None]
    return min(lists, key=len, default=None)


def kinds_of(schema: Subschema) -> Kinds:
    """The kinds that the schema's `type` allows; none for `false`."""
    if schema.value is False:
        return frozenset()
    named = schema.get("type")
    if named is None:
        return ALL
    kinds: set[str] = set()
    for name in [named] if isinstance(named, str) else named:
        if name == "number":
            kinds |= NUMBERS
        else:
            kinds.add(name)
    if "integer" in kinds and schema.root.dialect.year > 2013:
        kinds.add("whole")
    return frozenset(kinds)


def for_key(schema: Subschema, name: str) -> tuple[list[Subschema], list[Subschema]]:
    """The subschemas that the property `name` must meet: those for certain, and those perhaps.

    Perhaps, because a pattern that may not be run decides.
    """
    sure: list[Subschema] = []
    perhaps: list[Subschema] = []
    found = False
    if name in (schema.get("properties") or ()):
        sure.append(schema.child("properties", name))
        found = True
    for pattern in schema.get("patternProperties") or ():
        matched = patterns.matches(pattern, name)
        if matched is not False:
            (sure if matched else perhaps).append(schema.child("patternProperties", pattern))
        found = found or bool(matched)
    # Where a pattern is undecided, whether this is an additional property is undecided, too.
    if not found and schema.get("additionalProperties") is not None:
        (perhaps or sure).append(schema.child("additionalProperties"))
    return sure, perhaps


def items(schema: Subschema) -> tuple[list[Subschema], Subschema | None]:
    """The schemas of the first items, one each, and the one of all the rest (None: anything)."""
    if schema.root.dialect.year >= 2020:
        return list(schema.children("prefixItems")), _optional(schema, "items")
    if isinstance(schema.get("items"), list):
        return list(schema.children("items")), _optional(schema, "additionalItems")
    return [], _optional(schema, "items")


def for_index(schema: Subschema, index: int) -> Subschema | None:
    """The schema of the item at `index`; None where it may be anything."""
    prefix, rest = items(schema)
    return prefix[index] if index < len(prefix) else rest


def names(schemas: Iterable[Subschema]) -> Iterator[str]:
    """The property names that the schemas spell out."""
    for schema in schemas:
        yield from schema.get("properties") or ()


def _optional(schema: Subschema, keyword: str) -> Subschema | None:
    return schema.child(keyword) if schema.get(keyword) is not None else None
