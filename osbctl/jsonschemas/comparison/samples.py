"""Values worth trying: made up from the bounds, lists and shapes that schemas name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.comparison.facts import NUMBERS, Facts, items, listed, names
from osbctl.jsonschemas.oracle import Oracle
from osbctl.jsonschemas.roots import Subschema
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
_KINDS = ("object", "string", "integer", "fraction", "boolean", "array", "null")


class Samples:
    """Makes values for schemas; the same schemas always give the same values."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.left = MAX_MADE
        self._known: dict[Any, list[JsonValue]] = {}

    def valid(self, facts: Facts, count: int = 1, depth: int = 0) -> list[JsonValue]:
        """Up to `count` values that meet all known schemas by the oracle's word."""
        key = (facts.key, count, depth)
        if key not in self._known:
            found: list[JsonValue] = []
            for value in self.candidates(facts, depth):
                if all(self.oracle.accepts(schema, value) for schema in facts.known):
                    found.append(value)
                    if len(found) == count:
                        break
            self._known[key] = found
        return self._known[key]

    def candidates(self, facts: Facts, depth: int = 0, tried: set[Any] | None = None) -> Iterator[JsonValue]:
        """Values near the edges of the schemas, valid and not. `tried`: choices of branches that were made already."""
        seen: set[str] = set()
        for value in self._all(facts, depth, set() if tried is None else tried) if depth <= MAX_DEPTH else ():
            self.left -= 1
            if len(seen) >= MAX_VALUES or self.left < 0:
                return
            if repr(value) not in seen:
                seen.add(repr(value))
                yield value

    def _all(self, facts: Facts, depth: int, tried: set[Any]) -> Iterator[JsonValue]:
        known = [schema for schema in facts.known if isinstance(schema.value, dict)]
        for schema in known:
            yield from (listed(schema) or ())[:16]
        for kind in _KINDS:
            if kind in facts.kinds:
                yield from self._of_kind(kind, facts, known, depth)
        yield from self._of_branches(facts, known, depth, tried)

    def _of_kind(self, kind: str, facts: Facts, known: list[Subschema], depth: int) -> Iterator[JsonValue]:
        if kind == "object":
            yield from self._objects(facts, known, depth)
        elif kind == "array":
            yield from self._arrays(facts, known, depth)
        elif kind == "string":
            yield from _strings(known)
        elif kind in NUMBERS:
            yield from numbers(known)
        else:
            yield from [None] if kind == "null" else [True, False]

    def _of_branches(self, facts: Facts, known: list[Subschema], depth: int, tried: set[Any]) -> Iterator[JsonValue]:
        for schema in known:
            branches = [*schema.children("anyOf"), *schema.children("oneOf")][:_MAX_BRANCHES]
            branches += [schema.child(k) for k in ("if", "then", "else", "not") if schema.get(k) is not None]
            for branch in branches:
                more = facts.and_also(branch)
                self.left -= 1 + len(more.known) // 32  # with hundreds of conditions, facts cost more than their values
                if self.left < 0:
                    return
                if more.key not in tried and more.kinds:  # the same branches in another order give the same values
                    tried.add(more.key)
                    yield from self.candidates(more, depth + 1, tried)

    def _objects(self, facts: Facts, known: list[Subschema], depth: int) -> Iterator[JsonValue]:
        least = {name: v for name in sorted(facts.required()) for v in self._at(facts, name, depth)}
        yield least
        optional = [name for name in dict.fromkeys(names(known)) if name not in least][:_MAX_OPTIONAL]
        extra = {name: v for name in optional for v in self._at(facts, name, depth)}
        yield from ({**least, name: value} for name, value in extra.items())
        yield {**least, **extra}
        yield from ({k: v for k, v in least.items() if k != name} for name in list(least)[:_MAX_OPTIONAL])
        for count in _counts(known, "minProperties", "maxProperties", _MAX_ITEMS):
            fill = {f"other{i}": i for i in range(max(count - len(least), 0))}
            yield {**least, **fill}
        for schema in known:
            if schema.get("propertyNames") is not None:
                keys = self.candidates(Facts(()).and_also(schema.child("propertyNames")), depth + 1)
                yield from ({**least, key: 0} for key in ("", *keys) if isinstance(key, str))
            for name, wanted in (schema.get("dependencies") or schema.get("dependentRequired") or {}).items():
                yield {**least, name: 0, **(dict.fromkeys(wanted, 0) if isinstance(wanted, list) else {})}

    def _at(self, facts: Facts, name: str, depth: int) -> list[JsonValue]:
        return self.valid(facts.at_key(name), depth=depth + 1)

    def _arrays(self, facts: Facts, known: list[Subschema], depth: int) -> Iterator[JsonValue]:
        fixed = max((len(items(schema)[0]) for schema in known), default=0)
        first = [v for i in range(fixed) for v in self.valid(facts.at_index(i), depth=depth + 1)]
        more = self.valid(facts.at_index(fixed), 4, depth + 1)
        yield from self._containing(facts.at_index(fixed), known, depth)
        counts = [0, 1, 2, fixed, *_counts(known, "minItems", "maxItems", _MAX_ITEMS)]
        for count in dict.fromkeys(counts):
            yield [*first, *more, *_spread(more, count)][:count]
            yield (first + more[:1] * count)[:count]

    def _containing(self, item: Facts, known: list[Subschema], depth: int) -> Iterator[JsonValue]:
        """Arrays of what `contains` asks for, a value of each kind, as often as its limits say."""
        for schema in known:
            if schema.get("contains") is not None:
                held = item.and_also(schema.child("contains"))
                for kind in (kind for kind in _KINDS if kind in held.kinds):
                    for value in self.valid(Facts(held.known, frozenset({kind})), depth=depth + 1):
                        yield from ([value] * n for n in (1, *_counts(known, "minContains", "maxContains", _MAX_ITEMS)))


