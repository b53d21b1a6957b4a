"""Looks for a request that the old schema accepts and the new one refuses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from osbctl.jsonschemas.comparison.changes import ABSENT, Absent
from osbctl.jsonschemas.comparison.facts import Facts
from osbctl.jsonschemas.comparison.samples import Samples
from osbctl.jsonschemas.comparison.suspects import PlacePair, Step, Suspect
from osbctl.jsonschemas.oracle import Oracle
from osbctl.jsonschemas.roots import Root
from osbctl.paths import JsonValue

_MAX_BASES = 3
_MAX_WHOLE = 40
_ODD: tuple[JsonValue, ...] = (0, "", None, [], {})
_BLAMED = {"contains": ("contains", "minContains", "maxContains")}
_DEPENDENCIES = ("dependencies", "dependentRequired", "dependentSchemas")


class Witnesses:
    """Searches within the bounds of one oracle; every witness is confirmed by it on the whole schemas."""

    def __init__(self, oracle: Oracle, old: Root, new: Root) -> None:
        self.oracle = oracle
        self.samples = Samples(oracle)
        self.old, self.new = old, new

    def find(self, suspect: Suspect) -> tuple[JsonValue | Absent, JsonValue | Absent]:
        """A whole request, and the value at the suspect's place in it; both absent where none is found."""
        if self.oracle.left <= 0:
            return ABSENT, ABSENT
        formats = suspect.keyword == "format"
        wholes = ((w, v) for v in self._local(suspect, formats) for w in self._around(suspect.pair, v))
        for whole, value in islice(wholes, _MAX_WHOLE):
            if self.confirmed(whole, formats):
                return whole, value
        return ABSENT, ABSENT

    def confirmed(self, value: JsonValue, formats: bool = False) -> bool:
        """Whether this request was valid and no longer is."""
        if not isinstance(value, dict) or self.oracle.accepts(self.new.top, value, formats) is not False:
            return False
        return bool(self.oracle.accepts(self.old.top, value, formats))

    def _local(self, suspect: Suspect, formats: bool) -> Iterator[JsonValue]:
        """Values for the place itself, valid by what is known there, to which the keyword objects."""
        for value in self._tries(suspect):
            if not all(self.oracle.accepts(s, value, formats) for s in suspect.pair.facts.known):
                continue
            objections = self.oracle.objections(suspect.pair.new, value) or frozenset()
            if not objections.isdisjoint(_BLAMED.get(suspect.keyword, (suspect.keyword,))):
                yield value

    def _tries(self, suspect: Suspect) -> Iterator[JsonValue]:
        pair = suspect.pair
        facts, both = pair.facts, pair.facts.and_also(pair.new)
        if suspect.keyword in _DEPENDENCIES:
            yield from self._depending(suspect)
        yield from suspect.values
        if suspect.case:
            yield from self.samples.candidates(suspect.case)
        yield from self.samples.candidates(Facts(both.known, within=facts.kinds))
        yield from self.samples.candidates(facts)

    def _depending(self, suspect: Suspect) -> Iterator[JsonValue]:
        """Objects with a property on which others depend: without each of these, or with odd values of them."""
        pair = suspect.pair
        for name, wanted in pair.new.value[suspect.keyword].items():
            for base in self._bases(pair) or [{}]:
                values = self.samples.valid(pair.facts.at_key(name)) or [0]
                whole = {**base, name: values[0]} if isinstance(base, dict) else {name: values[0]}
                yield whole
                if isinstance(wanted, list):
                    yield from ({key: v for key, v in whole.items() if key != missing} for missing in wanted)
                for below in wanted.get("properties", {}) if isinstance(wanted, dict) else ():
                    yield from ({**whole, below: odd} for odd in _ODD)

    def _bases(self, pair: PlacePair) -> list[JsonValue]:
        """Values for the place that both sides accept, then such as the old side accepts."""
        both = Facts(pair.facts.and_also(pair.new).known, within=pair.facts.within)
        found = self.samples.valid(both, _MAX_BASES) + self.samples.valid(pair.facts, _MAX_BASES)
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
        if pair.step.kind == "index":
            before = [v for i in range(int(pair.step.at)) for v in self.samples.valid(pair.parent.facts.at_index(i))]
            yield from self._around(pair.parent, [*before, value])


def _put(base: JsonValue, step: Step, value: JsonValue) -> JsonValue | Absent:
    if step.kind == "key" and isinstance(base, dict):
        return {**base, str(step.at): value}
    if step.kind == "index" and isinstance(base, list) and int(step.at) <= len(base):
        return [*base[: int(step.at)], value, *base[int(step.at) + 1 :]]
    return ABSENT
