"""The places where a new schema may refuse what the old one accepted, and messages about them without secrets.

Schemas that assert the same have none (`same_schema`).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from osbctl.jsonschemas.constraints import Constraints
from osbctl.jsonschemas.dialects import DRAFT_4
from osbctl.jsonschemas.schema_change import COMBINATION, DESCRIBED, FORBIDDEN, FORMAT, ITEMS, REQUIRED, UNDECIDED
from osbctl.jsonschemas.schema_tree import SchemaTree, Subschema
from osbctl.jsonschemas.secrets import is_at_or_below, secret_literals, secret_ref_targets
from osbctl.messages import SECRET, may_be_secret_name, redact, redact_text
from osbctl.paths import JsonPath, JsonValue, same_value
from osbctl.text import ELLIPSIS, escape_line

MAX_TEXT = 60


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


def redact_and_cut(text: str, max_length: int = MAX_TEXT) -> str:
    """`text` without secrets, safe to print, at most so many characters."""
    plain = escape_line(redact_text(text)[: max_length + 1])
    return plain if len(plain) <= max_length else plain[: max_length - 1] + ELLIPSIS


class Secrets:
    """Redaction of two schemas and their example requests."""

    def __init__(self, *trees: SchemaTree) -> None:
        self._places = {tree: secret_ref_targets(tree.value) for tree in trees}
        self._known = frozenset().union(*(secret_literals(tree.value) for tree in trees))

    def may_be_secret(self, *places: Subschema, steps: JsonPath = ()) -> bool:
        """Return whether the values that one of these places speaks of, at `steps` in a request, may be secrets."""
        paths = [(place.path, self._places[place.tree]) for place in places]
        is_secret = any(is_at_or_below(path, secret) or any(map(may_be_secret_name, path)) for path, secret in paths)
        return is_secret or any(map(may_be_secret_name, steps))

    def format_value(self, value: JsonValue, max_length: int = MAX_TEXT) -> str:
        """A value out of a schema or a request as one line of JSON: cut short, escaped, without secrets."""
        # As many entries as may be visible: a long list is shown once for each of its entries.
        if isinstance(value, dict):
            value = {key: value[key] for key in list(value)[:max_length]}
        elif isinstance(value, list):
            value = value[:max_length]
        return redact_and_cut(json.dumps(redact(value, self._known), ensure_ascii=False), max_length)


@dataclass(frozen=True, slots=True)
class PlacePair:
    """The constraints that the old schema sets for a value in a request, and a new schema for the same value."""

    old: Constraints
    new: Subschema
    parent: "PlacePair | None" = None
    at: str | int = ""
    """The key, or the index of an item, that leads from the parent to the value."""
    is_wildcard: bool = False
    """The key stands for all keys that no schema names."""

    @property
    def pairs_from_top(self) -> "tuple[PlacePair, ...]":
        """The pairs on the way from the top of the request to the value."""
        return (*self.parent.pairs_from_top, self) if self.parent else ()

    @property
    def request_path(self) -> tuple[str, ...]:
        """The steps from the top of the request to the value, as messages show them."""
        steps = self.pairs_from_top
        return tuple(f"[{p.at}]" if isinstance(p.at, int) else "*" if p.is_wildcard else p.at for p in steps)

    def old_path(self, keyword: str = "") -> JsonPath:
        """The place of a keyword in the old schema; if it has none, the schema of the value, or of one around it."""
        known = [schema for schema in self.old.known if isinstance(schema.value, dict)]
        places = [(*schema.path, keyword) for schema in known if keyword in schema.value]
        around = self.parent.old_path() if self.parent else ()
        return [*places, *(schema.path for schema in known), around][0]

    def make_candidate(self, keyword: str, *values: JsonValue, name: str = "", rule: str = "") -> "Candidate":
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
    def new_path(self) -> JsonPath:
        """The place of the keyword in the new schema; the schema itself if there is none."""
        return (*self.pair.new.path, *([self.keyword] if self.keyword else []))

    @property
    def property_places(self) -> set[JsonPath]:
        """The places at which the new schema describes the properties on the way from the top to the value."""
        return {(*pair.parent.new.path, "properties", pair.at) for pair in self.pair.pairs_from_top if pair.parent}

    @property
    def field(self) -> JsonPath:
        """The name of the candidate, as `SchemaChange.field` has it."""
        steps = tuple(_format_step(step.at, step.is_wildcard) for step in self.pair.pairs_from_top)
        return (*add_steps(self.new_path, steps), *([self.name] if self.name else []))

    def undecided_message(self, secrets: Secrets) -> str:
        """The message if it was neither proved harmless nor shown to refuse a request."""
        where = format_path(self.pair.request_path)
        if self.rule == DESCRIBED:
            known = "was not described before and took any value; it is described now"
            return f"{where} {known}, so requests that use it may be refused"
        what = f"{where}: {self.keyword or 'the schema'} changed{self._keyword_suffix(secrets)}"
        if self.keyword and self.rule == UNDECIDED:
            return f"{what}; to draft-04, 1.0 is not an integer; whether requests hold such numbers is not known"
        return f"{what}; whether it refuses requests that were valid cannot be decided"

    def refusal_message(self, value: JsonValue, secrets: Secrets) -> str:
        """The message if a counterexample proves it; `value` is the one at the candidate's place."""
        steps = self.pair.pairs_from_top
        where = format_path(self.pair.request_path)
        if self.rule == REQUIRED:
            return f'"{redact_and_cut(self.name)}" is now required' + (f" in {where}" if steps else "")
        if self.rule == FORBIDDEN and not self.keyword:
            around = f"{format_path(self.pair.request_path[:-1])} no longer may have other properties"
            return around if steps and steps[-1].is_wildcard else f"{where} is no longer allowed"
        shown = SECRET if self._is_secret(secrets) else secrets.format_value(value)
        condition = " where formats are enforced" if self.rule == FORMAT else ""
        return f"{where} no longer {'accepts' if steps else 'accept'} {shown}{self._keyword_suffix(secrets)}{condition}"

    def _keyword_suffix(self, secrets: Secrets) -> str:
        if not self.keyword:
            return ""
        value = self.pair.new.value.get(self.keyword)
        hide = self.keyword in ("enum", "const") and self._is_secret(secrets)
        is_short = isinstance(value, str | int | float | list)
        return f" ({self.keyword}: {secrets.format_value(value)})" if is_short and not hide else f" ({self.keyword})"

    def _is_secret(self, secrets: Secrets) -> bool:
        return secrets.may_be_secret(self.pair.new, *self.pair.old.known, steps=self.pair.request_path)