def _spread(values: list[JsonValue], count: int) -> Iterator[JsonValue]:
    """Values that differ, of the kinds of those given."""
    for i in range(count if values else 0):
        value = values[i % len(values)]
        if isinstance(value, str):
            yield f"{value}{i}"
        elif isinstance(value, int) and not isinstance(value, bool):
            yield value + i + len(values)
        else:
            yield i


def numbers(known: list[Subschema]) -> Iterator[JsonValue]:
    """At, just below and just above each number that the schemas name."""
    edges = [v for s in known for k in _NUMBER_KEYWORDS if isinstance(v := s.get(k), int | float) and v is not True]
    for edge in dict.fromkeys([v for v in edges if v is not False] + [0]):
        for value in (edge, edge + 1, edge - 1, edge * 2):
            yield _plain(value)
        if abs(edge) < 2**40:
            yield from (_plain(edge + 0.5), _plain(edge - 0.5))


def _plain(number: float) -> JsonValue:
    """Without a needless point: drafts disagree whether 1.0 is an integer."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _strings(known: list[Subschema]) -> Iterator[JsonValue]:
    for schema in known:
        if isinstance(schema.get("pattern"), str):
            yield from patterns.texts(schema.get("pattern"))
    yield from (FORMATS[form] for s in known if (form := s.get("format")) in FORMATS)
    yield from ("", "a", "text", "0")
    yield from ("a" * count for count in _counts(known, "minLength", "maxLength", _MAX_TEXT))


def _counts(known: Iterable[Subschema], low: str, high: str, most: int) -> list[int]:
    """Counts at the limits and just beyond them."""
    limits = [int(v) for s in known for k in (low, high) if (v := s.get(k)) is not None]
    near = [n for limit in limits for n in (limit, limit + 1, limit - 1)]
    return [n for n in dict.fromkeys(near) if 0 <= n <= most]
