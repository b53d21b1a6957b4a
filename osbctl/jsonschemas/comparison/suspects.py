"""What the prover hands on: the places where it could not show that nothing is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from osbctl.jsonschemas.comparison.facts import Facts
from osbctl.jsonschemas.roots import Subschema
from osbctl.paths import JsonValue, Path

BOUND, LENGTH = "schema-bound-tightened", "schema-length-tightened"
COMBINATION, UNDECIDED = "schema-combination-narrowed", "schema-undecided"
FORBIDDEN, REQUIRED = "schema-property-forbidden", "schema-required-added"
ITEMS, FORMAT = "schema-items-narrowed", "schema-format-changed"

RULES = {
    "type": "schema-type-narrowed",
    "enum": "schema-enum-narrowed",
    "const": "schema-const-added",
    "pattern": "schema-pattern-changed",
    "format": FORMAT,
    "required": REQUIRED,
    "properties": FORBIDDEN,
    "additionalProperties": FORBIDDEN,
    "items": ITEMS,
    "additionalItems": ITEMS,
    "prefixItems": ITEMS,
    "contains": ITEMS,
    "uniqueItems": "schema-unique-items-added",
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), BOUND),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), LENGTH),
}
"""The rule for each keyword; any other keyword is a combination."""


@dataclass(frozen=True, slots=True)
class Step:
    """How a value is reached from the one around it.

    `fresh`: the key stands for all keys that no schema names, and that match `pattern` if there is one. `unknown`: the
    old schema said nothing of this property.
    """

    kind: Literal["key", "index"]
    at: str | int
    fresh: bool = False
    unknown: bool = False
    pattern: str = ""

    @property
    def named(self) -> str:
        """What no other step is called: a key, `[0]` for an item, `*` for all other keys, their pattern behind it."""
        if self.kind == "index":
            return f"[{self.at}]"
        if self.fresh:
            return f"*{self.pattern}"
        return f"={self.at}" if str(self.at).startswith(("*", "[", "=")) else str(self.at)


@dataclass(frozen=True, slots=True)
class PlacePair:
    """What the old schema says of a value in a request, and a new schema for the same value."""

    facts: Facts
    new: Subschema
    parent: PlacePair | None = None
    step: Step | None = None

    def steps(self) -> list[Step]:
        """From the top of the request to the value."""
        above = self.parent.steps() if self.parent else []
        return [*above, self.step] if self.step else above

    def enter(self, facts: Facts, new: Subschema, step: Step) -> PlacePair:
        """The pair for a part of the value."""
        return PlacePair(facts, new, self, step)

    def at(self, new: Subschema) -> PlacePair:
        """The same value, and another new schema for it."""
        return PlacePair(self.facts, new, self.parent, self.step)

    def suspect(self, keyword: str, *values: JsonValue, name: str = "", rule: str = "") -> Suspect:
        """This keyword of the new schema may refuse what the old accepted; `values` are worth a try."""
        return Suspect(rule or RULES.get(keyword, COMBINATION), keyword, self, values, name)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A keyword of the new schema that the old one was not shown to imply; `case`: not even under these facts."""

    rule: str
    keyword: str
    pair: PlacePair
    values: tuple[JsonValue, ...] = ()
    name: str = ""
    case: Facts | None = None

    @property
    def pointer_new(self) -> Path:
        """Where the keyword stands; a `false` schema has none, so it is the place itself."""
        return self.pair.new.pointer + ((self.keyword,) if self.pair.new.value is not False else ())

    @property
    def field(self) -> Path:
        """Names the suspect, as `SchemaChange.field` does."""
        return (*named(self.pointer_new, self.pair.steps()), *([self.name] if self.name else []))

    def pointer_old(self, side: str) -> Path | None:
        """The keyword, else the schema of the same value, else of the closest value around it."""
        pair: PlacePair | None = self.pair
        while pair:
            known = [s for s in pair.facts.known if s.side == side and isinstance(s.value, dict)]
            for schema in known if pair is self.pair else ():
                if self.keyword in schema.value:
                    return (*schema.pointer, self.keyword)
            if known:
                return known[0].pointer
            pair = pair.parent
        return ()


def named(pointer: Path, steps: Sequence[Step]) -> Path:
    """`pointer`, and behind it the steps in a request, unless it spells out just these."""
    names = tuple(step.named for step in steps)
    return pointer if names == tuple(_spelled(pointer)) else (*pointer, *names)


def _spelled(pointer: Path) -> Iterator[str]:
    """The steps in a request that a pointer names by itself; all items stand for the first."""
    for keyword, step in pairwise((*pointer, "")):
        if keyword == "properties":
            yield Step("key", step).named
        elif keyword in ("items", "prefixItems"):
            yield Step("index", step if isinstance(step, int) else 0).named
        elif keyword == "additionalProperties":
            yield Step("key", "", fresh=True).named
