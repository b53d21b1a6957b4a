"""Text from outside, made fit to be shown."""

from __future__ import annotations

import json
import unicodedata

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from osbctl.text import cells, escaped, excerpt, safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("Grüße, 日本, 🐘", "Grüße, 日本, 🐘"),
        ("👩\u200d💻 ❤\ufe0f", "👩\u200d💻 ❤\ufe0f"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]8;;http://evil\x07x", r"\x1b]8;;http://evil\x07x"),
        ("\x9b2J\x85", r"\x9b2J\x85"),
        ("a\u202eb\u2066", r"a\u202eb\u2066"),
        ("\u2028\ufeff\ud800", r"\u2028\ufeff\ud800"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_safe(text: str, shown: str) -> None:
    assert safe(text) == shown
    assert safe(shown) == shown


@given(st.text())
def test_safe_text_is_one_harmless_line(text: str) -> None:
    shown = safe(text)
    assert len(shown.splitlines()) <= 1
    assert not {unicodedata.category(c) for c in shown if c not in "\u200d\ufe0f"} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(st.text())
def test_escapes_keep_the_value(text: str) -> None:
    as_json = escaped(json.dumps(text, ensure_ascii=False), pairs=True)
    assert json.loads(as_json) == text
    assert safe(as_json) == as_json


def test_escapes_for_yaml() -> None:
    assert escaped('"a\u202e\U000e0041"\n') == '"a\\u202E\\U000E0041"\n'
    assert yaml.safe_load(escaped('"a\u202e\U000e0041"\n')) == "a\u202e\U000e0041"


@pytest.mark.parametrize(
    ("line", "column", "under"),
    [
        ("name: x", 1, "n"),
        ("name: x", 7, "x"),
        ("\t\tname: x", 3, "n"),
        ("日本: x", 5, "x"),
        ("e\u0301: x", 5, "x"),
        ("\u202e: x", 4, "x"),
        ("a" * 500 + "X" + "b" * 500, 501, "X"),
        ("a" * 500 + "X", 501, "X"),
        ("日" * 300 + "X" + "b" * 50, 301, "X"),
    ],
)
def test_the_caret_stands_under_its_character(line: str, column: int, under: str) -> None:
    shown, caret = excerpt(line, column)
    index = next(i for i in range(len(shown) + 1) if cells(shown[:i]) == caret and shown[i] == under)
    assert shown[index] == under
    assert safe(shown) == shown


@given(st.text(max_size=300), st.integers(-5, 400))
def test_an_excerpt_is_short_and_has_room_for_the_caret(line: str, column: int) -> None:
    shown, caret = excerpt(line, column, width=40)
    assert 0 <= caret <= cells(shown)
    assert len(shown) <= 40 * len("\\U00000000") + 2
    assert "\n" not in shown


def test_an_excerpt_of_a_long_line_says_that_it_is_cut() -> None:
    shown, _ = excerpt("x" * 1_000, 500)
    assert shown == "…" + "x" * 100 + "…"
    assert excerpt("x" * 1_000, 1)[0] == "x" * 100 + "…"
