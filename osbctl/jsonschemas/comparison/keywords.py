"""One check for each keyword of JSON Schema: whether the constraints of the old schema imply it.

A check yields a candidate for everything that it cannot show; see `subsumption.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.comparison.candidates import DESCRIBED, UNDECIDED, Candidate, PlacePair, Step
from osbctl.jsonschemas.comparison.subsumption import Check, Subsumption
from osbctl.jsonschemas.constraints import (
    ALL,
    ARRAY,
    COUNTED,
    NUMBERS,
    OBJECT,
    Constraints,
    Kinds,
    every_item,
    for_key,
    kinds_of,
)
from osbctl.jsonschemas.equality import same_schema

if TYPE_CHECKING:
    from osbctl.jsonschemas.schema_tree import Subschema

EQUAL: dict[tuple[str, ...], Kinds] = {
    **{(word,): OBJECT for word in ["patternProperties", "propertyNames", "dependencies"]},
    **{(word,): OBJECT for word in ["dependentRequired", "dependentSchemas"]},
    ("contains", "minContains", "maxContains"): ARRAY,
    ("additionalItems", "items"): ARRAY,
    ("prefixItems", "items"): ARRAY,
    ("if", "then", "else"): ALL,
}
"""Keywords that only equal ones imply, each first with those that it works together with; and the kinds they judge."""

_STEPS_TO_COMPARE, _MAX_NESTING = 4, 8
"""Steps for each schema that is held against another word by word; required properties within required ones."""


def check_type(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`type`. What only draft-04 and later drafts see differently (is 1.0 an integer?) is undecided."""
    lost = pair.old.kinds - kinds_of(pair.new)
    if lost:
        yield pair.candidate("type", rule=UNDECIDED if lost == {"whole"} else "")


