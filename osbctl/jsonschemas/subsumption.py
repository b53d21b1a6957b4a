"""Proof that a new schema accepts every value that an old one accepted.

The comparison is sound: if the new schema refuses a request that the old one accepts, `Subsumption.find_candidates`
finds one, and the pair of schemas is not `safe`. These are the reasons:

1. `Constraints` hold only schemas that every accepted value of a place meets. They may allow impossible values: that
   adds candidates and removes none.
2. Each keyword that the new schema's draft asserts has a check in `CHECKS`, which finds no candidate only if the
   constraints imply the keyword.
3. Each key that is spelled out, all other keys and all items are compared as pairs of their own. The keywords of
   `EQUAL`, which judge a value in another way, need an equal keyword in the old schema.
4. Two schemas that assert the same, each as its draft reads it, accept the same (`same_schema`): annotations and the
   order of names assert nothing, and a `format` means the same in every draft.
5. A value that meets an `anyOf` or `oneOf` meets one of its branches, and each value is of one kind. The candidates
   of a pair are dropped only if none of these cases has one.
6. Draft-04 tells 1 from 1.0, and `enum` and `const` do not: each listed number is tried in both spellings.
7. All else is a candidate: a pair that is met again (recursion) or nested too deeply, and a value that the bounded
   validator leaves undecided. Past the budget of steps `UndecidableError` makes the whole pair risky.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from osbctl.jsonschemas.candidates import Candidate, PlacePair, same_schema
from osbctl.jsonschemas.constraints import ALL, ARRAY, BOUNDS, COUNTED, NUMBERS, OBJECT, STRING, Constraints, every_item
from osbctl.jsonschemas.dialects import DRAFT_4, UndecidableError
from osbctl.jsonschemas.schema_change import DESCRIBED, FORBIDDEN, ITEMS, UNDECIDED
from osbctl.jsonschemas.schema_tree import BoundedValidator, Subschema, shortest_value_list
from osbctl.jsonschemas.value_generator import has_needless_point, list_spellings
from osbctl.paths import JsonValue

MAX_STEPS = 50_000
"""Pairs of places looked at, each counted by its constraints: a second or so. A 64 kB schema has some 2,000 places."""

MAX_NESTING = 100
"""Pairs within pairs; bounds the recursion."""

_CONSTRAINTS_A_STEP = _BRANCHES_A_STEP = 16
_STEPS_TO_COMPARE, _MAX_REQUIRED, _MAX_VALUES = 4, 8, 8
"""Steps to compare two schemas as text; required properties within required ones; refused values that are kept."""

EQUAL: dict[tuple[str, ...], frozenset[str]] = {
    ("multipleOf",): NUMBERS,
    **{(word,): STRING for word in ["pattern", "format"]},
    **{(word,): OBJECT for word in ["patternProperties", "propertyNames", "dependencies"]},
    **{(word,): OBJECT for word in ["dependentRequired", "dependentSchemas"]},
    ("uniqueItems",): ARRAY,
    ("contains", "minContains", "maxContains"): ARRAY,
    ("additionalItems", "items"): ARRAY,
    ("prefixItems", "items"): ARRAY,
    ("if", "then", "else"): ALL,
}
"""Keywords that only equal ones imply, each first with those that it works together with; and the kinds they judge."""

_GROUPS = (("properties", "additionalProperties"), *BOUNDS.items(), *reversed(EQUAL))
TOGETHER = {keyword: group for group in _GROUPS for keyword in group}
"""The keywords that are checked together with a keyword, itself among them."""


class Subsumption:
    """One comparison, within a budget of steps. Raises `UndecidableError` once that is spent."""

    def __init__(self, validator: BoundedValidator) -> None:
        self.validator = validator
        self.left = MAX_STEPS
        self._known: dict[object, list[Candidate]] = {}
        self._under_way: set[object] = set()

    def find_candidates(self, pair: PlacePair) -> list[Candidate]:
        """The keywords that may refuse a value that meets the old constraints. Empty if none can."""
        self.spend_budget(pair.old)
        key = (pair.old.cache_key, pair.new)
        if key in self._known:
            return self._known[key]
        if key in self._under_way or len(self._under_way) > MAX_NESTING:
            return [pair.make_candidate("", rule=UNDECIDED)]
        self._under_way.add(key)
        found = self._find_candidates_uncached(pair) if pair.old.kinds else []
        self._under_way.discard(key)
        self._known[key] = found[:1]
        return found

    def implies(self, old: Constraints, new: Subschema) -> bool:
        """Return whether all that meets the constraints is shown to meet the schema."""
        return not self.find_candidates(PlacePair(old, new))

    def spend_budget(self, old: Constraints, times: int = 1) -> None:
        """Count so many traversals of the constraints. Raises `UndecidableError` past the budget."""
        self.left -= times + times * len(old.known) // _CONSTRAINTS_A_STEP
        if self.left < 0:
            raise UndecidableError("the schemas are too large or too entangled to compare in full")

    def valid_values(self, old: Constraints, *new: Subschema) -> list[JsonValue] | None:
        """The values that meet the constraints, if these are few; undecided ones are among them.

        If one of the schemas is of draft-04 (`new` are those that will judge the values), each in all spellings.
        """
        values = shortest_value_list(old.known)
        if values is not None and any(schema.tree.dialect == DRAFT_4 for schema in (*old.known, *new)):
            values = list_spellings(values)
        if values is None or len(values) * len(old.known) > self.validator.left:
            return None
        return [v for v in values if all(self.validator.accepts(s, v) is not False for s in old.known)]

    def _find_candidates_uncached(self, pair: PlacePair) -> list[Candidate]:
        found = [candidate for part in pair.new.conjuncts for candidate in self._check_schema(replace(pair, new=part))]
        case = None
        for case in self._split_into_cases(pair.old) if found else ():
            if not self.implies(case, pair.new):
                is_branch = case.within == pair.old.within
                return [replace(candidate, case=case if is_branch else None) for candidate in found]
        return [] if case else found

    def _split_into_cases(self, old: Constraints) -> Iterator[Constraints]:
        """Constraints of which each value meets one: with each branch of the first open choice, else of each kind."""
        for branches in chain.from_iterable(schema.choices for schema in old.known):
            self.spend_budget(old, len(branches) // _BRANCHES_A_STEP)
            if not any(set(old.known).issuperset(branch.conjuncts) for branch in branches):
                yield from map(old.and_also, branches)
                return
        kinds = sorted({NUMBERS if kind in NUMBERS else frozenset({kind}) for kind in old.kinds}, key=sorted)
        if len(kinds) > 1:
            yield from (Constraints(old.known, old.within & some) for some in kinds)

    def _check_schema(self, pair: PlacePair) -> list[Candidate]:
        """The candidates of one schema, without those that it refers to."""
        self.spend_budget(pair.old)
        if any(same_schema(schema, pair.new) for schema in pair.old.known):
            return []
        if not isinstance(pair.new.value, dict):
            return [pair.make_candidate("", rule=ITEMS if pair.at == 0 else FORBIDDEN)]
        values = self.valid_values(pair.old, pair.new)
        if values is not None:
            return self._test_few_values(pair, values)
        checks = dict.fromkeys(check for keyword, check in CHECKS.items() if keyword in pair.new.assertions)
        return [candidate for check in checks for candidate in check(self, pair)]

    def _test_few_values(self, pair: PlacePair, values: list[JsonValue]) -> list[Candidate]:
        refused: dict[str, list[JsonValue]] = {}
        formats = {schema.get("format") for schema in pair.old.known}
        for value in values:
            objections = self.validator.refusing_keywords(pair.new, value)
            if objections is None:
                return [pair.make_candidate("")]
            for keyword in sorted(objections & set(pair.new.value) - {"allOf", "$ref"}):
                if keyword != "format" or pair.new.get("format") not in formats:
                    refused.setdefault(keyword, []).append(value)
        return [_make_candidate_of_values(pair, keyword, wrong) for keyword, wrong in refused.items()]


def _make_candidate_of_values(pair: PlacePair, keyword: str, refused: list[JsonValue]) -> Candidate:
    """The candidate for a keyword that refuses listed values; undecided if only 1.0 is refused, and 1 is listed."""
    listed = {repr(value) for value in shortest_value_list(pair.old.known) or ()}
    usual = [value for value in refused if repr(value) in listed or not has_needless_point(value)]
    return pair.make_candidate(keyword, *(usual or refused)[:_MAX_VALUES], rule="" if usual else UNDECIDED)


def check_type(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`type`. Undecided if only the drafts differ: is 1.0 an integer?"""
    lost = pair.old.kinds - Constraints((pair.new,)).kinds
    if lost:
        yield pair.make_candidate("type", rule=UNDECIDED if lost == {"whole"} else "")


