"""Numbers that may be written as 1 and as 1.0: equal to `enum` and `const`, but not to the `integer` of draft-04."""

from itertools import product
from typing import Any

import pytest
from jsonschema.validators import validator_for

from osbctl.jsonschemas.compare import compare_schemas
from osbctl.jsonschemas.subsumption import has_needless_point, list_spellings
from tests.corpus import EVERY_CASE

from .strategies import DRAFT_4, DRAFT_6, DRAFT_7
from .test_table import confirm, size

INTEGER = {"type": "integer"}
LISTED: list[list[Any]] = [
    [1.0], [1], [1.0, 2.0], [-1.0, "a"], [2**53 + 0.0], [1e300], [0, 0.5], [[1.0, 2]], [{"x": 1.0}],
]  # fmt: skip
OLD: list[dict[str, Any]] = [{}, INTEGER, {"type": ["integer", "string"]}, {"not": INTEGER}, {"items": INTEGER}]
NEW: list[dict[str, Any]] = [
    {"type": "string"}, {"type": "integer"}, {"type": ["array", "object"]}, {"type": "number", "minimum": 0},
    {"not": {"type": "integer"}}, {"items": {"type": "string"}}, {"items": {"type": "integer"}},
    {"properties": {"x": {"not": {"type": "integer"}}}}, {"enum": [1, 2, 3]},
    {"anyOf": [{"type": "string"}, {"enum": [1.5]}]}, {"oneOf": [{"type": "integer"}, {"enum": [1.0]}]},
]  # fmt: skip


def spellings_of(values: list[Any]) -> list[Any]:
    """The values that the test tries, written out: they must not depend on the code under test."""
    return [*values, 1, 1.0, 2, -1, 2**53, int(1e300), 0, 0.0, [1, 2], [1.0, 2.0], [1, 2.0], [1.0, 2], {"x": 1}]


PAIRS = [(DRAFT_4, DRAFT_4), (DRAFT_4, DRAFT_6), (DRAFT_7, DRAFT_4), (DRAFT_7, DRAFT_7)]
CASES = [*product(PAIRS, (False, True), LISTED, OLD, NEW)]


@pytest.mark.fuzz
def test_a_change_that_refuses_one_spelling_is_never_safe() -> None:
    """The judge is the reference validator, on requests with each number in both spellings."""
    cases = CASES if EVERY_CASE else CASES[::41]
    safe = 0
    for drafts, is_negated, values, before, after in cases:
        schemas = [{"enum": values, **before}, {**after} if "enum" in after else {"enum": values, **before, **after}]
        places = [{"not": {"not": schema}} if is_negated else schema for schema in schemas]
        old, new = (size(place, draft) for place, draft in zip(places, drafts, strict=True))
        changes = compare_schemas(old, new)
        for change in changes:
            if change.level == "breaking":
                confirm(old, new, change)
        if all(change.level == "safe" for change in changes):
            safe += 1
            accepts_old, accepts_new = (validator_for(schema)(schema).is_valid for schema in (old, new))
            requests = [{"size": value} for value in spellings_of(values)]
            assert [r for r in requests if accepts_old(r) and not accepts_new(r)] == [], (old, new)
    assert len(cases) // 8 < safe < len(cases) * 7 // 8  # not everything is called risky, nor safe


@pytest.mark.parametrize("listed", [[1.0, 2.0], [1, 2], [[1.0]], [{"x": [1.0]}]])
def test_the_request_shows_the_spelling_that_is_refused(listed: list[Any]) -> None:
    whole = {"items": INTEGER, "properties": {"x": {"items": INTEGER}}}
    old = size({"type": ["integer", "array", "object"], "enum": listed, **whole}, DRAFT_4)
    for new in (size({"type": "string"}, DRAFT_4), size({"type": "string"}, DRAFT_6)):
        [change] = (c for c in compare_schemas(old, new) if c.level == "breaking")
        confirm(old, new, change)


def test_a_point_that_the_author_did_not_write_is_undecided() -> None:
    for draft in (DRAFT_4, DRAFT_7):
        [change] = compare_schemas(size({"enum": [1, 2]}, draft), size({"enum": [1, 2], **INTEGER}, DRAFT_4))
        assert (change.level, change.rule) == ("risky", "schema-undecided")
        assert "to draft-04, 1.0 is not an integer" in change.message
    [change] = compare_schemas(size({"enum": [1, "a"]}, DRAFT_4), size({"enum": [1, "a"], **INTEGER}, DRAFT_4))
    assert (change.level, change.witness) == ("breaking", {"size": "a"})
    [change] = compare_schemas(size({"enum": [1.0, 2]}, DRAFT_4), size({"enum": [1.0, 2], **INTEGER}, DRAFT_4))
    assert (change.level, change.witness) == ("breaking", {"size": 1.0})
    assert compare_schemas(size({"enum": [1, 2]}), size({"enum": [1, 2], **INTEGER}))[0].level == "safe"


def test_every_mixture_of_spellings_up_to_a_limit() -> None:
    assert list(map(repr, list_spellings([1, True, 0.5, "1"]) or ())) == ["1", "1.0", "True", "0.5", "'1'"]
    assert len(list_spellings([[1, {"x": 2.0}, 0.5]]) or ()) == 4
    assert list_spellings([10**400, 2**53 + 1, float("inf")]) == [10**400, 2**53 + 1, float("inf")]
    assert list_spellings([[*range(9)]]) is None
    assert has_needless_point([{"x": 1.0}]) and not has_needless_point([{"x": [1, 0.5, True]}])


def test_a_long_list_of_numbers_is_not_called_safe() -> None:
    long = size({"enum": [[*range(20)]]}, DRAFT_4)
    assert "risky" in {change.level for change in compare_schemas(long, size({"items": INTEGER}, DRAFT_4))}
