"""The comparison of two parameter schemas that differ; loaded only if some do."""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from osbctl.jsonschemas.bounded_validator import BoundedValidator, checked_tree
from osbctl.jsonschemas.comparison.candidates import COMBINATION, DESCRIBED, FORMAT, UNDECIDED, Candidate, PlacePair
from osbctl.jsonschemas.comparison.changes import SchemaChange, SchemaLevel
from osbctl.jsonschemas.comparison.differences import dropped_properties, plain_differences
from osbctl.jsonschemas.comparison.keywords import CHECKS, keywords_together
from osbctl.jsonschemas.comparison.secrets import Secrets
from osbctl.jsonschemas.comparison.subsumption import Subsumption
from osbctl.jsonschemas.comparison.wording import example, refused, undecided, unknown_before
from osbctl.jsonschemas.constraints import OBJECT, Constraints
from osbctl.jsonschemas.dialects import dialect_of
from osbctl.jsonschemas.schema_tree import SchemaTree
from osbctl.jsonschemas.value_generator import ValueGenerator
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue

MAX_CHANGES = 200
"""Changes reported of one pair of schemas; the rest is one line."""
_MAX_BASES = 3
_MAX_WHOLE = 40
"""Requests that are made up around one value, and values for a place around it."""


def compare(old: JsonValue, new: JsonValue) -> list[SchemaChange]:
    """All changes between two schemas that are not equal. Never raises."""
    try:
        return list(_compared(marshal.dumps((old, new), 2)))  # plans often share a schema
    except (RecursionError, ValueError):  # Depends on the caller's stack depth; do not cache.
        return [_incomparable("they are nested too deeply")]


def compare_added(new: JsonValue) -> list[SchemaChange]:
    """The one change of a schema that replaces none."""
    changes = compare(True, new)
    if all(change.level == "safe" for change in changes):
        return [SchemaChange("safe", "schema-added", None, (), "a schema was added; it refuses nothing")]
    for change in changes:
        if change.witness is not None and change.rule != FORMAT:  # a format is not enforced everywhere
            message = "a schema was added where none was; it refuses what was accepted"
            return [replace(change, level="breaking", rule="schema-added", pointer_old=None, message=message)]
    message = "a schema was added where none was; whether it refuses anything cannot be decided"
    return [SchemaChange("risky", "schema-added", None, (), message)]


@lru_cache(maxsize=1_000)
def _compared(schemas: bytes) -> tuple[SchemaChange, ...]:
    values = marshal.loads(schemas)  # noqa: S302 - our own bytes
    try:
        changes = _changes(*_trees(*values))
    except UndecidableError as error:
        return (_incomparable(str(error)),)
    message = "written differently; refuses nothing that was accepted"
    changes = changes or [SchemaChange("safe", "schema-wording", (), (), message)]
    return tuple(_cut(changes) if len(changes) > MAX_CHANGES else changes)


def _cut(changes: list[SchemaChange]) -> list[SchemaChange]:
    """The worst changes, and one that stands for the rest at its own worst level."""
    ranked = sorted(changes, key=lambda c: ("breaking", "risky", "safe").index(c.level))
    kept, rest = ranked[:MAX_CHANGES], ranked[MAX_CHANGES:]
    level: SchemaLevel = "safe" if rest[0].level == "safe" else "risky"
    rule = "schema-relaxed" if level == "safe" else UNDECIDED
    return [*kept, SchemaChange(level, rule, (), (), f"and {len(rest)} more differences", (f"{len(rest)} more",))]


def _incomparable(why: str) -> SchemaChange:
    return SchemaChange("risky", UNDECIDED, (), (), f"the schemas differ, but cannot be compared: {why}")


def _trees(old: JsonValue, new: JsonValue) -> list[SchemaTree]:
    """Both schemas. If neither names a draft, and one is read as draft-07, so is the other."""
    trees = []
    is_named = any(not isinstance(schema, dict) or "$schema" in schema for schema in (old, new))
    shared = None if is_named else max(dialect_of(old), dialect_of(new), key=lambda dialect: dialect.year)
    for side, value in (("old", old), ("new", new)):
        try:
            trees.append(checked_tree(value, shared))
        except UndecidableError as error:
            why = str(error)
            named = f"the {side} schema {why[3:]}" if why.startswith("it ") else f"of the {side} schema, {why}"
            raise UndecidableError(named) from None
    return trees


