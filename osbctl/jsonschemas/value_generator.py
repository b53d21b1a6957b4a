"""Values worth trying for some constraints, made up from the limits, lists and shapes that schemas name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.constraints import NUMBERS, Constraints, items

if TYPE_CHECKING:
    from osbctl.jsonschemas.bounded_validator import BoundedValidator
    from osbctl.jsonschemas.schema_tree import Subschema
    from osbctl.paths import JsonValue

MAX_DEPTH = 5
MAX_VALUES = 48
MAX_MADE = 30_000
"""Values made for one pair of schemas."""
_MAX_TEXT, _MAX_ITEMS, _MAX_OPTIONAL, _MAX_BRANCHES = 70_000, 300, 8, 6
_NUMBER_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
FORMATS = {
    "date": "2024-02-29",
    "email": "someone@example.com",
    "idn-email": "someone@example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "time": "12:00:00Z",
    "uuid": "2eb1cd1e-8d4b-4b4a-9f3d-2f6d5a0c1b7e",
    "date-time": "2024-02-29T12:00:00Z",
    "uri": "https://example.com/",
}
KINDS = ("object", "string", "integer", "fraction", "boolean", "array", "null")


class ValueGenerator:
    """Makes values for constraints; the same constraints always give the same values."""

    def __init__(self, validator: BoundedValidator) -> None:
        self.validator = validator
        self.left = MAX_MADE
        self._known: dict[Any, list[JsonValue]] = {}

    def valid(self, constraints: Constraints, count: int = 1, depth: int = 0) -> list[JsonValue]:
        """Up to `count` values that the validator accepts under all constraints."""
        key = (constraints.key, count, depth)
        if key not in self._known:
            found = self._known[key] = []
            for value in self.candidates(constraints, depth):
                if all(self.validator.accepts(schema, value) for schema in constraints.known):
                    found.append(value)
                if len(found) == count:
                    break
        return self._known[key]

    def candidates(
        self, constraints: Constraints, depth: int = 0, tried: set[object] | None = None
    ) -> Iterator[JsonValue]:
        """Values near the edges of the constraints, valid and not; `tried` are choices of branches made already."""
        seen: set[str] = set()
        for value in self._all(constraints, depth, set() if tried is None else tried) if depth <= MAX_DEPTH else ():
            self.left -= 1
            if len(seen) >= MAX_VALUES or self.left < 0:
                return
            if repr(value) not in seen:
                seen.add(repr(value))
                yield value

    def _all(self, constraints: Constraints, depth: int, tried: set[object]) -> Iterator[JsonValue]:
        known = [schema for schema in constraints.known if isinstance(schema.value, dict)]
        for schema in known:
            yield from (schema.listed or ())[:16]
        for kind in (kind for kind in KINDS if kind in constraints.kinds):
            yield from self._of_kind(kind, constraints, known, depth)
        for schema in known:
            yield from self._of_branches(constraints, schema, depth, tried)

    def _of_kind(self, kind: str, constraints: Constraints, known: list[Subschema], depth: int) -> Iterator[JsonValue]:
        if kind == "object":
            yield from self._objects(constraints, known, depth)
        elif kind == "array":
            yield from self._arrays(constraints, known, depth)
        elif kind == "string":
            yield from _strings(known)
        elif kind in NUMBERS:
            yield from numbers(known)
        else:
            yield from [None] if kind == "null" else [True, False]

    def _of_branches(
        self, constraints: Constraints, schema: Subschema, depth: int, tried: set[object]
    ) -> Iterator[JsonValue]:
        branches = [*schema.children("anyOf"), *schema.children("oneOf")][:_MAX_BRANCHES]
        branches += filter(None, map(schema.optional, ("if", "then", "else", "not")))
        for branch in branches:
            more = constraints.and_also(branch)
            self.left -= 1 + len(more.known) // 32  # hundreds of schemas cost more than their values
            if self.left < 0:
                return
            if more.key not in tried and more.kinds:  # the same branches in another order give the same values
                tried.add(more.key)
                yield from self.candidates(more, depth + 1, tried)

    def _objects(self, constraints: Constraints, known: list[Subschema], depth: int) -> Iterator[JsonValue]:
        least = self._properties(constraints, sorted(constraints.required()), depth)
        yield least
        optional = [name for name in constraints.names() if name not in least][:_MAX_OPTIONAL]
        extra = self._properties(constraints, optional, depth)
        yield from ({**least, name: value} for name, value in extra.items())
        yield {**least, **extra}
        yield from ({k: v for k, v in least.items() if k != name} for name in list(least)[:_MAX_OPTIONAL])
        for count in _counts(known, "minProperties", "maxProperties", _MAX_ITEMS):
            yield {**least, **{f"other{i}": i for i in range(max(count - len(least), 0))}}
        for schema in known:
            if names := schema.optional("propertyNames"):
                keys = self.candidates(Constraints().and_also(names), depth + 1)
                yield from ({**least, key: 0} for key in ("", *keys) if isinstance(key, str))
            for name, wanted in (schema.get("dependencies") or schema.get("dependentRequired") or {}).items():
                yield {**least, name: 0, **(dict.fromkeys(wanted, 0) if isinstance(wanted, list) else {})}

    def _properties(self, constraints: Constraints, names: list[str], depth: int) -> dict[str, JsonValue]:
        """These properties, as far as a valid value is found for each."""
        return {name: v for name in names for v in self.valid(constraints.at_key(name), depth=depth + 1)}

    def _arrays(self, constraints: Constraints, known: list[Subschema], depth: int) -> Iterator[JsonValue]:
        fixed = max((len(items(schema)[0]) for schema in known), default=0)
        first = [v for i in range(fixed) for v in self.valid(constraints.at_index(i), depth=depth + 1)]
        item = constraints.at_index(fixed)
        more = self.valid(item, 4, depth + 1)
        for held in (item.and_also(s.child("contains")) for s in known if s.get("contains") is not None):
            for kind in (kind for kind in KINDS if kind in held.kinds):
                for value in self.valid(Constraints(held.known, frozenset({kind})), depth=depth + 1):
                    yield from ([value] * n for n in (1, *_counts(known, "minContains", "maxContains", _MAX_ITEMS)))
        for count in dict.fromkeys([0, 1, 2, fixed, *_counts(known, "minItems", "maxItems", _MAX_ITEMS)]):
            yield [*first, *more, *_different(more, count)][:count]
            yield (first + more[:1] * count)[:count]


def _different(values: list[JsonValue], count: int) -> Iterator[JsonValue]:
    """Values that differ, of the kinds of those given."""
    for i in range(count if values else 0):
        value = values[i % len(values)]
        if isinstance(value, str):
            yield f"{value}{i}"
        else:
            yield value + i + len(values) if type(value) is int else i


def numbers(known: list[Subschema]) -> Iterator[JsonValue]:
    """Numbers at, just below and just above each one that the schemas name."""
    edges = [v for schema in known for keyword in _NUMBER_KEYWORDS if (v := schema.get(keyword)) is not None]
    for edge in dict.fromkeys([v for v in edges if not isinstance(v, bool)] + [0]):
        near = [edge, edge + 1, edge - 1, edge * 2]
        near += [edge + 0.5, edge - 0.5] if abs(edge) < 2**40 else []
        # Without a needless point: drafts disagree whether 1.0 is an integer.
        yield from (int(v) if isinstance(v, float) and v.is_integer() else v for v in near)


def _strings(known: list[Subschema]) -> Iterator[JsonValue]:
    for schema in known:
        yield from patterns.texts(schema.get("pattern")) if schema.get("pattern") is not None else ()
    yield from (FORMATS[form] for schema in known if (form := schema.get("format")) in FORMATS)
    yield from ("", "a", "text", "0")
    yield from ("a" * count for count in _counts(known, "minLength", "maxLength", _MAX_TEXT))


def _counts(known: list[Subschema], low: str, high: str, most: int) -> list[int]:
    """Counts at the limits and just beyond them."""
    limits = [int(v) for schema in known for keyword in (low, high) if (v := schema.get(keyword)) is not None]
    near = [n for limit in limits for n in (limit, limit + 1, limit - 1)]
    return [n for n in dict.fromkeys(near) if 0 <= n <= most]
