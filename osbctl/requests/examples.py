"""Example requests made from a plan's parameter schema, each proved by the schema before it is shown.

For each place, values are tried in the order that a reader would like best (the author's default and examples,
listed values, then something plain that meets the bounds), and the first that the schemas of the place accept is
taken. The values of `ValueGenerator`, made for the edges, come last. Patterns are run by the bounded validator
alone, so that no catalog can make this slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, takewhile
from typing import Any

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.bounded_validator import BoundedValidator, checked_tree
from osbctl.jsonschemas.comparison.changes import ABSENT, Absent
from osbctl.jsonschemas.constraints import OBJECT, Constraints, items
from osbctl.jsonschemas.schema_tree import SchemaTree, Subschema
from osbctl.jsonschemas.value_generator import FORMATS, ValueGenerator, numbers
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue
from osbctl.secrecy import looks_secret

MAX_VALUES = 2_000
"""Values made and places looked at for one example; a schema that refers to itself has no end."""

MAX_DEPTH = 12
_MAX_OPTIONAL = 100
_KINDS = ("object", "string", "integer", "fraction", "boolean", "array", "null")
_MARKS = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties"),
    "array": ("items", "minItems", "uniqueItems", "prefixItems"),
    "integer": ("minimum", "maximum", "multipleOf"),
    "string": ("pattern", "format", "minLength", "maxLength"),
}
"""Keywords that tell which kind is meant where no `type` does."""


@dataclass(frozen=True, slots=True)
class Examples:
    """The smallest and the fullest request that a schema accepts; None, and why, where none was found."""

    smallest: dict[str, JsonValue] | None = None
    fullest: dict[str, JsonValue] | None = None
    why: str = ""


def examples(schema: JsonValue) -> Examples:
    """Examples for a parameter schema (draft-04 to 2020-12; see `dialect_of`); never raises."""
    try:
        tree = checked_tree("new", schema)
    except UndecidableError as error:
        return Examples(why=f"no example can be made for this schema: {error}")
    smallest = _made(tree, full=False)
    fullest = _made(tree, full=True)
    if smallest is None and fullest is None:
        return Examples(why="no request was found that this schema accepts")
    return Examples(fullest if smallest is None else smallest, smallest if fullest is None else fullest)


def _made(tree: SchemaTree, *, full: bool) -> dict[str, JsonValue] | None:
    maker = _Maker(BoundedValidator(), full)
    value = maker.value(Constraints(within=OBJECT).and_also(tree.top), "", 0)
    proved = isinstance(value, dict) and BoundedValidator().accepts(tree.top, value, formats=True)
    return value if proved and isinstance(value, dict) else None


class _Maker:
    def __init__(self, validator: BoundedValidator, full: bool) -> None:
        self.full = full
        self.validator = validator
        self.values = ValueGenerator(self.validator)
        self.left = MAX_VALUES
        self.under_way: set[Any] = set()

    def value(self, constraints: Constraints, name: str, depth: int) -> JsonValue | Absent:
        """The best value for a place, where `name` is the key that it stands under; none within itself."""
        self.left -= 1  # a place costs as much as a value: branches and references multiply
        if self.left < 0 or depth > MAX_DEPTH or (constraints.known and constraints.key in self.under_way):
            return ABSENT
        self.under_way.add(constraints.key)
        try:
            tries = takewhile(lambda _: self.left > 0, self._tries(constraints, name, depth))
            return next(filter(partial(self._fits, constraints), tries), ABSENT)
        finally:
            self.under_way.discard(constraints.key)

    def _fits(self, constraints: Constraints, value: JsonValue) -> bool:
        self.left -= 1
        return self.left >= 0 and all(
            self.validator.accepts(schema, value, formats=True) for schema in constraints.known
        )

    def _tries(self, constraints: Constraints, name: str, depth: int) -> Iterator[JsonValue]:
        known = [schema for schema in constraints.known if isinstance(schema.value, dict)]
        kinds = _kinds(constraints, known)
        written = [] if looks_secret(name) else list(_written(known))
        composed = kinds[:1] in (["object"], ["array"])
        if not composed:
            yield from written
        yield from chain.from_iterable(schema.listed or () for schema in known)
        if self.full:
            yield from self._of_branches(constraints, known, name, depth)
        for kind in kinds:
            yield from self._of_kind(kind, constraints, known, name, depth)
        if not self.full:
            yield from self._of_branches(constraints, known, name, depth)
        if composed:
            yield from written
        yield from self.values.valid(constraints)

    def _of_branches(
        self, constraints: Constraints, known: list[Subschema], name: str, depth: int
    ) -> Iterator[JsonValue]:
        for schema in known:
            for branch in (*schema.children("anyOf"), *schema.children("oneOf")):
                more = constraints.and_also(branch)
                if set(more.known) != set(constraints.known):
                    value = self.value(more, name, depth + 1)
                    if value is not ABSENT:
                        yield value

    def _of_kind(
        self, kind: str, constraints: Constraints, known: list[Subschema], name: str, depth: int
    ) -> Iterator[JsonValue]:
        if kind == "object":
            yield from self._objects(constraints, depth)
        elif kind == "array":
            yield from self._arrays(constraints, known, name, depth)
        elif kind == "string":
            yield from _strings(known, name)
        elif kind in ("integer", "fraction"):
            yield from numbers(known)
            yield 1
        elif kind == "boolean":
            yield from (False, True)
        else:
            yield None

    def _objects(self, constraints: Constraints, depth: int) -> Iterator[JsonValue]:
        described = constraints.names()
        required = constraints.required()
        least = self._with({}, constraints, [*(n for n in described if n in required), *sorted(required)], depth)
        optional = [n for n in described if n not in least][:_MAX_OPTIONAL]
        if self.full:
            everything = self._with(least, constraints, optional, depth)
            yield everything
            grown = least
            for key in [key for key in everything if key not in least]:  # some of them rule others out
                more = {**grown, key: everything[key]}
                if self._fits(constraints, more) or not self._fits(constraints, grown):
                    grown = more
            yield grown
        yield least
        fewest = int(constraints.least("minProperties"))
        if fewest > len(least):
            more_names = [*optional, *(f"name{i + 1}" for i in range(min(fewest, _MAX_OPTIONAL)))]
            filled = self._with(least, constraints, more_names[: fewest - len(least)], depth)
            yield filled

    def _with(
        self, value: dict[str, JsonValue], constraints: Constraints, more: list[str], depth: int
    ) -> dict[str, JsonValue]:
        """`value` with those of these properties that have a value."""
        fresh = [name for name in dict.fromkeys(more) if name not in value]
        found = {name: self.value(constraints.at_key(name), name, depth + 1) for name in fresh}
        return {**value, **{name: inner for name, inner in found.items() if inner is not ABSENT}}

    def _arrays(self, constraints: Constraints, known: list[Subschema], name: str, depth: int) -> Iterator[JsonValue]:
        fewest = int(constraints.least("minItems"))
        fixed = max((len(items(schema)[0]) for schema in known), default=0)
        count = max(fewest, fixed, 1) if self.full else fewest
        made = [self.value(constraints.at_index(i), name, depth + 1) for i in range(min(count, 20))]
        yield [value for value in made if value is not ABSENT]


def _kinds(constraints: Constraints, known: list[Subschema]) -> list[str]:
    """The kinds to try; first the one that the keywords speak of."""
    used = {word for schema in known for word in schema.value if schema.get(word) is not None}
    marked = [kind for kind, words in _MARKS.items() if not used.isdisjoint(words)]
    return [kind for kind in dict.fromkeys([*(marked or ["string"]), *_KINDS]) if kind in constraints.kinds]


def _written(known: list[Subschema]) -> Iterator[JsonValue]:
    """What the author wrote as an example of a value."""
    for schema in known:
        if "default" in schema.value:
            yield schema.value["default"]
        shown = schema.value.get("examples")
        yield from shown if isinstance(shown, list) else ()
        if "example" in schema.value:
            yield schema.value["example"]


def _strings(known: list[Subschema], name: str) -> Iterator[JsonValue]:
    forms = [FORMATS[form] for schema in known if (form := schema.get("format")) in FORMATS]
    shapes = [text for schema in known if isinstance(p := schema.get("pattern"), str) for text in patterns.texts(p)]
    word = "change-me" if looks_secret(name) else "text"
    fewest = max((int(schema.get("minLength") or 0) for schema in known), default=0)
    limits = [int(schema.get("maxLength")) for schema in known if schema.get("maxLength") is not None]
    long = (word * (min(fewest, 10_000) // len(word) + 1))[: max(fewest, len(word))]
    yield from forms
    yield from sorted((text for text in shapes if text), key=lambda text: abs(len(text) - 6))
    yield long[: min(limits, default=len(long))]
    yield from shapes
