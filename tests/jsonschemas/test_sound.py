"""Safe is never said of what refuses something; breaking always has a witness that jsonschema confirms.

The code asks jsonschema-rs: two implementations agree then. Where formats are enforced there is no second one that
knows them all.
"""

import json
import random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema.validators import validator_for

from osbctl.jsonschemas import dialects
from osbctl.jsonschemas.compare import compare_schemas
from osbctl.text import is_safe_character
from tests.corpus import CORPUS, EVERY_CASE, needs_corpus

from .strategies import pairs, request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
KEYWORDS = st.sampled_from([*sorted(dialects.DRAFT_7.keywords), "$id", "id", "$schema", "default", "definitions"])
VALUES = JSON | st.sampled_from(["#", "#/a", "object", "http://x/y#", ["string"], {"$ref": "#"}, "^(a+)+$", 10**400])
BROKEN = st.recursive(
    VALUES, lambda inner: st.dictionaries(KEYWORDS, inner, max_size=4) | st.lists(inner, max_size=3), max_leaves=12
)
MESSY = settings(
    deadline=None,
    max_examples=2_000 if EVERY_CASE else 25,
    suppress_health_check=list(HealthCheck),
    derandomize=not EVERY_CASE,
)


def valid(schema: Any, value: Any, formats: bool = False) -> bool | None:
    if formats:
        return jsonschema_rs.validator_for(schema, validate_formats=True).is_valid(value)
    try:
        return bool(validator_for(schema)(schema).is_valid(value))
    except Exception:
        return None


def valid_by_rust(schema: Any, value: Any) -> bool | None:
    try:
        return jsonschema_rs.validator_for(schema, validate_formats=False).is_valid(value)
    except Exception:
        return None


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(24 if EVERY_CASE else 1))  # each within the time limit of a test
@settings(MESSY, max_examples=1_000 if EVERY_CASE else 25)
@given(pair=pairs())
def test_levels_are_true_and_no_two_changes_of_a_rule_have_one_field(
    pair: tuple[dict[str, Any], dict[str, Any], random.Random], part: int
) -> None:
    old, new, choose = pair
    changes = compare_schemas(old, new)
    assert len({(change.rule, change.field) for change in changes}) == len(changes)
    for change in changes:
        if change.level == "breaking":
            formats = change.rule == "schema-format-changed"
            assert change.witness is not None
            assert valid(old, change.witness, formats) is True
            assert valid(new, change.witness, formats) is False
    if all(change.level == "safe" or change.rule == "schema-default-changed" for change in changes):
        for value in (request(choose) for _ in range(60)):
            for judge in (valid, valid_by_rust):
                assert not (judge(old, value) is True and judge(new, value) is False), value


@needs_corpus
def test_schemas_that_hold_themselves_are_not_called_safe() -> None:
    assert CORPUS
    case = json.loads((CORPUS / "recursive-schemas.json").read_text("utf-8"))
    assert (valid(case["old"], case["request"]), valid(case["new"], case["request"])) == (True, False)
    assert {change.level for change in compare_schemas(case["old"], case["new"])} & {"risky", "breaking"}


@settings(MESSY, max_examples=1_000 if EVERY_CASE else 25)
@given(pairs())
def test_a_schema_against_itself_and_twice_the_same(pair: tuple[dict[str, Any], dict[str, Any], Any]) -> None:
    old, new, _ = pair
    assert compare_schemas(old, dict(reversed(old.items()))) == []
    assert compare_schemas(old, new) == compare_schemas(old, new)


@pytest.mark.fuzz
@MESSY
@given(BROKEN, BROKEN)
def test_nothing_raises(old: Any, new: Any) -> None:
    for change in compare_schemas(old, new):
        assert change.level in ("breaking", "risky", "safe")
        assert len(change.message) < 400
        assert all(map(is_safe_character, change.message + change.example))
