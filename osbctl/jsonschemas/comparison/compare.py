"""The comparison of two parameter schemas that differ; loaded where some do."""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

from osbctl.jsonschemas.bounded_validator import BoundedValidator, check_schema
from osbctl.jsonschemas.comparison.annotations import default_changes, dropped_changes, wording_changes
from osbctl.jsonschemas.comparison.candidates import COMBINATION, DESCRIBED, UNDECIDED, Candidate, PlacePair
from osbctl.jsonschemas.comparison.changes import ABSENT, Absent, SchemaChange, SchemaLevel
from osbctl.jsonschemas.comparison.counterexamples import Counterexamples
from osbctl.jsonschemas.comparison.keywords import CHECKS
from osbctl.jsonschemas.comparison.secrets import Secrets
from osbctl.jsonschemas.comparison.subsumption import Subsumption
from osbctl.jsonschemas.comparison.wording import example, refused, relaxed, undecided, unknown_before
from osbctl.jsonschemas.constraints import OBJECT, Constraints
from osbctl.jsonschemas.schema_tree import SchemaTree, Side
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue

MAX_CHANGES = 200
"""Changes reported of one pair of schemas; the rest is one line."""


def compare(old: JsonValue, new: JsonValue) -> list[SchemaChange]:
    """All changes between two schemas that are not equal. Never raises."""
    try:
        before, after = _trees(old, new)
        # Plans often have the same parameters under other titles.
        found = _compared(marshal.dumps((before.assertions, after.assertions), 2))
    except RecursionError:  # Depends on the caller's stack depth; do not cache.
        found = "they are nested too deeply"
    except UndecidableError as error:
        found = str(error)
    if isinstance(found, str):
        return [SchemaChange("risky", UNDECIDED, (), (), f"the schemas differ, but cannot be compared: {found}")]
    changes = [*found, *wording_changes(before, after)]
    if not changes:
        # Written otherwise, or under another draft, and shown to be the same both ways.
        changes.append(SchemaChange("safe", "schema-wording", (), (), "written differently; accepts the same"))
    return _cut(changes) if len(changes) > MAX_CHANGES else changes


def compare_added(new: JsonValue) -> list[SchemaChange]:
    """The one change of a schema where none was."""
    changes = compare(True, new)
    if all(change.level == "safe" for change in changes):
        return [SchemaChange("safe", "schema-added", None, (), "a schema was added; it refuses nothing")]
    for change in changes:
        # Some counterexamples hold only where formats are enforced.
        if change.witness is not ABSENT and BoundedValidator().accepts(_tree("new", new).top, change.witness) is False:
            message = "a schema was added where none was; it refuses what was accepted"
            return [replace(change, level="breaking", rule="schema-added", pointer_old=None, message=message)]
    message = "a schema was added where none was; whether it refuses anything cannot be decided"
    return [SchemaChange("risky", "schema-added", None, (), message)]


def _trees(old: JsonValue, new: JsonValue) -> tuple[SchemaTree, SchemaTree]:
    """Both schemas. Where neither names a draft, and one is read as draft-07, so is the other."""
    trees = _tree("old", old), _tree("new", new)
    if all(isinstance(tree.value, dict) and "$schema" not in tree.value for tree in trees):
        for tree in trees:
            tree.dialect = max((tree.dialect for tree in trees), key=lambda dialect: dialect.year)
    return trees


def _tree(side: Side, value: JsonValue) -> SchemaTree:
    with _naming(side):
        return SchemaTree(side, value)


@contextmanager
def _naming(side: Side) -> Iterator[None]:
    """Let an error name the schema that it is about."""
    try:
        yield
    except UndecidableError as error:
        raise UndecidableError(f"of the {side} schema, {error}") from None


@lru_cache(maxsize=1_000)
def _compared(schemas: bytes) -> list[SchemaChange] | str:
    """The changes between two schemas without annotations, or the reason why they cannot be compared."""
    before, after = marshal.loads(schemas)  # noqa: S302 - our own bytes
    old, new = SchemaTree("old", before), SchemaTree("new", after)
    try:
        for tree in (old, new):
            with _naming(tree.side):
                check_schema(tree)
        return _changes(old, new)
    except UndecidableError as error:
        return str(error)


def _changes(old: SchemaTree, new: SchemaTree) -> list[SchemaChange]:
    validator = BoundedValidator()
    candidates = _unique(Subsumption(validator, CHECKS).compare(_whole(old, new)))
    secrets = Secrets(old, new)
    search = Counterexamples(validator, old, new)
    changes = [_judged(candidate, search, secrets) for candidate in candidates]
    changes += default_changes(old, new, secrets)
    changes += dropped_changes(old, new, {tuple(step.at for step in one.pair.steps) for one in candidates})
    return [*changes, *_relaxed(old, new, candidates, secrets, any_told=bool(changes))]


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
    """What the new schema allows and the old did not, except for the places that are reported already.

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
