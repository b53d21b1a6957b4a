"""Proof that a new schema accepts every value that an old one accepted.

The comparison is sound: if the new schema refuses a request that the old one accepts, `Subsumption.compare` finds a
candidate, and the pair of schemas is not `safe`. These are the reasons:

1. `Constraints` hold only schemas that every accepted value of a place meets. They may allow impossible values: that
   adds candidates and removes none.
2. Each keyword that the draft of the new schema asserts has a check in `keywords.py`. A check finds no candidate only
   if the constraints imply the keyword. A keyword without a check is a candidate.
3. Each key that is spelled out, all other keys and all items are compared as pairs of their own. The keywords that
   judge parts of a value in another way (patterns of keys, lists of items, conditions) need an equal keyword in the
   old schema.
4. Two schemas with the same text and the same targets of references accept the same under one draft.
5. A value that meets an `anyOf` or `oneOf` meets one of its branches, and each value is of one kind. The candidates
   of a pair are dropped only if none of these cases has one.
6. All else is a candidate: a pair that is met again (recursion) or nested too deeply, and a value that the bounded
   validator leaves undecided. Past the budget of steps `UndecidableError` makes the whole pair risky.

A candidate is `breaking` with a request that the validator confirms on both schemas, and `risky` without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from osbctl.jsonschemas.bounded_validator import BoundedValidator
from osbctl.jsonschemas.comparison.candidates import FORBIDDEN, ITEMS, UNDECIDED, Candidate, PlacePair
from osbctl.jsonschemas.constraints import NUMBERS, Constraints
from osbctl.jsonschemas.schema_tree import Subschema, same_schema
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue

Check: TypeAlias = "Callable[[Subsumption, PlacePair], Iterator[Candidate]]"

MAX_STEPS = 50_000
"""Pairs of places looked at, each counted by its constraints: a second or so. A 64 kB schema has some 2,000 places."""

MAX_NESTING = 100
"""Pairs within pairs; bounds the recursion."""

_CONSTRAINTS_A_STEP = _BRANCHES_A_STEP = 16
_MAX_VALUES = 8
"""Values that are kept for a candidate, of those that were refused."""


class Subsumption:
    """One comparison, within a budget of steps. Raises `UndecidableError` once that is spent."""

    def __init__(self, validator: BoundedValidator, checks: Mapping[str, Check], steps: int = MAX_STEPS) -> None:
        self._checks = checks
        self.validator = validator
        self.left = steps
        self._shown: set[object] = set()
        self._failed: dict[object, Candidate] = {}
        self._under_way: set[object] = set()

    def compare(self, pair: PlacePair) -> list[Candidate]:
        """The keywords that may refuse a value that meets the old constraints; empty if none can."""
        self.spend(pair.old)
        key = (pair.old.key, pair.new)
        if key in self._shown:
            return []
        if key in self._failed:
            return [self._failed[key]]
        if key in self._under_way or len(self._under_way) > MAX_NESTING:
            return [pair.candidate("", rule=UNDECIDED)]
        self._under_way.add(key)
        found = self._candidates(pair)
        self._under_way.discard(key)
        if found:
            self._failed[key] = found[0]
        else:
            self._shown.add(key)
        return found

    def implies(self, old: Constraints, new: Subschema) -> bool:
        """Return whether all that meets the constraints is shown to meet the schema."""
        return not self.compare(PlacePair(old, new))

    def spend(self, old: Constraints, times: int = 1) -> None:
        """Count so many looks at all constraints. Raises `UndecidableError` past the budget."""
        self.left -= times + times * len(old.known) // _CONSTRAINTS_A_STEP
        if self.left < 0:
            raise UndecidableError("the schemas are too large or too entangled to compare in full")

    def valid_values(self, old: Constraints) -> list[JsonValue] | None:
        """The values that meet the constraints, if these are few; undecided ones are among them."""
        values = old.values()
        if values is None or len(values) * len(old.known) > self.validator.left:
            return None
        return [v for v in values if all(self.validator.accepts(s, v) is not False for s in old.known)]

    def _candidates(self, pair: PlacePair) -> list[Candidate]:
        if not pair.old.kinds:
            return []
        found = [candidate for part in pair.new.conjuncts for candidate in self._against(replace(pair, new=part))]
        if not found:
            return []
        case = None
        for case in self._cases(pair.old):
            if not self.implies(case, pair.new):
                return [replace(candidate, case=case) for candidate in found]
        return [] if case else [replace(candidate, case=None) for candidate in found]

    def _cases(self, old: Constraints) -> Iterator[Constraints]:
        """Constraints of which each value meets one: with each branch of a keyword, else of each kind."""
        for branches in old.choices:
            self.spend(old, len(branches) // _BRANCHES_A_STEP)
            if not any(set(old.known).issuperset(branch.conjuncts) for branch in branches):
                yield from map(old.and_also, branches)
                return
        kinds = sorted({NUMBERS if kind in NUMBERS else frozenset({kind}) for kind in old.kinds}, key=sorted)
        if len(kinds) > 1:
            yield from (Constraints(old.known, old.within & some) for some in kinds)

    def _against(self, pair: PlacePair) -> list[Candidate]:
        """The candidates of one schema, without those that it refers to."""
        self.spend(pair.old)
        if any(same_schema(schema, pair.new) for schema in pair.old.known):
            return []
        if not isinstance(pair.new.value, dict):
            return [pair.candidate("", rule=ITEMS if pair.step and pair.step.at == 0 else FORBIDDEN)]
        values = self.valid_values(pair.old)
        return self._checked(pair) if values is None else self._refused(pair, values)

    def _checked(self, pair: PlacePair) -> list[Candidate]:
        """Hand each keyword to its check."""
        asserted = pair.new.tree.dialect.keywords & pair.new.value.keys() - {"$ref", "allOf"}
        found = [pair.candidate(keyword) for keyword in sorted(asserted - self._checks.keys())]
        for check in dict.fromkeys(check for keyword, check in self._checks.items() if keyword in asserted):
            found += check(self, pair)
        return found

    def _refused(self, pair: PlacePair, values: list[JsonValue]) -> list[Candidate]:
        """If few values remain, test each with the validator."""
        refused: dict[str, list[JsonValue]] = {}
        formats = {schema.get("format") for schema in pair.old.known}
        for value in values:
            objections = self.validator.objections(pair.new, value)
            if objections is None:
                return [pair.candidate("")]
            for keyword in sorted(objections & set(pair.new.value) - {"allOf", "$ref"}):
                if keyword != "format" or pair.new.get("format") not in formats:
                    refused.setdefault(keyword, []).append(value)
        return [pair.candidate(keyword, *wrong[:_MAX_VALUES]) for keyword, wrong in refused.items()]
