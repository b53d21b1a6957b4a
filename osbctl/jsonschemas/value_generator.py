"""Values made up for some constraints, from the defaults, lists, limits and patterns that schemas name.

Plain values come first, values at limits last: the first valid one is an example for readers, and each may be a
counterexample.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.constraints import NUMBERS, Constraints
from osbctl.redaction import may_be_secret_name

if TYPE_CHECKING:
    from osbctl.jsonschemas.bounded_validator import BoundedValidator
    from osbctl.jsonschemas.schema_tree import Subschema
    from osbctl.paths import JsonValue

MAX_DEPTH = 12
MAX_VALUES = 48
MAX_MADE = 30_000
"""Values made for one pair of schemas."""
_MAX_TEXT, _MAX_ITEMS, _MAX_LISTED, _MAX_OPTIONAL, _MAX_FEW, _MAX_BRANCHES = 70_000, 300, 16, 100, 8, 6
_FORMATS = {
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
_MARKS = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties"),
    "array": ("items", "minItems", "uniqueItems", "prefixItems"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("pattern", "format", "minLength", "maxLength"),
}
"""Keywords that hint at a kind if `type` is missing."""
_KINDS = ("object", "string", "integer", "fraction", "boolean", "array", "null")


class ValueGenerator:
    """Makes values within a budget. `full`: with all that is optional first; `formats`: valid ones meet formats."""

    def __init__(
        self, validator: BoundedValidator, left: int = MAX_MADE, *, full: bool = False, formats: bool = False
    ) -> None:
        self.validator = validator
        self.left = left
        self.full, self.formats = full, formats
        self._known: dict[Any, list[JsonValue]] = {}
        self._under_way: set[object] = set()

    def valid(self, constraints: Constraints, count: int = 1, depth: int = 0, name: str = "") -> list[JsonValue]:
        """Up to `count` values that the validator accepts under all constraints; `name` is the key before them.

        None within itself: values of a schema that refers to itself would multiply.
        """
        key = (constraints.key, count, depth, may_be_secret_name(name))
        if constraints.known and constraints.key in self._under_way:
            return []
        if key not in self._known:
            found = self._known[key] = []
            self._under_way.add(constraints.key)
            for value in self.candidates(constraints, depth, name):
                if all(self.validator.accepts(schema, value, self.formats) for schema in constraints.known):
                    found.append(value)
                if len(found) == count:
                    break
            self._under_way.discard(constraints.key)
        return self._known[key]

    def candidates(
        self, constraints: Constraints, depth: int = 0, name: str = "", tried: set[object] | None = None
    ) -> Iterator[JsonValue]:
        """Values for the constraints, valid and not; `tried` are choices of branches made already."""
        seen: set[str] = set()
        if depth > MAX_DEPTH:
            return
        for value in self._all(constraints, depth, name, set() if tried is None else tried):
            self.left -= 1
            if len(seen) >= MAX_VALUES or self.left < 0:
                return
            if repr(value) not in seen:
                seen.add(repr(value))
                yield value

    def _all(self, constraints: Constraints, depth: int, name: str, tried: set[object]) -> Iterator[JsonValue]:
        """Values that the author listed or wrote as examples, values of each kind, and those of branches."""
        known = [schema for schema in constraints.known if isinstance(schema.value, dict)]
        kinds = _kinds(constraints, known)
        listed: Iterator[JsonValue] = (value for schema in known for value in (schema.listed or ())[:_MAX_LISTED])
        written = () if may_be_secret_name(name) else _written(known)
        made = chain.from_iterable(self._of_kind(kind, constraints, known, depth, name) for kind in kinds)
        of_branches = self._of_branches(constraints, known, depth, name, tried)
        if kinds[:1] in (["object"], ["array"]):  # defaults of these are often empty
            made = chain(made, written)
        else:
            listed = chain(written, listed)
        return chain(listed, of_branches, made) if self.full else chain(listed, made, of_branches)

    def _of_kind(
        self, kind: str, constraints: Constraints, known: list[Subschema], depth: int, name: str
    ) -> Iterator[JsonValue]:
        if kind == "object":
            return self._objects(constraints, known, depth)
        if kind == "array":
            return self._arrays(constraints, known, depth, name)
        if kind == "string":
            return _strings(known, "change-me" if may_be_secret_name(name) else "text")
        if kind in NUMBERS:
            return _numbers(known)
        return iter([None] if kind == "null" else [False, True])

    def _of_branches(
        self, constraints: Constraints, known: list[Subschema], depth: int, name: str, tried: set[object]
    ) -> Iterator[JsonValue]:
        for schema in known:
            branches = [*schema.children("anyOf"), *schema.children("oneOf")][:_MAX_BRANCHES]
            branches += filter(None, map(schema.optional, ("if", "then", "else", "not")))
            for branch in branches:
                more = constraints.and_also(branch)
                self.left -= 1 + len(more.known) // 32  # hundreds of schemas cost more than their values
                if self.left < 0:
                    return
                if more.key not in tried and more.kinds:  # the same branches in another order give the same values
                    tried.add(more.key)
                    yield from self.candidates(more, depth + 1, name, tried)

    def _objects(self, constraints: Constraints, known: list[Subschema], depth: int) -> Iterator[JsonValue]:
        described, required = constraints.names(), constraints.required()
        needed = [*filter(required.__contains__, described), *sorted(required), *_depending(known, required)]
        least = self._properties(constraints, needed, depth)
        optional = [name for name in described if name not in least][: _MAX_OPTIONAL if self.full else _MAX_FEW]
        extra = self._properties(constraints, optional, depth)
        extra.update(self._of_patterns(known, depth))
        if self.full:
            yield {**least, **extra}
        yield least
        yield from ({**least, name: value} for name, value in extra.items())
        yield {**least, **extra}
        for missing in list(least)[:_MAX_FEW]:
            yield {name: value for name, value in least.items() if name != missing}
        names = [*extra, *(f"other{i}" for i in range(_MAX_ITEMS))]
        for count in _counts(known, "minProperties", "maxProperties", _MAX_ITEMS):
            yield {**least, **self._properties(constraints, names[: max(count - len(least), 0)], depth)}

    def _of_patterns(self, known: list[Subschema], depth: int) -> dict[str, JsonValue]:
        """A property for each of the first patterns of names."""
        found: dict[str, JsonValue] = {}
        nodes = [s.child("patternProperties", word) for s in known for word in s.get("patternProperties") or ()]
        for node in nodes[:_MAX_FEW]:
            values = self.valid(Constraints().and_also(node), 1, depth + 1) or ["text"]
            found.update(dict.fromkeys(patterns.samples(str(node.pointer[-1]))[:1], values[0]))
        return found

    def _properties(self, constraints: Constraints, names: list[str], depth: int) -> dict[str, JsonValue]:
        """These properties, as far as a valid value is found for each."""
        return {n: v for n in dict.fromkeys(names) for v in self.valid(constraints.at_key(n), 1, depth + 1, n)}

    def _arrays(self, constraints: Constraints, known: list[Subschema], depth: int, name: str) -> Iterator[JsonValue]:
        items = self.valid(constraints.at_item(), 4, depth + 1, name)
        fewest = int(min(constraints.counts("array")[0], _MAX_ITEMS))
        best = max(fewest, 1) if self.full else fewest
        for count in dict.fromkeys([best, 0, 1, 2, *_counts(known, "minItems", "maxItems", _MAX_ITEMS)]):
            yield items[:1] * count
            yield [*items, *(_other(items[i % len(items)], i) for i in range(count if items else 0))][:count]


def _other(value: JsonValue, number: int) -> JsonValue:
    """A value that differs from others made with another number, of the kind of `value` if it is a string."""
    return f"{value}{number}" if isinstance(value, str) else number + 4


def _kinds(constraints: Constraints, known: list[Subschema]) -> list[str]:
    """The kinds to try; first those that the keywords hint at."""
    used = {word for schema in known for word in schema.value if schema.get(word) is not None}
    marked = [kind for kind, words in _MARKS.items() if not used.isdisjoint(words)]
    return [kind for kind in dict.fromkeys([*(marked or ["string"]), *_KINDS]) if kind in constraints.kinds]


def _written(known: list[Subschema]) -> Iterator[JsonValue]:
    """The values that the author wrote as examples."""
    for schema in known:
        shown = schema.value.get("examples")
        yield from (schema.value[word] for word in ("default", "example") if word in schema.value)
        yield from shown if isinstance(shown, list) else ()


def _numbers(known: list[Subschema]) -> Iterator[JsonValue]:
    """Numbers at, just below and just above each one that the schemas name."""
    for edge in dict.fromkeys([*_limits(known, *_MARKS["integer"]), 0]):
        halves = [edge + 0.5, edge - 0.5] if abs(edge) < 2**40 else []
        # Without a needless point: drafts disagree whether 1.0 is an integer.
        for value in (edge, edge + 1, edge - 1, edge * 2, *halves):
            yield int(value) if isinstance(value, float) and value.is_integer() else value


def _depending(known: list[Subschema], required: set[str]) -> Iterator[str]:
    """The properties that required ones depend on."""
    for schema in known:
        for name, names in (schema.get("dependencies") or schema.get("dependentRequired") or {}).items():
            yield from names if name in required and isinstance(names, list) else ()


def _limits(known: list[Subschema], *keywords: str) -> list[Any]:
    found = [schema.get(keyword) for schema in known for keyword in keywords]
    return [limit for limit in found if limit is not None and not isinstance(limit, bool)]


def _strings(known: list[Subschema], word: str) -> Iterator[JsonValue]:
    yield from (_FORMATS[form] for schema in known if (form := schema.get("format")) in _FORMATS)
    shapes = [text for pattern in _limits(known, "pattern") for text in patterns.samples(pattern)]
    yield from sorted((text for text in shapes if text), key=lambda text: abs(len(text) - 6))
    for count in dict.fromkeys([len(word), *_counts(known, "minLength", "maxLength", _MAX_TEXT)]):
        yield (word * (count // len(word) + 1))[:count]
    yield from ("", "a", "0")


def _counts(known: list[Subschema], low: str, high: str, most: int) -> list[int]:
    """Counts at the limits and just beyond them."""
    near = [n for limit in map(int, _limits(known, low, high)) for n in (limit, limit + 1, limit - 1)]
    return [n for n in dict.fromkeys(near) if 0 <= n <= most]
