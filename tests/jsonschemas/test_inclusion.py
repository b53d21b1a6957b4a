"""Whether all texts of one pattern fit another that is built alike: by case, and against the engine that runs them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.jsonschemas.comparison import ABSENT, compare_schemas
from osbctl.jsonschemas.patterns import edge_texts, is_within, matches

INCLUDED = [
    ("^[a-z]+$", "^[a-z0-9]+$"),
    ("^[a-z]{2,5}$", "^[a-z]{1,}$"),
    ("^[a-z][a-z0-9-]{0,30}$", "^[a-z][a-z0-9-]{0,62}$"),
    ("^\\d+$", "^\\w*$"),
    ("^[^a-z]$", "^[^b]$"),
    ("^(small|large)$", "^(small|medium|large)$"),
    ("^(?:small)?$", "^(?:small|large)*$"),
    ("^(?=a)[a-c]+?$", "^(?=a)[a-d]+$"),
    ("a\\b", "[ab]\\b"),
    ("^[b-\U0010ffff]$", "^[a-\U0010ffff]$"),
    ("^[a-z]+$", "^[a-z]+"),
    ("^[a-z]+$", "[a-z0-9]+$"),
    ("^a$|^b$", "b|^a"),
    ("^ab?c$", "b?"),
    ("ab", "b"),
    ("a", ""),
]
NARROWED = [
    ("a", "^[a-z]+$"),
    ("^[a-z][a-z0-9-]*$", "^[a-z][a-z0-9-]{0,30}$"),
    ("^[a-z]*$", "^[a-z]+$"),
    ("^[a-z]$", "^[b-z]$"),
    ("^[a-z]$", "^[a-y]$"),
    ("^[^a]$", "^[^ab]$"),
    ("^\\w$", "^[a-zA-Z0-9]$"),
    ("^a{2,4}$", "^a{2,3}$"),
    ("^a{2,4}$", "^a{3,4}$"),
    ("^a{2}$", "^a{3}$"),
    ("^a+$", "^a?$"),
    ("a", "^a"),
    ("a", "a$"),
    ("^[a-c]$", "^[ac]$"),
    ("^[a-\U0010ffff]$", "^[a-\U0010fffe]$"),
    ("^(a|b|c)$", "^(a|c)$"),
    ("^a{0,2}$", "^a{0}$"),
]
UNKNOWN = [
    ("^[a-z]{3}$", "[a-z]"),
    ("^a?b$", "^[ab]{1,2}$"),
    ("a", "^b?[^b]?a"),
    ("^[a-z]+$", "^[a-z]$"),
    ("^(ab)$", "^(b)$"),
    ("^(ab)+$", "(b)+"),
    ("^a$", "^.$"),
    ("^a$", "^[[:alpha:]]$"),
    ("^a$", "^\\p{L}$"),
    ("^a*$", "^a*+$"),
    ("^a{0}$", "^a{,2}$"),
    ("^(?=a)a$", "^(?!a)a$"),
    ("^a$", "\\ba$"),
    ("^a$", "^[z-a]$"),
]


@pytest.mark.parametrize(("old", "new"), INCLUDED)
def test_included(old: str, new: str) -> None:
    assert is_within(old, new)
    assert is_within(old, old)
    assert not is_within(new, old)


@pytest.mark.parametrize(("old", "new"), NARROWED)
def test_narrowed(old: str, new: str) -> None:
    assert not is_within(old, new)
    [change] = compare_schemas(*({"properties": {"p": {"type": "string", "pattern": p}}} for p in (old, new)))
    assert change.level == "breaking"
    assert change.witness is not ABSENT


@pytest.mark.parametrize(("old", "new"), UNKNOWN)
def test_what_is_not_shown(old: str, new: str) -> None:
    assert not is_within(old, new)


@pytest.mark.parametrize("pattern", ["^\\p{L}+$", "^(?<n>a)$", f"^(?:{'ab' * 200})$"])
def test_a_pattern_that_stays_is_no_change_however_it_is_written(pattern: str) -> None:
    schemas = ({"properties": {"p": {"type": "string", "pattern": pattern, "maxLength": n}}} for n in (5, 9))
    assert [change.rule for change in compare_schemas(*schemas)] == ["schema-relaxed"]


ATOMS = st.sampled_from(["a", "b", "-", "\\.", "[ab]", "[^a]", "[a-c]", "[^b-]", "\\d", "\\w", "[\\d.]", "[^\\w]"])
COUNTS = st.sampled_from(["", "", "?", "*", "+", "{2}", "{1,2}", "{0,3}", "{1,}"])
ROWS = st.lists(st.tuples(ATOMS, COUNTS).map("".join), max_size=3).map("".join)
GROUPS = st.lists(ROWS, min_size=1, max_size=3).map("|".join).map("({})".format)
WIDER = {"[ab]": "[a-c]", "\\d": "\\w", "a": "[ab]", "+": "*", "{2}": "{1,2}", "{1,2}": "{1,}", "?": "*", "|": "|b|"}
ANCHORED = st.tuples(st.sampled_from(["^", ""]), ROWS, GROUPS, COUNTS, st.sampled_from(["$", ""])).map("".join)
PAIRS = st.tuples(ANCHORED, st.sampled_from(sorted(WIDER.items()))).map(lambda one: (one[0], one[0].replace(*one[1])))

SHORTER = st.tuples(ANCHORED, st.integers(0, 4), st.integers(0, 4)).map(
    lambda one: (one[0], one[0][one[1] : len(one[0]) - one[2]])
)
"""With pieces left out at the ends, whole or not."""


@pytest.mark.fuzz
@given(PAIRS | SHORTER | PAIRS.map(lambda pair: pair[::-1]) | st.tuples(ANCHORED, ANCHORED), st.data())
def test_the_engine_agrees(pair: tuple[str, str], data: st.DataObject) -> None:
    """By the engine that runs them, and by Python's, which jsonschema has: each is wrong about a few patterns."""
    old, new = pair
    if is_within(old, new):
        texts = [*edge_texts(old), *data.draw(st.lists(st.text("abcd.-_0 é\n", max_size=6), max_size=8))]
        found = [text for text in texts if matches(old, text) and _found(old, text) is not False]
        assert not [text for text in found if matches(new, text) is False or _found(new, text) is False]


def _found(pattern: str, text: str) -> bool | None:
    try:
        return bool(re.search(pattern, text, re.ASCII)) if len(text) < 12 else None
    except re.error:  # a piece that begins with a count
        return None
