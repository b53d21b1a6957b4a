"""The comparison of two parameter schemas that differ; loaded where some do."""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from osbctl.jsonschemas.comparison.annotations import default_changes, dropped_changes, wording_changes
from osbctl.jsonschemas.comparison.changes import ABSENT, Absent, SchemaChange, SchemaLevel
from osbctl.jsonschemas.comparison.checks import CHECKS
from osbctl.jsonschemas.comparison.facts import OBJECT, Facts
from osbctl.jsonschemas.comparison.prover import Prover
from osbctl.jsonschemas.comparison.secrets import Secrets
from osbctl.jsonschemas.comparison.suspects import COMBINATION, UNDECIDED, PlacePair, Suspect, named
from osbctl.jsonschemas.comparison.witness import Witnesses
from osbctl.jsonschemas.comparison.wording import example, refused, relaxed, undecided, unknown_before
from osbctl.jsonschemas.oracle import MAX_JUDGEMENTS, Oracle, check_schema
from osbctl.jsonschemas.roots import Root, Side
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue

MAX_CHANGES = 200
"""Changes reported of one pair of schemas; the rest is one line."""

_known: dict[bytes, list[SchemaChange] | str] = {}
"""What was found of bare pairs, or why nothing can be: plans often have the same parameters under other titles."""

_MOST_KNOWN = 1_000


def compare(old: JsonValue, new: JsonValue) -> list[SchemaChange]:
    """All changes between two schemas that are not equal. Never raises."""
    try:
        before, after = _root("old", old), _root("new", new)
        found = _of_bare(before.bare(), after.bare())
    except UndecidableError as error:
        return [SchemaChange("risky", UNDECIDED, (), (), f"the schemas differ, but cannot be compared: {error}")]
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
        # Some witnesses hold only where formats are enforced.
        if change.witness is not ABSENT and Oracle().accepts(Root("new", new).bare().top, change.witness) is False:
            message = "a schema was added where none was; it refuses what was accepted"
            return [replace(change, level="breaking", rule="schema-added", pointer_old=None, message=message)]
    message = "a schema was added where none was; whether it refuses anything cannot be decided"
    return [SchemaChange("risky", "schema-added", None, (), message)]


def _root(side: Side, value: JsonValue) -> Root:
    with _saying(side):
        return Root(side, value)


@contextmanager
def _saying(side: Side) -> Iterator[None]:
    """Lets an error say which schema it is about."""
    try:
        yield
    except UndecidableError as error:
        raise UndecidableError(f"of the {side} schema, {error}") from None


def _of_bare(old: Root, new: Root) -> list[SchemaChange]:
    key = marshal.dumps((old.value, new.value), 2)
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        try:
            _known[key] = _compare(old, new)
        except UndecidableError as error:
            _known[key] = str(error)
        except RecursionError:  # It hangs on who asks: not to be remembered.
            raise UndecidableError("they are nested too deeply") from None
    found = _known[key]
    if isinstance(found, str):
        raise UndecidableError(found)
    return found


def _compare(old: Root, new: Root) -> list[SchemaChange]:
    for root in (old, new):
        with _saying(root.side):
            check_schema(root)
    oracle = Oracle()
    suspects = _unique(Prover(oracle, CHECKS).compare(_top(old, new)))
    secrets = Secrets(old, new)
    changes = list(_judged(suspects, Witnesses(oracle, old, new), secrets)) if suspects else []
    changes = [replace(change, example=example(change.witness, secrets)) for change in changes]
    changes += default_changes(old, new, secrets)
    changes += dropped_changes(old, new, {tuple(step.at for step in suspect.pair.steps()) for suspect in suspects})
    oracle.left = MAX_JUDGEMENTS
    changes += _relaxed(old, new, suspects, oracle, secrets, any_told=bool(changes))
    return changes


