"""Search for a request that the old schema accepts and the new one refuses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from osbctl.jsonschemas.bounded_validator import BoundedValidator
from osbctl.jsonschemas.comparison.candidates import Candidate, PlacePair, Step
from osbctl.jsonschemas.comparison.changes import ABSENT, Absent
from osbctl.jsonschemas.comparison.keywords import EQUAL
from osbctl.jsonschemas.constraints import Constraints
from osbctl.jsonschemas.schema_tree import SchemaTree
from osbctl.jsonschemas.value_generator import ValueGenerator
from osbctl.paths import JsonValue

_MAX_BASES = 3
_MAX_WHOLE = 40


class Counterexamples:
    """Searches within the budget of one validator, which confirms each counterexample on the whole schemas."""

    def __init__(self, validator: BoundedValidator, old: SchemaTree, new: SchemaTree) -> None:
        self.validator = validator
        self.values = ValueGenerator(validator)
        self.old, self.new = old, new

    def find(self, candidate: Candidate) -> tuple[JsonValue | Absent, JsonValue | Absent]:
        """A whole request, and the value at the candidate's place in it; both absent where none is found."""
        formats = candidate.keyword == "format"
        wholes = ((w, v) for v in self._local(candidate, formats) for w in self._around(candidate.pair, v))
        for whole, value in islice(wholes, _MAX_WHOLE if self.validator.left > 0 else 0):
            if self.is_confirmed(whole, formats):
                return whole, value
        return ABSENT, ABSENT

    def is_confirmed(self, value: JsonValue, formats: bool = False) -> bool:
        """Return whether this request was valid and no longer is."""
        if not isinstance(value, dict) or self.validator.accepts(self.new.top, value, formats) is not False:
            return False
        return bool(self.validator.accepts(self.old.top, value, formats))

    def _local(self, candidate: Candidate, formats: bool) -> Iterator[JsonValue]:
        """Values for the place itself, valid by its constraints, to which the keyword objects."""
        blamed = next((group for group in EQUAL if candidate.keyword in group), (candidate.keyword,))
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

    def _bases(self, pair: PlacePair) -> list[JsonValue]:
        """Values for the place that both sides accept, then such as the old side accepts."""
        both = pair.old.and_also(pair.new)
        found = self.values.valid(both, _MAX_BASES) + self.values.valid(pair.old, _MAX_BASES)
        return found[: _MAX_BASES + 1]

    def _around(self, pair: PlacePair, value: JsonValue) -> Iterator[JsonValue]:
        """Whole requests with the value in its place."""
        if pair.parent is None or pair.step is None:
            yield value
            return
        for base in self._bases(pair.parent) or [{} if pair.step.kind == "key" else []]:
            wrapped = _put(base, pair.step, value)
            if wrapped is not ABSENT:
                yield from self._around(pair.parent, wrapped)


def _put(base: JsonValue, step: Step, value: JsonValue) -> JsonValue | Absent:
    if step.kind == "key" and isinstance(base, dict):
        return {**base, str(step.at): value}
    return [value, *base[1:]] if step.kind == "index" and isinstance(base, list) else ABSENT
