"""Whether all texts of one pattern fit another: case by case, and against the engine that runs patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.jsonschemas.inclusion import difference
from osbctl.jsonschemas.patterns import matches

INCLUDED = [
    ("^[a-z]+$", "^[a-z0-9]+$"),
    ("^[a-z]{3}$", "[a-z]"),
    ("^[a-z]{2,5}$", "^[a-z]{1,}$"),
    ("^a?b$", "^[ab]{1,2}$"),
    ("^\\d+$", "^\\w*$"),
    ("^[^a-z]$", "^[^b]$"),
    ("^a-b\\.c$", "^[abc.-]{5}$"),
    ("ab", "b"),
    ("^x", ""),
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
    ("a", "^b?[^b]?a"),
    ("^[a-c]$", "^[ac]$"),
]
UNKNOWN = [
    "(a|b)",
    "^a|b$",
    "^.$",
    "^\\s$",
    "^[[:alpha:]]$",
    "^\\p{L}$",
    "^a{1000}$",
    "a+?",
    "^a*+$",
    "\\bа",
    "^[z-a]$",
]


@pytest.mark.parametrize(("old", "new"), INCLUDED)
def test_included(old: str, new: str) -> None:
    assert difference(old, new) is False
    assert difference(old, old) is False


@pytest.mark.parametrize(("old", "new"), NARROWED)
def test_narrowed(old: str, new: str) -> None:
    text = difference(old, new)
    assert isinstance(text, str)
    assert (matches(old, text), matches(new, text)) == (True, False)


@pytest.mark.parametrize("pattern", UNKNOWN)
def test_what_is_not_read(pattern: str) -> None:
    assert difference("^a$", pattern) is None
    assert difference(pattern, "^a$") is None


def test_what_takes_long_is_not_told() -> None:
    old = "^" + "[ab]{0,99}" * 2 + "$"
    assert difference(old, old.replace("$", "a*$")) is None


ATOMS = st.sampled_from(["a", "b", "-", "\\.", "[ab]", "[^a]", "[a-c]", "[^b-]", "\\d", "\\w", "[\\d.]", "[^\\w]"])
COUNTS = st.sampled_from(["", "", "?", "*", "+", "{2}", "{1,2}", "{0,3}", "{1,}"])
ROWS = st.lists(st.tuples(ATOMS, COUNTS).map("".join), max_size=4).map("".join)
PATTERNS = st.tuples(st.sampled_from(["^", ""]), ROWS, st.sampled_from(["$", ""])).map("".join)


@given(PATTERNS, PATTERNS, st.lists(st.text("abcd.-_0 é\n", max_size=6), max_size=8))
def test_the_engine_agrees(old: str, new: str, texts: list[str]) -> None:
    found = difference(old, new)
    assert found is not None
    if found is not False:
        assert isinstance(found, str)
        assert (matches(old, found), matches(new, found)) == (True, False)
    else:
        assert not [text for text in texts if matches(old, text) and matches(new, text) is False]
