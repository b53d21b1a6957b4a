"""The comparison of two parameter schemas that differ; loaded where some do."""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from osbctl.jsonschemas.bounded_validator import BoundedValidator, check_schema
from osbctl.jsonschemas.comparison.annotations import default_changes, dropped_changes, wording_changes
from osbctl.jsonschemas.comparison.candidates import COMBINATION, DESCRIBED, FORMAT, UNDECIDED, Candidate, PlacePair
from osbctl.jsonschemas.comparison.changes import ABSENT, Absent, SchemaChange, SchemaLevel
from osbctl.jsonschemas.comparison.counterexamples import Counterexamples
from osbctl.jsonschemas.comparison.keywords import CHECKS
from osbctl.jsonschemas.comparison.secrets import Secrets
from osbctl.jsonschemas.comparison.subsumption import Subsumption
from osbctl.jsonschemas.comparison.wording import example, refused, relaxed, undecided, unknown_before
from osbctl.jsonschemas.constraints import OBJECT, Constraints
from osbctl.jsonschemas.dialects import dialect_of
from osbctl.jsonschemas.schema_tree import SchemaTree, Side
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue

MAX_CHANGES = 200
"""Changes reported of one pair of schemas; the rest is one line."""


def compare(old: JsonValue, new: JsonValue) -> list[SchemaChange]:
    """All changes between two schemas that are not equal. Never raises."""
    try:
        return list(_compared(marshal.dumps((old, new), 2)))  # plans often share a schema
    except (RecursionError, ValueError):  # Depends on the caller's stack depth; do not cache.
        return [_incomparable("they are nested too deeply")]


def compare_added(new: JsonValue) -> list[SchemaChange]:
    """The one change of a schema where none was."""
    changes = compare(True, new)
    if all(change.level == "safe" for change in changes):
        return [SchemaChange("safe", "schema-added", None, (), "a schema was added; it refuses nothing")]
    for change in changes:
        if change.witness is not ABSENT and change.rule != FORMAT:  # a format is not enforced everywhere
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
    # Written otherwise, or under another draft, and shown to be the same both ways.
    changes = changes or [SchemaChange("safe", "schema-wording", (), (), "written differently; accepts the same")]
    return tuple(_cut(changes) if len(changes) > MAX_CHANGES else changes)


def _incomparable(why: str) -> SchemaChange:
    return SchemaChange("risky", UNDECIDED, (), (), f"the schemas differ, but cannot be compared: {why}")


def _trees(old: JsonValue, new: JsonValue) -> list[SchemaTree]:
    """Both schemas. Where neither names a draft, and one is read as draft-07, so is the other."""
    trees = []
    sides: tuple[Side, Side] = "old", "new"
    for side, value, other in zip(sides, (old, new), (new, old), strict=True):
        try:
            tree = SchemaTree(side, value)
            if all(isinstance(schema, dict) and "$schema" not in schema for schema in (value, other)):
                tree.dialect = max(tree.dialect, dialect_of(other), key=lambda dialect: dialect.year)
            check_schema(tree)
        except UndecidableError as error:
            raise UndecidableError(f"of the {side} schema, {error}") from None
        trees.append(tree)
    return trees


def _changes(old: SchemaTree, new: SchemaTree) -> list[SchemaChange]:
    validator = BoundedValidator()
    candidates = _unique(Subsumption(validator, CHECKS).compare(_whole(old, new)))
    secrets = Secrets(old, new)
    search = Counterexamples(validator, old, new)
    changes = [_judged(candidate, search, secrets) for candidate in candidates]
    changes += default_changes(old, new, secrets)
    changes += dropped_changes(old, new, {tuple(step.at for step in one.pair.steps) for one in candidates})
    changes += _relaxed(old, new, candidates, secrets, any_told=bool(changes))
    return [*changes, *wording_changes(old, new)]


def _whole(old: SchemaTree, new: SchemaTree) -> PlacePair:
    """OSB 2.17, Input Parameters Schema Object: what the schema describes is the `parameters` object."""
    return PlacePair(Constraints(within=OBJECT).and_also(old.top), new.top)


def _unique(candidates: list[Candidate]) -> list[Candidate]:
    """One for each rule and field; one at most for the question whether 1.0 is an integer."""
    found: dict[object, Candidate] = {}
    for one in candidates:
        found.setdefault((one.rule, () if one.rule == UNDECIDED and one.keyword else one.field), one)
    return list(found.values())


def _judged(candidate: Candidate, search: Counterexamples, secrets: Secrets) -> SchemaChange:
    whole, value = search.find(candidate) if candidate.rule != UNDECIDED else (ABSENT, ABSENT)
    if candidate.rule == DESCRIBED:
        return _change("risky", candidate, unknown_before(candidate.pair.steps), secrets, whole)
    if whole is ABSENT:
        return _change("risky", candidate, undecided(candidate, secrets), secrets)
    return _change("breaking", candidate, refused(candidate, value, secrets), secrets, whole)


def _change(
    level: SchemaLevel, candidate: Candidate, message: str, secrets: Secrets, witness: JsonValue | Absent = ABSENT
) -> SchemaChange:
    rule = UNDECIDED if level == "risky" and candidate.rule == COMBINATION else candidate.rule
    old, new = candidate.pointer_old("old"), candidate.pointer_new
    return SchemaChange(level, rule, old, new, message, candidate.field, witness, example(witness, secrets))


def _relaxed(
    old: SchemaTree, new: SchemaTree, candidates: list[Candidate], secrets: Secrets, *, any_told: bool
) -> Iterator[SchemaChange]:
    """Relaxed constraints of the new schema, except at reported locations.

    Where nothing is reported at all, and it was not shown that nothing more is allowed, one change says so.
    """
    reported = {(*one.pair.steps, one.rule, one.name) for one in candidates}
    try:
        backward = _unique(Subsumption(BoundedValidator(), CHECKS).compare(_whole(new, old)))
    except UndecidableError:
        backward = []
        if not any_told:
            message = "refuses nothing that was accepted; whether it accepts more cannot be decided"
            yield SchemaChange("safe", "schema-relaxed", (), (), message)
    for one in backward:
        if (*one.pair.steps, one.rule, one.name) not in reported and not (one.rule == DESCRIBED and any_told):
            # Seen from the other end: what is "old" to the candidate is the new schema.
            pointer = one.pointer_old("new")
            yield SchemaChange("safe", "schema-relaxed", one.pointer_new, pointer, relaxed(one, secrets), one.field)


def _cut(changes: list[SchemaChange]) -> list[SchemaChange]:
    """The worst changes, and one that stands for the rest at its own worst level."""
    ranked = sorted(changes, key=lambda c: ("breaking", "risky", "safe").index(c.level))
    kept, rest = ranked[:MAX_CHANGES], ranked[MAX_CHANGES:]
    level: SchemaLevel = "safe" if rest[0].level == "safe" else "risky"
    rule = "schema-relaxed" if level == "safe" else UNDECIDED
    return [*kept, SchemaChange(level, rule, (), (), f"and {len(rest)} more differences", (f"{len(rest)} more",))]