def _changes(old: SchemaTree, new: SchemaTree) -> list[SchemaChange]:
    validator = BoundedValidator()
    # OSB 2.17, Input Parameters Schema Object: the schema describes the `parameters` object.
    whole = PlacePair(Constraints(within=OBJECT).and_also(old.top), new.top)
    candidates = _unique(Subsumption(validator, CHECKS).compare(whole))
    secrets = Secrets(old, new)
    search = Counterexamples(validator, old, new)
    changes = [_judged(candidate, search, secrets) for candidate in candidates]
    changes += dropped_properties(old, new, {tuple(step.at for step in one.pair.steps) for one in candidates})
    return [*changes, *plain_differences(old, new, {one.at(one.keyword) for one in candidates}, secrets)]


def _unique(candidates: list[Candidate]) -> list[Candidate]:
    """The first for each rule and field."""
    return list({(one.rule, one.field): one for one in reversed(candidates)}.values())[::-1]


def _judged(candidate: Candidate, search: Counterexamples, secrets: Secrets) -> SchemaChange:
    """The change that a candidate stands for: breaking with a counterexample, risky without one."""
    whole, value = search.find(candidate) if candidate.rule != UNDECIDED else (None, None)
    level: SchemaLevel = "risky" if whole is None or candidate.rule == DESCRIBED else "breaking"
    if candidate.rule == DESCRIBED:
        message = unknown_before(candidate.pair.steps)
    elif whole is None:
        message = undecided(candidate, secrets)
    else:
        message = refused(candidate, value, secrets)
    rule = UNDECIDED if level == "risky" and candidate.rule == COMBINATION else candidate.rule
    old, new = candidate.pointer_old, candidate.at(candidate.keyword)
    shown = "" if whole is None else example(whole, secrets)
    return SchemaChange(level, rule, old, new, message, candidate.field, whole, shown)


class Counterexamples:
    """Searches within the budget of one validator, which confirms each counterexample on the whole schemas."""

    def __init__(self, validator: BoundedValidator, old: SchemaTree, new: SchemaTree) -> None:
        self.validator = validator
        self.values = ValueGenerator(validator)
        self.old, self.new = old, new

    def find(self, candidate: Candidate) -> tuple[dict[str, JsonValue] | None, JsonValue]:
        """A whole request, and the value at the candidate's place in it; None and None if there is none."""
        formats = candidate.keyword == "format"
        wholes = ((w, v) for v in self._local(candidate, formats) for w in self._around(candidate.pair, v))
        for whole, value in islice(wholes, _MAX_WHOLE if self.validator.left > 0 else 0):
            is_refused = isinstance(whole, dict) and self.validator.accepts(self.new.top, whole, formats) is False
            if is_refused and self.validator.accepts(self.old.top, whole, formats):
                return whole, value
        return None, None

    def _local(self, candidate: Candidate, formats: bool) -> Iterator[JsonValue]:
        """Values for the place itself, valid by its constraints, to which the keyword objects."""
        blamed = keywords_together(candidate.keyword)
        for value in self._tries(candidate):
            if all(self.validator.accepts(schema, value, formats) for schema in candidate.pair.old.known):
                objections = self.validator.objections(candidate.pair.new, value) or frozenset()
                if not objections.isdisjoint(blamed) or (objections and not candidate.keyword):
                    yield value

    def _tries(self, candidate: Candidate) -> Iterator[JsonValue]:
        old = candidate.pair.old
        yield from candidate.values
        if candidate.case:
            yield from self.values.candidates(candidate.case)
        yield from self.values.candidates(Constraints(old.and_also(candidate.pair.new).known, old.kinds))
        yield from self.values.candidates(old)

    def _around(self, pair: PlacePair, value: JsonValue) -> Iterator[JsonValue]:
        """Whole requests with the value in its place, made of values for the place around that both sides accept."""
        if pair.parent is None or pair.step is None:
            yield value
            return
        around = pair.parent
        bases = self.values.valid(around.old.and_also(around.new), _MAX_BASES)
        bases = (bases + self.values.valid(around.old, _MAX_BASES))[: _MAX_BASES + 1]
        is_key = isinstance(pair.step.at, str)
        for base in bases or [{} if is_key else []]:
            if is_key and isinstance(base, dict):
                yield from self._around(around, {**base, str(pair.step.at): value})
            elif not is_key and isinstance(base, list):
                yield from self._around(around, [value, *base[1:]])
