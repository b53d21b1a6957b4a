"""One check for each keyword of JSON Schema: whether the constraints of the old schema imply it.

A check yields a candidate for everything that it cannot show; see `subsumption.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.comparison.candidates import DESCRIBED, UNDECIDED, Candidate, PlacePair, Step
from osbctl.jsonschemas.comparison.subsumption import Check, Subsumption
from osbctl.jsonschemas.constraints import (
    ALL,
    ARRAY,
    COUNTED,
    NUMBERS,
    OBJECT,
    STRING,
    Constraints,
    Kinds,
    every_item,
    kinds_of,
)
from osbctl.jsonschemas.schema_tree import Subschema, same_schema

EQUAL: dict[tuple[str, ...], Kinds] = {
    ("multipleOf",): NUMBERS,
    ("format",): STRING,
    **{(word,): OBJECT for word in ["patternProperties", "propertyNames", "dependencies"]},
    **{(word,): OBJECT for word in ["dependentRequired", "dependentSchemas"]},
    ("contains", "minContains", "maxContains"): ARRAY,
    ("additionalItems", "items"): ARRAY,
    ("prefixItems", "items"): ARRAY,
    ("if", "then", "else"): ALL,
}
"""Keywords that only equal ones imply, each first with those that it works together with; and the kinds they judge."""

_TOGETHER = (
    ("minimum", "exclusiveMinimum"),
    ("maximum", "exclusiveMaximum"),
    ("properties", "additionalProperties"),
)

_STEPS_TO_COMPARE, _MAX_NESTING = 4, 8
"""Steps for each schema that is compared as text; required properties within required ones."""


def keywords_together(keyword: str) -> tuple[str, ...]:
    """The keywords that are checked together with this one, itself among them."""
    return next((group for group in (*EQUAL, *_TOGETHER) if keyword in group), (keyword,))


def check_type(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`type`. Undecided if only the drafts differ: is 1.0 an integer?"""
    lost = pair.old.kinds - kinds_of(pair.new)
    if lost:
        yield pair.candidate("type", rule=UNDECIDED if lost == {"whole"} else "")


def check_values(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`enum` and `const`, if the old values are not few (the validator judges each of few values)."""
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
        yield pair.candidate("pattern")


def check_required(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`required`, one candidate for each name."""
    if "object" in pair.old.kinds:
        known = pair.old.required()
        for name in dict.fromkeys(pair.new.get("required")):
            if name not in known:
                yield pair.candidate("required", name=name)


def check_properties(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`properties` and `additionalProperties`: each key that either side spells out, then all others.

    A key that a pattern of the new schema matches is no additional property; patterns are not run, so it counts as one.
    """
    if "object" not in pair.old.kinds:
        return
    described = set(pair.old.names())
    spelled = sorted(described.union(pair.new.get("properties") or ()))
    rest = pair.new.optional("additionalProperties")
    has_patterns = any(schema.get("patternProperties") for schema in pair.old.known)
    for name in spelled:
        subsumption.spend(pair.old)
        demand = pair.new.child("properties", name) if name in (pair.new.get("properties") or ()) else rest
        if demand:
            inner = pair.enter(pair.old.at_key(name), demand, Step(name))
            found = subsumption.compare(inner)
            is_new = not (inner.old.known or has_patterns or name in described)
            yield from _newly_described(inner, found) if is_new else found
    if rest:
        others = Constraints().and_also(*_for_other_keys(pair.old, pair.new))
        yield from subsumption.compare(pair.enter(others, rest, Step(_other_key(spelled), fresh=True)))


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
    return "other" + "_" * max(map(len, spelled)) if "other" in spelled else "other"


def check_items(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`items`, if it holds for all items; a list of schemas is implied by an equal one alone."""
    demand = every_item(pair.new)
    if "array" in pair.old.kinds and demand:
        yield from subsumption.compare(pair.enter(pair.old.at_item(), demand, Step(0)))
    elif "array" in pair.old.kinds and not _is_known(subsumption, pair, "items"):
        yield pair.candidate("items")


def check_unique(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`uniqueItems`: implied by an equal one alone."""
    known = any(schema.get("uniqueItems") for schema in pair.old.known)
    if "array" in pair.old.kinds and pair.new.get("uniqueItems") and not known:
        yield pair.candidate("uniqueItems")


def check_equal(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """All keywords of `EQUAL`."""
    for keywords, kinds in EQUAL.items():
        asserts = kinds & pair.old.kinds and pair.new.get(keywords[0]) is not None
        if asserts and not _is_known(subsumption, pair, *keywords):
            yield pair.candidate(keywords[0])


def check_any_of(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`anyOf`: one branch accepts all."""
    if not any(subsumption.implies(pair.old, branch) for branch in pair.new.children("anyOf")):
        yield pair.candidate("anyOf")


def check_one_of(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`oneOf`: an equal one, or one branch accepts all and each other branch nothing."""
    branches = pair.new.children("oneOf")
    accepting = next((branch for branch in branches if subsumption.implies(pair.old, branch)), None)
    others = [pair.old.and_also(branch) for branch in branches if branch is not accepting]
    is_shown = accepting is not None and all(_is_impossible(subsumption, other) for other in others)
    if not is_shown and not _is_known(subsumption, pair, "oneOf"):
        yield pair.candidate("oneOf")


def check_not(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`not`: no possible value meets it."""
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
    check_counts: [end + unit for unit in COUNTED.values() for end in ("min", "max")],
    check_pattern: ["pattern"],
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