def check_enum_and_const(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`enum` and `const`, if the old values are not few (the validator judges each of few values)."""
    yield pair.make_candidate("const" if pair.new.get("enum") is None else "enum")


def check_bounds(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`minimum`, `maximum` and their exclusive forms."""
    kinds, new = pair.old.kinds, Constraints((pair.new,))
    for keyword, exclusive in BOUNDS.items() if kinds & NUMBERS else ():
        if pair.old.strongest_bound(keyword, kinds) < new.strongest_bound(keyword, kinds):
            yield pair.make_candidate(exclusive if pair.new.get(keyword) is None else keyword)


def check_size_limits(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`minLength`, `maxItems` and their like, of every kind that has them."""
    for kind, unit in COUNTED.items():
        if kind in pair.old.kinds:
            least, most = pair.old.size_limits(kind)
            fewest, limit = Constraints((pair.new,)).size_limits(kind)
            if least < fewest:
                yield pair.make_candidate(f"min{unit}")
            if most > limit:
                yield pair.make_candidate(f"max{unit}")


def check_required(_: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`required`, one candidate for each name."""
    known = pair.old.required_names()
    for name in dict.fromkeys(pair.new.get("required")) if "object" in pair.old.kinds else ():
        if name not in known:
            yield pair.make_candidate("required", name=name)


def check_properties(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`properties` and `additionalProperties`: each key that either side spells out, then all others.

    A key that a pattern of the new schema matches is no additional property; patterns are not run, so it counts as one.
    """
    if "object" not in pair.old.kinds:
        return
    described, properties = pair.old.property_names(), Constraints((pair.new,)).property_names()
    spelled = sorted({*described, *properties})
    rest = pair.new.get_child("additionalProperties")
    has_patterns = any(schema.get("patternProperties") for schema in pair.old.known)
    for name in spelled:
        subsumption.spend_budget(pair.old)
        demand = pair.new.child("properties", name) if name in properties else rest
        if demand:
            inner = PlacePair(pair.old.property_constraints(name), demand, pair, name)
            found = subsumption.find_candidates(inner)
            is_new = not (inner.old.known or has_patterns or name in described)
            yield from _merge_newly_described(inner, found) if is_new else found
    if rest:
        other = "other" + "_" * max(map(len, spelled)) if "other" in spelled else "other"  # no side spells it out
        others = pair.old.property_constraints(other, pair.new.assertions.get("patternProperties", ()))
        yield from subsumption.find_candidates(PlacePair(others, rest, pair, other, is_wildcard=True))


def _merge_newly_described(pair: PlacePair, candidates: list[Candidate]) -> Iterator[Candidate]:
    """The candidates in a property of which the old schema said nothing: one for all but those that forbid."""
    forbidding = [candidate for candidate in candidates if candidate.pair.new.value is False]
    yield from forbidding
    if len(forbidding) < len(candidates):
        yield pair.make_candidate("", rule=DESCRIBED)


def check_items(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`items`, if it holds for all items; a list of schemas is implied by an equal one alone."""
    demand = every_item(pair.new)
    if "array" in pair.old.kinds and demand:
        yield from subsumption.find_candidates(PlacePair(pair.old.item_constraints(), demand, pair, 0))
    elif "array" in pair.old.kinds and not _has_equal_keywords(subsumption, pair, "items"):
        yield pair.make_candidate("items")


def check_equal_keywords(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """All keywords of `EQUAL`."""
    for keywords, kinds in EQUAL.items():
        asserts = kinds & pair.old.kinds and pair.new.get(keywords[0]) is not None
        if asserts and not _has_equal_keywords(subsumption, pair, *keywords):
            yield pair.make_candidate(keywords[0])


def check_any_of(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`anyOf`: one branch accepts all."""
    if not any(subsumption.implies(pair.old, branch) for branch in pair.new.children("anyOf")):
        yield pair.make_candidate("anyOf")


def check_one_of(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`oneOf`: an equal one, or one branch accepts all and each other branch nothing."""
    branches = pair.new.children("oneOf")
    accepting = next((branch for branch in branches if subsumption.implies(pair.old, branch)), None)
    others = [pair.old.and_also(branch) for branch in branches if branch is not accepting]
    is_shown = accepting is not None and all(_is_unsatisfiable(subsumption, other) for other in others)
    if not is_shown and not _has_equal_keywords(subsumption, pair, "oneOf"):
        yield pair.make_candidate("oneOf")


def check_not(subsumption: Subsumption, pair: PlacePair) -> Iterator[Candidate]:
    """`not`: no possible value meets it."""
    if not _is_unsatisfiable(subsumption, pair.old.and_also(pair.new.child("not"))):
        yield pair.make_candidate("not")


def _is_unsatisfiable(subsumption: Subsumption, constraints: Constraints, depth: int = 0) -> bool:
    """Return whether the constraints are unsatisfiable: by type, enumeration, `not`, or a required property."""
    subsumption.spend_budget(constraints)
    if not constraints.kinds or subsumption.valid_values(constraints) == []:
        return True
    refused = filter(None, (schema.get_child("not") for schema in constraints.known))
    if any(subsumption.implies(constraints, schema) for schema in refused):
        return True
    required = constraints.required_names() if constraints.kinds == OBJECT and depth < _MAX_REQUIRED else ()
    inner = map(constraints.property_constraints, sorted(required))
    return any(_is_unsatisfiable(subsumption, part, depth + 1) for part in inner)


def _has_equal_keywords(subsumption: Subsumption, pair: PlacePair, *keywords: str) -> bool:
    """Return whether the old schema has these keywords, all of them, just as the new one."""
    subsumption.spend_budget(pair.old, _STEPS_TO_COMPARE)
    return any(same_schema(schema, pair.new, *keywords) for schema in pair.old.known)


CHECKS: dict[str, Callable[[Subsumption, PlacePair], Iterator[Candidate]]] = {
    "type": check_type,
    **dict.fromkeys((*BOUNDS, *BOUNDS.values()), check_bounds),
    **{end + unit: check_size_limits for unit in COUNTED.values() for end in ("min", "max")},
    **dict.fromkeys(("enum", "const"), check_enum_and_const),
    "required": check_required,
    **dict.fromkeys(("properties", "additionalProperties"), check_properties),
    **{keyword: check_equal_keywords for keywords in EQUAL for keyword in keywords},
    "items": check_items,
    "anyOf": check_any_of,
    "oneOf": check_one_of,
    "not": check_not,
}
"""The check of each keyword. `$ref` and `allOf` have none: they are flattened into schemas that are compared singly."""