def _cut(changes: list[SchemaChange]) -> list[SchemaChange]:
    """The worst changes, and one that stands for the rest at its own worst level."""
    ranked = sorted(changes, key=lambda c: ("breaking", "risky", "safe").index(c.level))
    kept, rest = ranked[:MAX_CHANGES], ranked[MAX_CHANGES:]
    level: SchemaLevel = "safe" if rest[0].level == "safe" else "risky"
    rule = "schema-relaxed" if level == "safe" else UNDECIDED
    return [*kept, SchemaChange(level, rule, (), (), f"and {len(rest)} more differences", (f"{len(rest)} more",))]


def _top(old: Root, new: Root) -> PlacePair:
    """OSB 2.17, Input Parameters Schema Object: what the schema describes is the `parameters` object."""
    return PlacePair(Facts((), within=OBJECT).and_also(old.top), new.top)


def _unique(suspects: list[Suspect]) -> list[Suspect]:
    """One for each keyword, name and place; one at most for the question whether 1.0 is an integer."""
    found: dict[object, Suspect] = {}
    for suspect in suspects:
        place = () if suspect.rule == UNDECIDED else (suspect.pointer_new, *suspect.pair.steps())
        found.setdefault((suspect.rule, place, suspect.name, _described_first(suspect)), suspect)
    return list(found.values())


def _described_first(suspect: Suspect) -> int:
    """How many steps lead to a property that the old schema did not know; -1 where it knew all."""
    unknown = [at for at, step in enumerate(suspect.pair.steps()) if step.unknown]
    return unknown[0] + 1 if unknown else -1


def _judged(suspects: list[Suspect], witnesses: Witnesses, secrets: Secrets) -> Iterator[SchemaChange]:
    described: set[tuple[object, ...]] = set()
    for suspect in suspects:
        at = _described_first(suspect)
        whole, value = witnesses.find(suspect) if suspect.rule != UNDECIDED else (ABSENT, ABSENT)
        if at >= 0 and suspect.pair.new.value is not False:
            steps = tuple(suspect.pair.steps()[:at])
            if steps not in described:
                described.add(steps)
                yield _described(suspect, at, whole)
        elif whole is ABSENT:
            yield _change("risky", suspect, undecided(suspect, secrets))
        else:
            yield _change("breaking", suspect, refused(suspect, value, secrets), whole)


def _described(suspect: Suspect, at: int, whole: JsonValue | Absent) -> SchemaChange:
    steps = suspect.pair.steps()
    pair = suspect.pair
    for _ in steps[at:]:
        pair = pair.parent or pair
    pointer = Suspect("", "", pair).pointer_old("old")
    message = unknown_before(steps[:at])
    field = named(pair.new.pointer, steps[:at])
    return SchemaChange("risky", "schema-property-described", pointer, pair.new.pointer, message, field, whole)


def _change(level: SchemaLevel, suspect: Suspect, message: str, witness: JsonValue | Absent = ABSENT) -> SchemaChange:
    rule = suspect.rule
    if level == "risky" and rule == COMBINATION:
        rule = UNDECIDED
    return SchemaChange(level, rule, suspect.pointer_old("old"), suspect.pointer_new, message, suspect.field, witness)


def _relaxed(
    old: Root, new: Root, suspects: list[Suspect], oracle: Oracle, secrets: Secrets, *, any_told: bool
) -> Iterator[SchemaChange]:
    """What the new schema allows and the old did not, but for the places that are reported already.

    Where nothing is reported at all, and it was not shown that nothing more is allowed, one change says so.
    """
    reported = {(*s.pair.steps(), s.rule, s.name) for s in suspects}
    try:
        backward = _unique(Prover(oracle, CHECKS).compare(_top(new, old)))
    except UndecidableError:
        backward = []
        if not any_told:
            message = "refuses nothing that was accepted; whether it accepts more cannot be decided"
            yield SchemaChange("safe", "schema-relaxed", (), (), message)
    for suspect in backward:
        key = (*suspect.pair.steps(), suspect.rule, suspect.name)
        if key not in reported and (_described_first(suspect) < 0 or not any_told):
            # Seen from the other end: what is "old" to the suspect is the new schema.
            message, pointer = relaxed(suspect, secrets), suspect.pointer_old("new")
            yield SchemaChange("safe", "schema-relaxed", suspect.pointer_new, pointer, message, suspect.field)
