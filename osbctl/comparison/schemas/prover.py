"""Shows, where it can, that a new schema accepts whatever an old one accepted.

Sound, not complete: each check asks whether the facts known of a value imply one keyword of the
new schema, and reports a suspect where it cannot tell. A pair of places that is met again while
it is being compared is taken as shown. That is right because every loop passes through a part of
the value (`Root.check` refuses other loops), and values are finite.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from osbctl.comparison.schemas.changes import UndecidableError
from osbctl.comparison.schemas.check_arrays import ARRAY_CHECKS
from osbctl.comparison.schemas.check_combinations import COMBINATION_CHECKS, ways_apart
from osbctl.comparison.schemas.check_objects import OBJECT_CHECKS
from osbctl.comparison.schemas.check_scalars import SCALAR_CHECKS
from osbctl.comparison.schemas.suspects import FORBIDDEN, ITEMS, Pair, Suspect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from osbctl.comparison.schemas.facts import Facts
    from osbctl.comparison.schemas.oracle import Oracle
    from osbctl.comparison.schemas.roots import Subschema
    from osbctl.sources.document import JsonValue

MAX_STEPS = 40_000
"""Pairs of places looked at; a 64 kB schema has some 2,000 places."""
MAX_NESTING = 100
"""Pairs within pairs; bounds the recursion."""

_CHECKS = (*SCALAR_CHECKS, *OBJECT_CHECKS, *ARRAY_CHECKS, *COMBINATION_CHECKS)


class Prover:
    """One comparison: remembers what it has looked at. Raises `UndecidableError` past its bounds."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.steps = 0
        self._nesting = 0
        self._seen: dict[Any, None] = {}
        self._failed: set[Any] = set()
        self._open: set[Any] = set()
        self._outright = False

    def compare(self, pair: Pair) -> list[Suspect]:
        """All that may refuse a value that meets the facts; empty where nothing can."""
        key = (pair.facts.key, pair.new)
        if key in self._seen:
            return [pair.suspect("")] if self._outright and key in self._open else []
        self._seen[key] = None
        self._open.add(key)
        self.steps += 1
        self._nesting += 1
        try:
            if self.steps > MAX_STEPS or self._nesting > MAX_NESTING:
                raise UndecidableError("the schemas are too large or too entangled to compare in full")
            return self._suspects(pair)
        finally:
            self._nesting -= 1
            self._open.discard(key)

    def implies(self, facts: Facts, new: Subschema) -> bool:
        """Whether whatever meets the facts meets the schema. Leaves no trace where it cannot be shown."""
        return self._try([Pair(facts, new)])

    def implies_outright(self, facts: Facts, new: Subschema) -> bool:
        """As `implies`, but nothing that is still being shown is taken as shown.

        For a step that goes back up the schemas without going into the value.
        """
        if self._outright:
            return self.implies(facts, new)
        kept, self._seen, self._open, self._outright = (self._seen, self._open), {}, set(), True
        try:
            return self.implies(facts, new)
        finally:
            (self._seen, self._open), self._outright = kept, False

    def valid_values(self, facts: Facts) -> list[JsonValue] | None:
        """The values that meet the facts, where these are few; those that cannot be judged among them."""
        values = facts.values()
        if values is None or len(values) * len(facts.known) > self.oracle.left:
            return None
        return [v for v in values if all(self.oracle.accepts(s, v) is not False for s in facts.known)]

    def _try(self, pairs: Iterable[Pair]) -> bool:
        mark = len(self._seen)
        for pair in pairs:
            key = (pair.facts.key, pair.new)
            if key in self._failed or self.compare(pair):
                while len(self._seen) > mark:
                    self._seen.popitem()
                self._failed.add(key)
                return False
        return True

    def _suspects(self, pair: Pair) -> list[Suspect]:
        if not pair.facts.kinds:
            return []
        found = [s for part in pair.new.plain() for s in self._against(pair.at(part))]
        if found:
            for apart in ways_apart(pair.facts):
                if self._try(Pair(facts, pair.new) for facts in apart):
                    return []
        return found

    def _against(self, pair: Pair) -> Iterator[Suspect]:
        if pair.new in pair.facts.known:
            return
        if pair.new.value is False:
            yield pair.suspect("", rule=ITEMS if pair.step and pair.step.kind == "index" else FORBIDDEN)
            return
        values = self.valid_values(pair.facts)
        if values is not None:
            yield from self._refused(pair, values)
            return
        for check in _CHECKS:
            yield from check(self, pair)

    def _refused(self, pair: Pair, values: list[JsonValue]) -> Iterator[Suspect]:
        """Where few values are left, each one is asked of jsonschema."""
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
