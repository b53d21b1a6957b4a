"""Text from outside, made fit to be shown."""

import json
import time
import unicodedata

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from osbctl.text import did_you_mean, display_width, escape_line, escape_text, excerpt_with_carets, wrap_line


@pytest.mark.parametrize(("text", "shown"), [
    ("plain text", "plain text"),
    ("  ::error::x", "  :\\x3aerror::x"),
    ("a ::stop-commands::b", "a :\\x3astop-commands::b"),
    ("std::string, ::ffff:1.2.3.4, a::b", "std::string, ::ffff:1.2.3.4, a::b"),
    ("Grüße, 日本, 🐘", "Grüße, 日本, 🐘"),
    ("👩\u200d💻 ❤\ufe0f", "👩\u200d💻 ❤\ufe0f"),
    ("a\nb\tc\rd", r"a\nb\tc\rd"),
    ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
    ("\x1b]8;;http://evil\x07x", r"\x1b]8;;http://evil\x07x"),
    ("\x9b2J\x85", r"\x9b2J\x85"),
    ("a\u202eb\u2066", r"a\u202eb\u2066"),
    ("\u2028\ufeff\ud800", r"\u2028\ufeff\ud800"),
    ("\U000e0041", r"\U000e0041"),
    ("a ##vso[task.x]##[error]", r"a #\x23vso[task.x]#\x23[error]"),
    ("## heading ##", "## heading ##"),
])  # fmt: skip
def test_safe(text: str, shown: str) -> None:
    assert escape_line(text) == shown
    assert escape_line(shown) == shown


@given(st.text())
def test_safe_text_is_one_harmless_line(text: str) -> None:
    shown = escape_line(text)
    assert len(shown.splitlines()) <= 1
    assert not {unicodedata.category(c) for c in shown if c not in "\u200d\ufe0f"} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@example("\\##vso[task.x]##[error]\t ::error::y")
@given(st.text())
def test_escapes_keep_the_value(text: str) -> None:
    as_json = escape_text(json.dumps(text, ensure_ascii=False), pairs=True)
    assert json.loads(as_json) == text
    assert escape_line(as_json) == as_json


def test_escapes_for_yaml() -> None:
    assert escape_text("\x00\x08\t\n\x0b\x1b\r\x1f ~\x7f") == "\\u0000\\u0008\t\n\\u000B\\u001B\\u000D\\u001F ~\\u007F"
    assert escape_text('"a\u202e\U000e0041"\n') == '"a\\u202E\\U000E0041"\n'
    assert yaml.safe_load(escape_text('"a\u202e\U000e0041"\n')) == "a\u202e\U000e0041"


@pytest.mark.parametrize(("line", "column", "under"), [
    ("name: x", 1, "n"),
    ("name: x", 7, "x"),
    ("\t\tname: x", 3, "n"),
    ("日本: x", 5, "x"),
    ("e\u0301: x", 5, "x"),
    ("\u202e: x", 4, "x"),
    ("a" * 500 + "X" + "b" * 500, 501, "X"),
    ("a" * 500 + "X", 501, "X"),
    ("日" * 300 + "X" + "b" * 50, 301, "X"),
])  # fmt: skip
def test_the_caret_stands_under_its_character(line: str, column: int, under: str) -> None:
    shown, carets = excerpt_with_carets(line, column)
    assert carets.strip() == "^"
    index = next(i for i in range(len(shown) + 1) if display_width(shown[:i]) == len(carets) - 1 and shown[i] == under)
    assert shown[index] == under
    assert escape_line(shown) == shown


@given(st.text(max_size=300), st.integers(-5, 400))
def test_an_excerpt_is_short_and_has_room_for_the_caret(line: str, column: int) -> None:
    shown, carets = excerpt_with_carets(line, column, width=40)
    assert 1 <= len(carets) <= display_width(shown) + 1
    assert len(shown) <= 40 * len("\\U00000000") + 2
    assert "\n" not in shown


def test_an_excerpt_holds_no_command_wherever_the_caret_is() -> None:
    for column in (1, 8, 10, 12):
        shown, carets = excerpt_with_carets("name: '##vso[x]'", column)
        assert ("##" in shown, len(carets)) == (False, column if column < 9 else column + 3)


def test_an_excerpt_of_a_long_line_says_that_it_is_cut() -> None:
    assert [excerpt_with_carets("x" * 1_000, at)[0] for at in (500, 1)] == ["…" + "x" * 100 + "…", "x" * 100 + "…"]


@pytest.mark.parametrize(("line", "column", "end", "carets"), [
    ("free: yes", 1, 10, "^^^^^^^^^"),
    ("free: 日本", 7, 9, "      ^^^^"),
    ("x" * 1_000, 900, 5_000, " " * 34 + "^" * 67),
])  # fmt: skip
def test_carets_mark_the_whole_range(line: str, column: int, end: int, carets: str) -> None:
    shown, below = excerpt_with_carets(line, column, end)
    assert below == carets or (len(line) > 100 and display_width(below) == display_width(shown))


@given(st.lists(st.text("ab日", min_size=1, max_size=12), min_size=1, max_size=30), st.integers(20, 60))
def test_a_long_line_is_broken_at_its_words(words: list[str], width: int) -> None:
    lines = wrap_line(" ".join(words), width, "  ").split("\n")
    assert " ".join(lines).split() == words
    assert all(display_width(line) <= max(width, 2 + max(map(display_width, line.split()))) for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])


def test_colours_do_not_count_for_wrapping() -> None:
    assert wrap_line("\x1b[1;31mred\x1b[0m \x1b[2m[rule]\x1b[0m", 10).count("\n") == 0
    assert wrap_line("a b", 0) == "a b"


@pytest.mark.parametrize(("word", "known", "meant"), [
    ("plan-name-duplicat", ["plan-name-duplicate", "plan-name-long"], "plan-name-duplicate"),
    ("Postgers", ["redis", "postgres"], "postgres"),
    ("my-bd", ["my-db"], "my-db"),
    ("smalk", ["large", "small"], "small"),
    ("data-serv", ["data-services", "mail"], "data-services"),
    # Not alike, and still more than half of their letters are the same.
    ("redis", ["rabbit", "reads-only"], ""),
    ("small", ["medium", "smart-ish", "shall-not"], ""),
    ("production", ["introduction", "protection"], ""),
    ("missing.yaml", ["catalog.yaml", "mapping.yaml"], ""),
    ("unitId", ["unit"], ""),
    ("mongodb", ["mysqldb"], ""),
    ("plan-", ["plan-a", "plan-b-long"], "plan-a"),
    ("id", ["ids", "identity"], ""),
    ("2.18", ["2.13", "2.14"], ""),
    ("redis-4", ["redis-1", "redis-2", "mail"], ""),
    ("REDIS", ["redis", "Redis"], "Redis"),
    ("", ["a"], ""),
])  # fmt: skip
def test_did_you_mean_keeps_unlike_names_apart(word: str, known: list[str], meant: str) -> None:
    assert did_you_mean(word, known) == (f"did you mean {meant}?" if meant else "")


def test_an_excerpt_costs_the_same_in_a_line_of_megabytes() -> None:
    line = '{"a": "##[x]"}, ' * 500_000
    start = time.process_time()
    for column in range(1, 5_000_000, 5_000):
        assert "##[" not in excerpt_with_carets(line, column)[0]
    assert time.process_time() - start < 2
