"""The places where a new schema may refuse what the old one accepted, and the messages about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from osbctl.jsonschemas.comparison.secrets import Secrets, cut
from osbctl.jsonschemas.constraints import Constraints
from osbctl.jsonschemas.schema_tree import Subschema
from osbctl.paths import JsonValue, Path
from osbctl.redaction import SECRET, may_be_secret_name

COMBINATION, UNDECIDED = "schema-combination-narrowed", "schema-undecided"
FORBIDDEN, REQUIRED = "schema-property-forbidden", "schema-required-added"
ITEMS, FORMAT = "schema-items-narrowed", "schema-format-changed"
DESCRIBED = "schema-property-described"

_KEYWORDS = {
    "schema-type-narrowed": "type",
    "schema-enum-narrowed": "enum",
    "schema-const-added": "const",
    "schema-pattern-changed": "pattern",
    "schema-unique-items-added": "uniqueItems",
    "schema-bound-tightened": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    "schema-length-tightened": "minLength maxLength minItems maxItems minProperties maxProperties",
    FORMAT: "format",
    REQUIRED: "required",
    FORBIDDEN: "properties additionalProperties",
    ITEMS: "items additionalItems prefixItems contains",
}
RULES = {keyword: rule for rule, keywords in _KEYWORDS.items() for keyword in keywords.split()}
"""The rule for each keyword; any other keyword is a combination."""


@dataclass(frozen=True, slots=True)
class PlacePair:
    """The constraints that the old schema sets for a value in a request, and a new schema for the same value."""

    old: Constraints
    new: Subschema
    parent: PlacePair | None = None
    at: str | int = ""
    """The key, or the index of an item, that leads from the parent to the value."""
    fresh: bool = False
    """The key stands for all keys that no schema names."""

    @property
    def steps(self) -> tuple[PlacePair, ...]:
        """The pairs on the way from the top of the request to the value."""
        return (*self.parent.steps, self) if self.parent else ()

    def pointer_old(self, keyword: str = "") -> Path:
        """The place of a keyword in the old schema; if it has none, the schema of the value, or of one around it."""
        known = [schema for schema in self.old.known if isinstance(schema.value, dict)]
        places = [(*schema.pointer, keyword) for schema in known if keyword in schema.value]
        around = self.parent.pointer_old() if self.parent else ()
        return [*places, *(schema.pointer for schema in known), around][0]

    def candidate(self, keyword: str, *values: JsonValue, name: str = "", rule: str = "") -> Candidate:
        """This keyword of the new schema may refuse what the old accepted; `values` may show that."""
        return Candidate(rule or RULES.get(keyword, COMBINATION), keyword, self, values, name)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A keyword of the new schema that the old one was not shown to imply, not even in a branch of it, the `case`."""

    rule: str
    keyword: str
    pair: PlacePair
    values: tuple[JsonValue, ...] = ()
    name: str = ""
    case: Constraints | None = None

    @property
    def pointer_new(self) -> Path:
        """The place of the keyword in the new schema; the schema itself if there is none."""
        return (*self.pair.new.pointer, *([self.keyword] if self.keyword else []))

    @property
    def field(self) -> Path:
        """The name of the candidate, as `SchemaChange.field` has it."""
        steps = tuple(_step_text(step.at, step.fresh) for step in self.pair.steps)
        is_spelled_out = steps == tuple(_spelled(self.pointer_new))
        return (*self.pointer_new, *(() if is_spelled_out else steps), *([self.name] if self.name else []))

    def undecided(self, secrets: Secrets) -> str:
        """The message if it was neither proved harmless nor shown to refuse a request."""
        where = _where(self.pair.steps)
        if self.rule == DESCRIBED:
            known = "was not described before and took any value; it is described now"
            return f"{where} {known}, so requests that use it may be refused"
        if self.keyword == "type" and self.rule == UNDECIDED:
            return f"{where}: the new draft does not accept 1.0 as an integer; whether requests hold such is not known"
        what = f"{where}: {self.keyword or 'the schema'} changed{self._because(secrets)}"
        return f"{what}; whether it refuses requests that were valid cannot be decided"

    def refused(self, value: JsonValue, secrets: Secrets) -> str:
        """The message if a counterexample proves it; `value` is the one at the candidate's place."""
        steps = self.pair.steps
        where = _where(steps)
        if self.rule == REQUIRED:
            return f'"{cut(self.name)}" is now required' + (f" in {where}" if steps else "")
        if self.rule == FORBIDDEN and not self.keyword:
            around = f"{_where(steps[:-1])} no longer may have other properties"
            return around if steps and steps[-1].fresh else f"{where} is no longer allowed"
        shown = SECRET if self._is_secret(secrets) else secrets.shown(value)
        condition = " where formats are enforced" if self.rule == FORMAT else ""
        return f"{where} no longer {'accepts' if steps else 'accept'} {shown}{self._because(secrets)}{condition}"

    def _because(self, secrets: Secrets) -> str:
        if not self.keyword:
            return ""
        value = self.pair.new.value.get(self.keyword)
        hide = self.keyword in ("enum", "const") and self._is_secret(secrets)
        is_short = isinstance(value, str | int | float | list)
        return f" ({self.keyword}: {secrets.shown(value)})" if is_short and not hide else f" ({self.keyword})"

    def _is_secret(self, secrets: Secrets) -> bool:
        pair = self.pair
        return any(may_be_secret_name(str(step.at)) for step in pair.steps) or secrets.at(pair.new, *pair.old.known)


def _step_text(at: str | int, fresh: bool = False) -> str:
    """The name of a step, which no other has: a key, `[0]` for an item, `*` for all other keys."""
    if isinstance(at, int) or fresh:
        return "*" if fresh else f"[{at}]"
    return f"={at}" if at.startswith(("*", "[", "=")) else at


def subject(names: Sequence[str]) -> str:
    """The name of a value in a request: `"nodes[0].size"`, or `the parameters` for the whole."""
    return f'"{cut(".".join(names).replace(".[", "["))}"' if names else "the parameters"


def _where(steps: Sequence[PlacePair]) -> str:
    return subject([f"[{step.at}]" if isinstance(step.at, int) else "*" if step.fresh else step.at for step in steps])


def _spelled(pointer: Path) -> Iterator[str]:
    """The steps in a request that a pointer names by itself; all items stand for the first."""
    for keyword, step in pairwise((*pointer, "")):
        if keyword == "properties":
            yield _step_text(str(step))
        elif keyword in ("items", "prefixItems"):
            yield _step_text(step if isinstance(step, int) else 0)
        elif keyword == "additionalProperties":
            yield _step_text("", fresh=True)
