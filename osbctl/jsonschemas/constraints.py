"""The constraints on a value at some place: the schemas that it must meet there."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import ceil, floor, inf
from typing import TypeAlias

from osbctl.jsonschemas.schema_tree import Subschema

Kinds: TypeAlias = frozenset[str]
"""Kinds of JSON values. `whole` is a number like 1.0, which is an `integer` since draft-06 only."""

Bound: TypeAlias = tuple[float, bool]
"""A lower limit, and whether it is itself excluded. An upper limit is written as a lower one: negated."""

BOUNDS = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
"""The keywords that limit numbers, each with its exclusive form: boolean in draft-04, else a number."""

NUMBERS: Kinds = frozenset({"integer", "whole", "fraction"})
ALL: Kinds = NUMBERS | {"null", "boolean", "string", "array", "object"}
OBJECT, ARRAY, STRING = frozenset({"object"}), frozenset({"array"}), frozenset({"string"})

COUNTED = {"string": "Length", "array": "Items", "object": "Properties"}
"""Suffix of the keywords `min…` and `max…` for each type with parts."""


@dataclass(frozen=True)
class Constraints:
    """A value meets all schemas of `known`, and is of one of the kinds `within`.

    Everything here is an upper bound: each value of the place meets it, and not all that meets it need be possible.
    """

    known: tuple[Subschema, ...] = ()
    within: Kinds = ALL

    @cached_property
    def kinds(self) -> Kinds:
        """The kinds that the value can be of. Empty if no value is possible."""
        return self.within.intersection(*map(allowed_kinds, self.known))

    @cached_property
    def cache_key(self) -> tuple[frozenset[Subschema], Kinds]:
        """Equal for constraints that say the same."""
        return frozenset(self.known), self.within

    def and_also(self, *schemas: Subschema) -> "Constraints":
        """These constraints and those of these schemas, flattened."""
        more = chain.from_iterable(schema.conjuncts for schema in schemas)
        return Constraints(tuple(dict.fromkeys([*self.known, *more])), self.within)

    def required_names(self) -> set[str]:
        """The names that an object has for certain."""
        return {name for schema in self.known for name in schema.get("required") or ()}

    def property_names(self) -> dict[str, None]:
        """The property names that are spelled out, in their order."""
        return dict.fromkeys(name for schema in self.known for name in schema.get("properties") or ())

    def property_constraints(self, name: str, unmatched: Iterable[str] = ()) -> "Constraints":
        """The constraints on the value of the property `name`, which matches none of the patterns `unmatched`."""
        schemas = (_property_schema(schema, name, set(unmatched)) for schema in self.known)
        return Constraints().and_also(*filter(None, schemas))

    def item_constraints(self) -> "Constraints":
        """The constraints on each item of an array."""
        return Constraints().and_also(*filter(None, map(every_item, self.known)))

    def size_limits(self, kind: str) -> tuple[float, float]:
        """The strongest limits for what `COUNTED` counts of a value of this kind."""
        lows, highs = ([s.get(end + COUNTED[kind]) for s in self.known] for end in ("min", "max"))
        return max([0, *filter(None, lows)]), min([inf, *(limit for limit in highs if limit is not None)])

    def strongest_bound(self, keyword: str, kinds: Kinds) -> Bound:
        """The strongest limit of a keyword of `BOUNDS` for a number of these kinds; among integers it is one itself."""
        found: list[Bound] = [(-inf, False)]
        sign = 1 if keyword == "minimum" else -1
        for schema in self.known:
            limit, mark = schema.get(keyword), schema.get(BOUNDS[keyword])
            if limit is not None:
                found.append((sign * limit, mark is True))  # in draft-04 the exclusive keyword marks the other
            if mark is not None and not isinstance(mark, bool):
                found.append((sign * mark, True))
        value, excluded = max(found)
        if "fraction" in kinds or value in (-inf, inf):  # not isinf(): an integer may be too large for a float
            return value, excluded
        return floor(value) + 1 if excluded else ceil(value), False


def allowed_kinds(schema: Subschema) -> Kinds:
    """The kinds that the schema's `type` allows. Empty for `false`."""
    if schema.value is False:
        return frozenset()
    named = schema.assertions.get("type", ALL)
    kinds = {named} if isinstance(named, str) else set(named)
    if "number" in kinds:
        kinds = kinds - {"number"} | NUMBERS
    if "integer" in kinds and schema.tree.dialect.year > 2013:
        kinds.add("whole")
    return frozenset(kinds)


def _property_schema(schema: Subschema, name: str, unmatched: set[str]) -> Subschema | None:
    """The subschema that the property `name` meets for certain: its own, else that of additional properties.

    None if there is neither, or if `name` may be no additional property, since patterns of keys are not run.
    """
    if name in (schema.get("properties") or ()):
        return schema.child("properties", name)
    is_additional = unmatched.issuperset(schema.get("patternProperties") or ())
    return schema.get_child("additionalProperties") if is_additional else None


def every_item(schema: Subschema) -> Subschema | None:
    """The schema of all items of an array. None if there is none, or the first ones have schemas of their own."""
    is_tuple = isinstance(schema.get("items"), list) or schema.get("prefixItems") is not None
    return None if is_tuple else schema.get_child("items")
