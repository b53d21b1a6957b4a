"""The places where a new schema may refuse what the old one accepted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from osbctl.jsonschemas.constraints import Constraints
from osbctl.jsonschemas.schema_tree import Subschema
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
    """One step from a value to a part of it: a key, or the index of an item."""

    at: str | int
    fresh: bool = False
    """The key stands for all keys that no schema names."""

    @property
    def named(self) -> str:
        """A name that no other step has: a key, `[0]` for an item, `*` for all other keys."""
        if isinstance(self.at, int) or self.fresh:
            return "*" if self.fresh else f"[{self.at}]"
        return f"={self.at}" if self.at.startswith(("*", "[", "=")) else self.at


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

    @property
    def pointer_old(self) -> Path:
        """The old schema of the value, else that of the closest value around it."""
        known = [schema.pointer for schema in self.old.known if isinstance(schema.value, dict)]
        around = self.parent.pointer_old if self.parent else ()
        return known[0] if known else around

    def enter(self, old: Constraints, new: Subschema, step: Step) -> PlacePair:
        """The pair for a part of the value."""
        return PlacePair(old, new, self, step)

    def candidate(self, keyword: str, *values: JsonValue, name: str = "", rule: str = "") -> Candidate:
        """This keyword of the new schema may refuse what the old accepted; `values` may show that."""
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

    def at(self, keyword: str) -> Path:
        """The place of a keyword of the new schema; the schema itself if it is empty."""
        return (*self.pair.new.pointer, keyword) if keyword else self.pair.new.pointer

    @property
    def pointer_old(self) -> Path:
        """The place of the keyword in the old schema; if it has none, the schema of the value, or of one around it."""
        for schema in self.pair.old.known:
            if isinstance(schema.value, dict) and self.keyword in schema.value:
                return (*schema.pointer, self.keyword)
        return self.pair.pointer_old

    @property
    def field(self) -> Path:
        """The name of the candidate, as `SchemaChange.field` has it."""
        pointer = self.at(self.keyword)
        steps = tuple(step.named for step in self.pair.steps)
        is_spelled_out = steps == tuple(_spelled(pointer))
        return (*pointer, *(() if is_spelled_out else steps), *([self.name] if self.name else []))


def _spelled(pointer: Path) -> Iterator[str]:
    """The steps in a request that a pointer names by itself; all items stand for the first."""
    for keyword, step in pairwise((*pointer, "")):
        if keyword == "properties":
            yield Step(str(step)).named
        elif keyword in ("items", "prefixItems"):
            yield Step(step if isinstance(step, int) else 0).named
        elif keyword == "additionalProperties":
            yield "*"
