"""What the prover asks of a pair of places: whether the facts imply each keyword of the new schema."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import ceil, floor
from typing import TypeAlias

import osbctl.jsonschemas.comparison.check_combinations as combinations
from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.comparison.facts import (
    COUNTED,
    NUMBERS,
    Facts,
    for_index,
    for_key,
    items,
    kinds_of,
    listed,
    names,
)
from osbctl.jsonschemas.comparison.prover import Check, Prover
from osbctl.jsonschemas.comparison.suspects import UNDECIDED, PlacePair, Step, Suspect
from osbctl.jsonschemas.patterns import ALWAYS
from osbctl.jsonschemas.roots import Subschema
from osbctl.jsonschemas.same import same_schema

Bound: TypeAlias = tuple[float, bool]
"""A limit, and whether it is itself excluded."""


def check_type(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`type`. What only draft-04 and later drafts see differently (is 1.0 an integer?) is undecided."""
    lost = pair.facts.kinds - kinds_of(pair.new)
    if lost == {"whole"}:
        yield pair.suspect("type", rule=UNDECIDED)
    elif lost:
        yield pair.suspect("type")


def check_values(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`enum` and `const`, where the old values are not few (that is decided value by value)."""
    if listed(pair.new) is not None:
        yield pair.suspect("const" if pair.new.get("enum") is None else "enum")


def check_bounds(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`minimum`, `maximum` and their exclusive forms, boolean (draft-04) or numeric."""
    numbers = pair.facts.kinds & NUMBERS
    if not numbers:
        return
    whole = "fraction" not in numbers
    if not _implied(lower(pair.new), [lower(s) for s in pair.facts.known], whole):
        yield pair.suspect(_spelling(pair.new, "inimum"))
    if not _implied(upper(pair.new), [upper(s) for s in pair.facts.known], whole):
        yield pair.suspect(_spelling(pair.new, "aximum"))


def check_multiple(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`multipleOf`. Validators differ on fractions (is 0.3 a multiple of 0.1?), so only equal ones count."""
    step = pair.new.get("multipleOf")
    numbers = pair.facts.kinds & NUMBERS
    if step is None or not numbers or (type(step) is int and step == 1 and "fraction" not in numbers):
        return
    for old in (schema.get("multipleOf") for schema in pair.facts.known):
        if type(old) is type(step) and (old == step or (type(step) is int and old % step == 0)):
            return
    yield pair.suspect("multipleOf")


def check_pattern(prover: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`pattern`: implied by an equal one, or by one that is built alike and takes less."""
    pattern = pair.new.get("pattern")
    if pattern is None or "string" not in pair.facts.kinds or pattern in ALWAYS:
        return
    known = {old for schema in pair.facts.known if (old := schema.get("pattern")) is not None}
    if pattern in known:
        return
    prover.spend(pair.facts, sum(patterns.steps_within(old, pattern) for old in known))
    if not any(patterns.is_within(old, pattern) for old in known):
        yield pair.suspect("pattern", *(text for old in sorted(known) for text in patterns.edge_texts(old)))


def check_format(_: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`format`: an annotation to many, but brokers may enforce it."""
    form = pair.new.get("format")
    if form is None or "string" not in pair.facts.kinds:
        return
    if all(schema.get("format") != form for schema in pair.facts.known):
        yield pair.suspect("format")


def lower(schema: Subschema) -> Bound | None:
    """The stronger of `minimum` and `exclusiveMinimum`."""
    return max(_bounds(schema, "minimum", "exclusiveMinimum"), default=None)


def upper(schema: Subschema) -> Bound | None:
    """The stronger of `maximum` and `exclusiveMaximum`, turned round: negated, so that larger is stronger."""
    return max(((-v, x) for v, x in _bounds(schema, "maximum", "exclusiveMaximum")), default=None)


def _bounds(schema: Subschema, plain: str, exclusive: str) -> Iterator[Bound]:
    value, mark = schema.get(plain), schema.get(exclusive)
    if value is not None:
        yield value, mark is True
    if mark is not None and not isinstance(mark, bool):
        yield mark, True


def _implied(new: Bound | None, olds: list[Bound | None], whole: bool) -> bool:
    return new is None or any(old is not None and _stronger(old, new, whole) for old in olds)


def _stronger(old: Bound, new: Bound, whole: bool) -> bool:
    if old[0] > new[0] or (old[0] == new[0] and old[1] >= new[1]):
        return True
    if not whole:
        return False
    # Among integers, more than 4 is at least 5.
    least = floor(old[0]) + 1 if old[1] else ceil(old[0])
    return least > new[0] or (least == new[0] and not new[1])


def _spelling(schema: Subschema, end: str) -> str:
    """The keyword that sets the bound."""
    return f"m{end}" if schema.get(f"m{end}") is not None else f"exclusiveM{end}"


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
    """`contains` with its limits (2019-09): implied by equal ones."""
    if "array" not in pair.facts.kinds or pair.new.get("contains") is None:
        return
    if not combinations.is_known(prover, pair, "contains", "minContains", "maxContains"):
        yield pair.suspect("contains")


CHECKS: Mapping[Check, Collection[str]] = {
    check_type: ("type",),
    check_values: ("enum", "const"),
    check_bounds: ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    check_multiple: ("multipleOf",),
    check_counts: tuple(f"{end}{unit}" for unit in COUNTED.values() for end in ("min", "max")),
    check_pattern: ("pattern",),
    check_format: ("format",),
    check_required: ("required",),
    check_properties: ("properties", "patternProperties", "additionalProperties"),
    check_names: ("propertyNames",),
    check_dependencies: ("dependencies", "dependentRequired", "dependentSchemas"),
    check_items: ("items", "prefixItems", "additionalItems"),
    check_unique: ("uniqueItems",),
    check_contains: ("contains",),
    combinations.check_any_of: ("anyOf",),
    combinations.check_one_of: ("oneOf",),
    combinations.check_not: ("not",),
    combinations.check_if: ("if",),
}
"""Each check with the keywords that it is for: where the new schema has none of them, it finds nothing."""
