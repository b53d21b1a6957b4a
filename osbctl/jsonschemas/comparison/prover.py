"""Shows, where it can, that a new schema accepts whatever an old one accepted.

Sound, not complete: each check asks whether the facts known of a value imply one keyword of the
new schema, and reports a suspect where it cannot tell. A pair of places that is met again while
it is being compared is taken as shown. That is right because every loop passes through a part of
the value (`Root.check` refuses other loops), and values are finite: it is induction over the size of the value.
What was shown under such an assumption falls with it, so `_taken` is rolled back to where a pair failed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from osbctl.jsonschemas.comparison.facts import NUMBERS, Facts
from osbctl.jsonschemas.comparison.suspects import FORBIDDEN, ITEMS, PlacePair, Suspect
from osbctl.jsonschemas.oracle import Oracle
from osbctl.jsonschemas.roots import Subschema
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue

Check: TypeAlias = "Callable[[Prover, PlacePair], Iterator[Suspect]]"

MAX_STEPS = 50_000
"""Pairs of places looked at, each counted by the facts that it takes: a second or so. A 64 kB schema has some 2,000
places."""
_FACTS_A_STEP = 16
_BRANCHES_A_STEP = 16
MAX_NESTING = 100
"""Pairs within pairs; bounds the recursion."""

_TOO_LARGE = "the schemas are too large or too entangled to compare in full"


class Prover:
    """One comparison: remembers what it has looked at. Raises `UndecidableError` past its bounds."""

    def __init__(self, oracle: Oracle, checks: Mapping[Check, Collection[str]]) -> None:
        self._checks = checks
        self.oracle = oracle
        self.steps = 0
        self._taken: dict[Any, None] = {}
        self._failed: dict[Any, Suspect] = {}
        self._depth = 0

    def compare(self, pair: PlacePair) -> list[Suspect]:
        """What may refuse a value that meets the facts; empty where nothing can."""
        self.spend(pair.facts)
        key = (pair.facts.key, pair.new)
        if key in self._failed:
            return [self._failed[key]]
        if key in self._taken:  # shown already, or the induction hypothesis
            return []
        if self._depth > MAX_NESTING:
            raise UndecidableError(_TOO_LARGE)
        mark = len(self._taken)
        self._taken[key] = None
        self._depth += 1
        found = self._suspects(pair)
        self._depth -= 1
        if found:
            self._failed[key] = found[0]
            while len(self._taken) > mark:  # what was shown since may lean on what just failed
                self._taken.popitem()
        return found

    def spend(self, facts: Facts, times: int = 1) -> None:
        """Count so many looks at all that is known. Raises `UndecidableError` where that is too much."""
        self.steps += times + times * len(facts.known) // _FACTS_A_STEP
        if self.steps > MAX_STEPS:
            raise UndecidableError(_TOO_LARGE)

    def implies(self, facts: Facts, new: Subschema) -> bool:
        """Whether whatever meets the facts is shown to meet the schema."""
        return not self.compare(PlacePair(facts, new))

    def valid_values(self, facts: Facts) -> list[JsonValue] | None:
        """The values that meet the facts, where these are few; those that cannot be judged among them."""
        values = facts.values()
        if values is None or len(values) * len(facts.known) > self.oracle.left:
            return None
        return [v for v in values if all(self.oracle.accepts(s, v) is not False for s in facts.known)]

    def _suspects(self, pair: PlacePair) -> list[Suspect]:
        if not pair.facts.kinds:
            return []
        found = [s for part in pair.new.plain() for s in self._against(pair.at(part))]
        if found:
            cases = self._cases(pair.facts)
            case = next((facts for facts in cases if not self.implies(facts, pair.new)), None)
            found = [replace(suspect, case=case) for suspect in found] if case or not cases else []
        return found

    def _cases(self, facts: Facts) -> list[Facts]:
        """Facts of which the value meets one: with each branch of one keyword, else of each kind; none beside these."""
        known = set(facts.known)
        for schema in facts.known:
            for keyword in ("anyOf", "oneOf"):
                branches = schema.children(keyword)
                if not branches:
                    continue
                self.spend(facts, 1 + len(branches) // _BRANCHES_A_STEP)
                if not any(known.issuperset(branch.plain()) for branch in branches):
                    return [facts.and_also(branch) for branch in branches]
        kinds = {NUMBERS if kind in NUMBERS else frozenset({kind}) for kind in facts.kinds}
        return [Facts(facts.known, facts.within & some) for some in sorted(kinds, key=sorted)] if len(kinds) > 1 else []

    def _against(self, pair: PlacePair) -> Iterator[Suspect]:
        if pair.new in pair.facts.known:
            return
        self.spend(pair.facts)
        if pair.new.value is False:
            yield pair.suspect("", rule=ITEMS if pair.step and pair.step.kind == "index" else FORBIDDEN)
            return
        values = self.valid_values(pair.facts)
        if values is not None:
            yield from self._refused(pair, values)
            return
        for check, keywords in self._checks.items():
            if any(keyword in pair.new.value for keyword in keywords):
                yield from check(self, pair)

    def _refused(self, pair: PlacePair, values: list[JsonValue]) -> Iterator[Suspect]:
        """Where few values are left, each one is asked of the oracle."""
        refused: dict[str, list[JsonValue]] = {}
        kept = {known.get("format") for known in pair.facts.known}
        for value in values:
            objections = self.oracle.objections(pair.new, value)
            if objections is None:
                refused.setdefault("pattern" if pair.new.get("pattern") else "", []).append(value)
            for keyword in sorted((objections or frozenset()) & set(pair.new.value) - {"allOf", "$ref"}):
                if keyword != "format" or pair.new.get("format") not in kept:
                    refused.setdefault(keyword, []).append(value)
        for keyword, wrong in refused.items():
            yield replace(pair.suspect(keyword), values=tuple(wrong[:8]))