def _format_step(step: str | int, is_wildcard: bool = False) -> str:
    """The name of a step, which no other has: a key, `[0]` for an item, `*` for all other keys."""
    if isinstance(step, int) or is_wildcard:
        return "*" if is_wildcard else f"[{step}]"
    return f"={step}" if step.startswith(("*", "[", "=")) else step


def format_path(steps: Sequence[str]) -> str:
    """The name of a value in a request: `"nodes[0].size"`, or `the parameters` for the whole."""
    return f'"{redact_and_cut(".".join(steps).replace(".[", "["))}"' if steps else "the parameters"


def format_change(before: str, after: str) -> str:
    """How one value became the other, behind `changed`: two that are shown alike are secrets."""
    return f" {SECRET}" if before == after else f" from {before} to {after}"


def add_steps(path: JsonPath, steps: tuple[str, ...]) -> JsonPath:
    """The path of a keyword, and the steps of a request that lead there unless the path names them by itself."""
    return path if steps == tuple(_steps_from_path(path)) else (*path, *steps)


def _steps_from_path(path: JsonPath) -> Iterator[str]:
    """The steps in a request that a path names by itself; all items stand for the first."""
    for keyword, part in pairwise((*path, "")):
        if keyword == "properties":
            yield _format_step(str(part))
        elif keyword in ("items", "prefixItems"):
            yield _format_step(part if isinstance(part, int) else 0)
        elif keyword == "additionalProperties":
            yield _format_step("", is_wildcard=True)


_ABSENT = object()
"""Stands for a keyword that a schema does not have."""


def same_schema(left: Subschema, right: Subschema, *keywords: str) -> bool:
    """Return whether both schemas assert the same: equal but for annotations, order and the place of definitions.

    `keywords`: compare only these. Each is read as its own draft does.
    """
    todo = [(left, right, keywords)]
    # Pairs to which references lead back need no second look: each step in the loop enters a smaller part of the value.
    seen: set[tuple[Subschema, Subschema]] = set()
    while todo:
        left, right, keywords = todo.pop()
        if not keywords:
            left, right = left.target, right.target
            if (left, right) in seen:
                continue
            seen.add((left, right))
        parts, others = (
            {steps: part for steps, part in node.applied.items() if not keywords or steps[0] in keywords}
            for node in (left, right)
        )
        if parts.keys() != others.keys() or not _same_literals(left, right, keywords):
            return False
        todo += [(part, others[steps], ()) for steps, part in parts.items()]
    return True


def _same_literals(left: Subschema, right: Subschema, keywords: tuple[str, ...]) -> bool:
    if isinstance(left.value, bool) or isinstance(right.value, bool):
        return left.value is right.value
    if (left.tree.dialect == DRAFT_4) != (right.tree.dialect == DRAFT_4) and "integer" in (left.get("type") or ()):
        return False  # is 1.0 one?
    words = keywords or left.literals.keys() | right.literals.keys()
    return all(same_value(left.literals.get(word, _ABSENT), right.literals.get(word, _ABSENT)) for word in words)
