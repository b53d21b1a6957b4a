"""The places where a new schema may refuse what the old one accepted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from osbctl.jsonschemas.constraints import Constraints
from osbctl.jsonschemas.schema_tree import Side, Subschema
from osbctl.paths import JsonValue, Path

BOUND, LENGTH = "schema-bound-tightened", "schema-length-tightened"
COMBINATION, UNDECIDED = "schema-combination-narrowed", "schema-undecided"
FORBIDDEN, REQUIRED = "schema-property-forbidden", "schema-required-added"
ITEMS, FORMAT = "schema-items-narrowed", "schema-format-changed"
DESCRIBED = "schema-property-described"

RULES = {
    "type": "schema-type-narrowed",
    "enum": "schema-enum-narrowed",
    "const": "schema-const-added",
    "pattern": "schema-pattern-changed",
    "format": FORMAT,
    "required": REQUIRED,
    "properties": FORBIDDEN,
    "additionalProperties": FORBIDDEN,
    **dict.fromkeys(("items", "additionalItems", "prefixItems", "contains"), ITEMS),
    "uniqueItems": "schema-unique-items-added",
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), BOUND),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), LENGTH),
}
"""The rule for each keyword; any other keyword is a combination."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step from a value to a part of it; `fresh`: the key stands for all keys that no schema names."""

    kind: Literal["key", "index"]
    at: str | int
    fresh: bool = False

    @property
    def named(self) -> str:
        """A name that no other step has: a key, `[0]` for an item, `*` for all other keys."""
        if self.kind == "index" or self.fresh:
            return "*" if self.fresh else f"[{self.at}]"
        return f"={self.at}" if str(self.at).startswith(("*", "[", "=")) else str(self.at)


@dataclass(frozen=True, slots=True)
class PlacePair:
    """The constraints that the old schema sets for a value in a request, and a new schema for the same value."""

    old: Constraints
    new: Subschema
    parent: PlacePair | None = None
    step: Step | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The way from the top of the request to the value."""
        above = self.parent.steps if self.parent else ()
        return (*above, self.step) if self.step else above

    def enter(self, old: Constraints, new: Subschema, step: Step) -> PlacePair:
        """The pair for a part of the value."""
        return PlacePair(old, new, self, step)

    def candidate(self, keyword: str, *values: JsonValue, name: str = "", rule: str = "") -> Candidate:
        """This keyword of the new schema may refuse what the old accepted; `values` are worth a try."""
        return Candidate(rule or RULES.get(keyword, COMBINATION), keyword, self, values, name)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A keyword of the new schema that the old one was not shown to imply, not even under the constraints `case`."""

    rule: str
    keyword: str
    pair: PlacePair
    values: tuple[JsonValue, ...] = ()
    name: str = ""
    case: Constraints | None = None

    @property
    def pointer_new(self) -> Path:
        """The place of the keyword; the schema itself where no keyword decides."""
        return (*self.pair.new.pointer, self.keyword) if self.keyword else self.pair.new.pointer

    @property
    def field(self) -> Path:
        """The name of the candidate, as `SchemaChange.field` has it."""
        return (*with_steps(self.pointer_new, self.pair.steps), *([self.name] if self.name else []))

    def pointer_old(self, side: Side) -> Path:
        """The keyword, else the schema of the same value, else of the closest value around it."""
        pair: PlacePair | None = self.pair
        while pair:
            known = [s for s in pair.old.known if s.tree.side == side and isinstance(s.value, dict)]
            if pair is self.pair:
                known.sort(key=lambda schema: self.keyword not in schema.value)
                if known and self.keyword in known[0].value:
                    return (*known[0].pointer, self.keyword)
            if known:
                return known[0].pointer
            pair = pair.parent
        return ()


def with_steps(pointer: Path, steps: Sequence[Step]) -> Path:
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