def check_values(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`enum` and `const`, where the old values are not few (each of few values is asked of the validator)."""
    yield pair.candidate("const" if pair.new.get("enum") is None else "enum")


def check_bounds(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`minimum`, `maximum` and their exclusive forms, boolean (draft-04) or numeric."""
    kinds, new = pair.old.kinds, Constraints((pair.new,))
    if not kinds & NUMBERS:
        return
    if pair.old.lower(kinds) < new.lower(kinds):
        yield pair.candidate("minimum" if pair.new.get("minimum") is not None else "exclusiveMinimum")
    if pair.old.upper(kinds) < new.upper(kinds):
        yield pair.candidate("maximum" if pair.new.get("maximum") is not None else "exclusiveMaximum")


def check_multiple(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`multipleOf`. Validators differ on fractions (is 0.3 a multiple of 0.1?), so only equal ones count."""
    step = pair.new.get("multipleOf")
    numbers = pair.old.kinds & NUMBERS
    known = [schema.get("multipleOf") for schema in pair.old.known]
    if "fraction" not in numbers:
        known.append(1)
    if numbers and not any(type(old) is type(step) and _is_multiple(old, step) for old in known):
        yield pair.candidate("multipleOf")


def _is_multiple(number: Any, step: Any) -> bool:
    return bool(number == step or (type(step) is int and number % step == 0))


def check_counts(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`minLength`, `maxItems` and their like, of every kind that has them."""
    for kind, unit in COUNTED.items():
        if kind in pair.old.kinds:
            least, most = pair.old.counts(kind)
            if kind == "object":
                least = max(least, len(pair.old.required()))
            if least < (pair.new.get(f"min{unit}") or 0):
                yield pair.candidate(f"min{unit}")
            limit = pair.new.get(f"max{unit}")
            if limit is not None and most > limit:
                yield pair.candidate(f"max{unit}")


def check_pattern(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`pattern`: implied by an equal one alone."""
    pattern = pair.new.get("pattern")
    known = {old for schema in pair.old.known if (old := schema.get("pattern")) is not None}
    if "string" in pair.old.kinds and pattern not in patterns.ALWAYS and pattern not in known:
        yield pair.candidate("pattern", *(text for old in sorted(known) for text in patterns.edge_texts(old)))


def check_format(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`format`: an annotation to many, but brokers may enforce it."""
    form = pair.new.get("format")
    if "string" in pair.old.kinds and all(schema.get("format") != form for schema in pair.old.known):
        yield pair.candidate("format")


def check_required(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`required`, one candidate for each name."""
    if "object" in pair.old.kinds:
        known = pair.old.required()
        for name in dict.fromkeys(pair.new.get("required")):
            if name not in known:
                yield pair.candidate("required", name=name)


def check_properties(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`properties` and `additionalProperties`: each key that either side spells out, then all others.

    All that the new schema may demand of a key is compared with what the old one demands for certain.
    """
    if "object" not in pair.old.kinds:
        return
    spelled = sorted({*pair.old.names(), *(pair.new.get("properties") or ())})
    patterns_known = sum(len(schema.get("patternProperties") or ()) for schema in (pair.new, *pair.old.known))
    for name in spelled:
        subsumption.spend(pair.old, patterns_known)
        for demand in itertools.chain(*for_key(pair.new, name)):
            inner = pair.enter(pair.old.at_key(name), demand, Step("key", name))
            found = subsumption.compare(inner)
            is_new = not inner.old.known and name not in pair.old.names()
            yield from _newly_described(inner, found) if is_new else found
    rest = pair.new.optional("additionalProperties")
    if rest:
        others = Constraints().and_also(*_for_other_keys(pair.old, pair.new))
        yield from subsumption.compare(pair.enter(others, rest, Step("key", _other_key(spelled), fresh=True)))


def _newly_described(pair: PlacePair, found: list[Candidate]) -> Iterator[Candidate]:
    """The candidates in a property of which the old schema said nothing: one for all but those that forbid."""
    forbidding = [candidate for candidate in found if candidate.pair.new.value is False]
    yield from forbidding
    if len(forbidding) < len(found):
        yield pair.candidate("", rule=DESCRIBED)


def _for_other_keys(old: Constraints, new: Subschema) -> Iterator[Subschema]:
    """Constraints on keys that neither schema names, and that match no pattern of the new schema."""
    patterns_of_new = set(new.get("patternProperties") or ())
    for schema in old.known:
        rest = schema.optional("additionalProperties")
        # A key that matches a pattern of the old schema alone is no additional one to it.
        if rest and patterns_of_new.issuperset(schema.get("patternProperties") or ()):
            yield rest


def _other_key(spelled: Sequence[str]) -> str:
    names = [word + more for more in ("", "_", "__") for word in ("other", "OTHER", "0")]
    return next((name for name in names if name not in spelled), "other" + "_" * max(map(len, spelled), default=0))


def check_items(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`items`, where it holds for all items; a list of schemas is implied by an equal one alone."""
    demand = every_item(pair.new)
    if "array" in pair.old.kinds and demand:
        yield from subsumption.compare(pair.enter(pair.old.at_item(), demand, Step("index", 0)))
    elif "array" in pair.old.kinds and not _is_known(subsumption, pair, "items"):
        yield pair.candidate("items")


def check_unique(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`uniqueItems`."""
    known = any(schema.get("uniqueItems") for schema in pair.old.known) or pair.old.counts("array")[1] <= 1
    if "array" in pair.old.kinds and pair.new.get("uniqueItems") and not known:
        yield pair.candidate("uniqueItems")


def check_equal(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """All keywords of `EQUAL`."""
    for keywords, kinds in EQUAL.items():
        asserts = kinds & pair.old.kinds and pair.new.get(keywords[0]) is not None
        if asserts and not _is_known(subsumption, pair, *keywords):
            yield pair.candidate(keywords[0])


def check_any_of(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`anyOf`: one branch that takes all."""
    if not any(subsumption.implies(pair.old, branch) for branch in pair.new.children("anyOf")):
        yield pair.candidate("anyOf")


def check_one_of(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`oneOf`: an equal one, or one branch that takes all while no other takes any."""
    branches = pair.new.children("oneOf")
    taking = next((branch for branch in branches if subsumption.implies(pair.old, branch)), None)
    others = [pair.old.and_also(branch) for branch in branches if branch is not taking]
    is_shown = taking is not None and all(_is_impossible(subsumption, other) for other in others)
    if not is_shown and not _is_known(subsumption, pair, "oneOf"):
        yield pair.candidate("oneOf")


def check_not(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`not`: no value that is possible meets it."""
    if not _is_impossible(subsumption, pair.old.and_also(pair.new.child("not"))):
        yield pair.candidate("not")


def _is_impossible(subsumption: Subsumption, constraints: Constraints, depth: int = 0) -> bool:
    """Return whether the constraints are unsatisfiable: by type, enumeration, `not`, or a required property."""
    subsumption.spend(constraints)
    if not constraints.kinds or subsumption.valid_values(constraints) == []:
        return True
    refused = filter(None, (schema.optional("not") for schema in constraints.known))
    if any(subsumption.implies(constraints, schema) for schema in refused):
        return True
    required = constraints.required() if constraints.kinds == OBJECT and depth < _MAX_NESTING else ()
    return any(_is_impossible(subsumption, constraints.at_key(name), depth + 1) for name in sorted(required))


def _is_known(subsumption: Subsumption, pair: PlacePair, *keywords: str) -> bool:
    """Return whether the old schema has these keywords, all of them, just as the new one."""
    subsumption.spend(pair.old, _STEPS_TO_COMPARE)
    return any(same_schema(schema, pair.new, *keywords) for schema in pair.old.known)


_TABLE: dict[Check, Collection[str]] = {
    check_type: ["type"],
    check_values: ["enum", "const"],
    check_bounds: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
    check_multiple: ["multipleOf"],
    check_counts: [end + unit for unit in COUNTED.values() for end in ("min", "max")],
    check_pattern: ["pattern"],
    check_format: ["format"],
    check_required: ["required"],
    check_properties: ["properties", "additionalProperties"],
    check_items: ["items"],
    check_unique: ["uniqueItems"],
    check_equal: [keyword for keywords in EQUAL for keyword in keywords if keyword != "items"],
    check_any_of: ["anyOf"],
    check_one_of: ["oneOf"],
    check_not: ["not"],
}
CHECKS = {keyword: check for check, keywords in _TABLE.items() for keyword in keywords}
"""The check of each keyword. `$ref` and `allOf` have none: they are flattened into schemas that are compared singly."""
