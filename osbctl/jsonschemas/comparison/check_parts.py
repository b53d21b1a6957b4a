"""Objects and arrays: whether the facts imply these keywords."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.comparison.facts import COUNTED, Facts, for_index, for_key, items, names
from osbctl.jsonschemas.comparison.suspects import PlacePair, Step, Suspect
from osbctl.jsonschemas.same import same_keywords, same_schema

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from osbctl.jsonschemas.comparison.prover import Prover
    from osbctl.jsonschemas.roots import Subschema


_STRING = frozenset({"string"})


def check_required(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`required`, one suspect a name."""
    if "object" in pair.facts.kinds:
        known = pair.facts.required()
        for name in dict.fromkeys(pair.new.get("required") or ()):
            if name not in known:
                yield pair.suspect("required", name=name)


def check_counts(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`minLength`, `maxItems` and their like, of every kind that has them."""
    for kind, unit in COUNTED.items():
        if kind in pair.facts.kinds:
            least, most = pair.facts.counts(kind)
            if least < (pair.new.get(f"min{unit}") or 0):
                yield pair.suspect(f"min{unit}")
            limit = pair.new.get(f"max{unit}")
            if limit is not None and most > limit:
                yield pair.suspect(f"max{unit}")


def check_properties(prover: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`properties`, `patternProperties` and `additionalProperties`.

    Every key falls in one class: spelled out by either side; or matching some pattern of either
    side; or neither. In each class what the old side demands for certain must imply what the new
    side may demand.
    """
    new = pair.new
    if "object" not in pair.facts.kinds:
        return
    known = set(names(pair.facts.known))
    spelled = set(names([new]))
    if new.get("patternProperties") or new.get("additionalProperties") is not None:
        spelled |= known  # keys that only the old side spells out, the new one judges by these
    patterned = sum(len(schema.get("patternProperties") or ()) for schema in (new, *pair.facts.known))
    for name in sorted(spelled):
        prover.spend(pair.facts, patterned)
        sure, perhaps = for_key(new, name)
        facts = pair.facts.at_key(name)
        step = Step("key", name, unknown=not facts.known and name not in known)
        for demand in (*sure, *perhaps):
            yield from prover.compare(pair.enter(facts, demand, step))
    yield from _other_keys(prover, pair, known.union(names([new])))


def check_names(prover: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`propertyNames`."""
    if "object" in pair.facts.kinds and pair.new.get("propertyNames") is not None:
        known = [s.child("propertyNames") for s in pair.facts.known if s.get("propertyNames") is not None]
        facts = Facts((), within=_STRING).and_also(*known)
        if not prover.implies(facts, pair.new.child("propertyNames")):
            yield pair.suspect("propertyNames")


def check_dependencies(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`dependencies` and their later forms: each entry implied by an equal one, or by `required`."""
    if "object" not in pair.facts.kinds:
        return
    for keyword in ("dependencies", "dependentRequired", "dependentSchemas"):
        for name in pair.new.get(keyword) or ():
            if not _depends_already(pair.facts, pair.new, keyword, name):
                yield pair.suspect(keyword)
                break


def _other_keys(prover: Prover, pair: PlacePair, spelled: set[str]) -> Iterator[Suspect]:
    new = pair.new
    ours = list(new.get("patternProperties") or ())
    theirs = [p for s in pair.facts.known for p in s.get("patternProperties") or ()]
    rest = [new.child("additionalProperties")] if new.get("additionalProperties") is not None else []
    for pattern in dict.fromkeys(ours + theirs):
        facts = Facts(()).and_also(*_for_pattern(pair.facts, pattern))
        step = Step("key", _key_like(pattern, spelled), fresh=True, pattern=pattern)
        for demand in [new.child("patternProperties", pattern)] if pattern in ours else rest:
            yield from prover.compare(pair.enter(facts, demand, step))
    for demand in rest:
        known = [s.child("additionalProperties") for s in pair.facts.known if s.get("additionalProperties") is not None]
        step = Step("key", _fresh(spelled, ours + theirs), fresh=True)
        yield from prover.compare(pair.enter(Facts(()).and_also(*known), demand, step))


def _for_pattern(facts: Facts, pattern: str) -> Iterator[Subschema]:
    """What the facts demand of a key that matches the pattern, and perhaps others, but is not spelled out."""
    for schema in facts.known:
        if pattern in (schema.get("patternProperties") or ()):
            yield schema.child("patternProperties", pattern)
        elif not schema.get("patternProperties") and schema.get("additionalProperties") is not None:
            yield schema.child("additionalProperties")


def _key_like(pattern: str, spelled: set[str]) -> str:
    fits = (t for t in patterns.texts(pattern) if t not in spelled and patterns.matches(pattern, t))
    return next(fits, _fresh(spelled, ()))


def _fresh(spelled: set[str], unlike: Collection[str]) -> str:
    """A key that is not spelled out and, where one is found, matches none of these patterns."""
    names = (f"{word}{more}" for more in ("", "_", "__", "_0") for word in ("other", "OTHER", "0", "-", " ", "é"))
    free = [name for name in names if name not in spelled] or ["other" + "_" * max(map(len, spelled))]
    return next((n for n in free if all(patterns.matches(p, n) is False for p in unlike)), free[0])


def _depends_already(facts: Facts, new: Subschema, keyword: str, name: str) -> bool:
    wanted = new.value[keyword][name]
    if isinstance(wanted, list) and set(wanted) <= facts.required() | {name}:
        return True
    for schema in facts.known:
        known = schema.get(keyword)
        if known and name in known and same_schema(schema.child(keyword, name), new.child(keyword, name)):
            return True
    return False


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
