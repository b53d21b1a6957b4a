"""YAML that every reader takes for the same value."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from osbctl.sources.parse import parse_document
from osbctl.sources.yaml_text import dump, dump_text
from osbctl.text import escape_line

TRAPS = [
    "no", "Yes", "on", "y", "N", "~", "", "null", "NULL", "true", "0x1F", "0o17", "012", "1_000", "1:30", "190:20:30",
    "2001-01-01", "1e3", "1.e3", ".inf", "-.INF", ".nan", "+1", "1.", ".5", "-", "--- a", "...", "<<", "=", "*a", "&a",
    "!x", "? a", ": a", "a: b", "a #b", "#a", " a", "a ", "\ta", "a\n", "\na", "a\n\n", "a\nb", " a\nb", "a\n b", "|",
    ">", "%a", "@a", "`a", "[a", "{a", "'a'", '"a"', "\\", "\x00", "\x1b[31m", "\x7f", "\x85", "\u2028", "\ufeff",
    "\u202ea", "a\u202e\nb", "🐘", "\U000e0041", "a\r\nb", "x" * 200, "0b11", "0B1", "1__2", "0_", "-0", "0x",
    "é\u00a0", "##vso[task.x]", "a\n##[error]b\n", "é ##teamcity[x '|n']", "::error::x", "a\n  ::error::x\n",
]  # fmt: skip
FLOATS = [0.0, -0.0, 1.0, 1e16, 1e100, 1.5e-7, 1e-10, 123456789.125, 5e-324, 1.7976931348623157e308, 1e22, -1e21]

STRINGS = st.sampled_from(TRAPS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=12,
)


def agree(data: dict[str, Any]) -> None:
    text = dump(data)
    assert repr(yaml.safe_load(text)) == repr(data)
    document = parse_document(text.encode(), "catalog.yaml")
    assert document.data == data
    assert repr(document.data) == repr(data)
    assert all(escape_line(line) == line for line in text.split("\n"))
    assert dump(document.data) == text


def test_strings_that_look_like_something_else() -> None:
    for value in TRAPS:
        agree({"value": value, "list": [value], value: 1})


@pytest.mark.parametrize("value", FLOATS)
def test_numbers(value: float) -> None:
    agree({"value": value, "list": [value, int(value)]})


@pytest.mark.fuzz
@given(st.dictionaries(STRINGS, JSON, max_size=4))
def test_any_value_comes_back(data: dict[str, Any]) -> None:
    agree(data)


def test_order_is_kept_and_no_alias_is_made() -> None:
    shared = {"b": 1, "a": 2}
    assert dump({"z": shared, "y": shared}) == 'z:\n  b: 1\n  a: 2\n"y":\n  b: 1\n  a: 2\n'


@given(STRINGS)
def test_one_string_as_a_value(value: str) -> None:
    text = f"a:\n  b: {dump_text(value)}\n"
    assert yaml.safe_load(text) == parse_document(text.encode(), "x.yaml").data == {"a": {"b": value}}
    assert text.count("\n") == 2
    assert escape_line(dump_text(value)) == dump_text(value)
