"""Arrays: whether the facts imply these keywords."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.jsonschemas.comparison.check_scalars import at_least, at_most
from osbctl.jsonschemas.comparison.facts import Facts, for_index, items
from osbctl.jsonschemas.comparison.suspects import PlacePair, Step, Suspect
from osbctl.jsonschemas.same import same_keywords

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.jsonschemas.comparison.prover import Prover


def check_items(prover: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`items`, `prefixItems` and `additionalItems`: each place of a tuple, then all places after it."""
    if "array" not in pair.facts.kinds:
        return
    last = max(len(items(schema)[0]) for schema in (pair.new, *pair.facts.known))
    most = pair.facts.most_items()
    for index in range(last + 1):
        demand = for_index(pair.new, index)
        if demand is not None and index < most:
            yield from prover.compare(pair.enter(pair.facts.at_index(index), demand, Step("index", index)))


def check_count(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`minItems` and `maxItems`."""
    if "array" in pair.facts.kinds:
        yield from at_least(pair, "minItems")
        yield from at_most(pair, "maxItems", pair.facts.most_items())


def check_unique(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`uniqueItems`."""
    if "array" not in pair.facts.kinds or not pair.new.get("uniqueItems"):
        return
    if pair.facts.most_items() > 1 and not any(s.get("uniqueItems") for s in pair.facts.known):
        yield pair.suspect("uniqueItems")


def check_contains(prover: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`contains`; with its limits (2019-09) only where all three are equal."""
    keywords = ("contains", "minContains", "maxContains")
    if "array" not in pair.facts.kinds or pair.new.get("contains") is None:
        return
    for schema in pair.facts.known:
        if schema.get("contains") is None:
            continue
        if same_keywords(schema, pair.new, keywords):
            return
        limits = {k for s in (schema, pair.new) for k in keywords[1:] if s.get(k) is not None}
        if not limits and prover.implies(Facts(()).and_also(schema.child("contains")), pair.new.child("contains")):
            return
    yield pair.suspect("contains")
