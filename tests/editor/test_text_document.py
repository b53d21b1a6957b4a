"""Places in a text, in the units that an editor counts in (LSP 3.17, "Position"), and the cursor's."""

import time

from lsprotocol.types import Position

from osbctl.editor.text_document import TextDocument, cursor_at
from tests.case import each

TEXT = "\ufeffaé\U0001f600b\r\nc\rd\n\U0001f600"
"""A byte order mark, characters of one unit and of more, and each end of a line. The mark is none of the offsets."""


def test_each_offset_is_a_place_and_each_place_an_offset() -> None:
    text = TextDocument("a.yaml", TEXT)
    for line, start, units in [(0, 0, [1, 2, 3, 5, 6]), (1, 6, [0, 1]), (2, 8, [0, 1]), (3, 10, [0, 2])]:
        for offset, character in enumerate(units, start):
            assert text.position(offset) == Position(line, character)
            assert text.offset(Position(line, character)) == offset


def test_what_lies_beyond_an_end_or_within_a_character() -> None:
    text = TextDocument("a.yaml", TEXT)
    assert text.position(-1) == Position(0, 1)
    assert text.position(99) == Position(3, 2)
    assert text.offset(Position(0, 0)) == 0, "before the mark"
    assert text.offset(Position(0, 99)) == 4, "the end of the line, before CR LF"
    assert text.offset(Position(9, 0)) == 11
    assert text.offset(Position(3, 1)) == 10, "the first half of a surrogate pair"


def test_thousands_of_places_in_one_long_line_do_not_go_through_it_each() -> None:
    text = TextDocument("a.yaml", "\U0001f600" + "abc " * 250_000)
    began = time.process_time()
    assert [text.position(offset).character for offset in range(500_000, 502_000)] == [*range(500_001, 502_001)]
    assert time.process_time() - began < 0.3


S, P = ("services", 0), ("services", 0, "plans", 0)

# The place of the cursor, which is a `|` here, told from the text alone.

PLACES = {
    "": ((), True, ""),
    "ser|": ((), True, "ser"),
    "services:\n- name: a\n  pl|\n  id: x\n": (S, True, "pl"),
    "services:\n  - name: a\n    |": (S, True, ""),
    "services:\n- |name: a\n  id: b\n": (S, True, "name"),
    "services:\n- name: a\n  plans:\n  - name: b\n    |\n  tags: []\n": (P, True, ""),
    "services:\n- name: a\n  plans:\n  - |\n": (P, True, ""),
    "services:\n- name: a\n  plans:\n\n  # first\n  - name: b\n    free: tr|\n    id: b\n": ((*P, "free"), False, "tr"),
    "services:\n- plans:\n  - {name: b, fr|}\n": (P, True, "fr"),
    "services:\n- plans:\n  - {\n    name: b,\n    |\n": (P, True, ""),
    "services:\n- metadata: {\n    displayName: a,\n    |\n  }\n  id: x\n": ((*S, "metadata"), True, ""),
    "services:\n- requires:\n  - sys|\n": ((*S, "requires", 0), True, "sys"),
    "services:\n- requires: [sys|, b]\n": ((*S, "requires", 0), False, "sys"),
    "services:\n- free: &a |no\n": ((*S, "free"), False, "no"),
    "a: 1\n---\nb: 1\n|": ((), True, ""),
    '{"services": [{"name": "a", "pl|": [], "id": 1}, {"x": 1}]}': (S, True, '"pl"'),
    '{"services": [{"name": "a", |': (S, True, ""),
    '{"services": [{"name": "a", "free": tr|, "id"': ((*S, "free"), False, "tr"),
    '{"services": [{"name": "a", "requires": ["|"': ((*S, "requires", 0), False, '""'),
    '{"services": [{}, {"plans": [{"a": 1}, {"|': (P, True, '"'),
    "services:\r\n- name: a\r\n  pl|\r\n": (S, True, "pl"),
}  # fmt: skip


@each("text", PLACES)
def test_the_place_of_the_cursor(text: str) -> None:
    path, is_key, word = PLACES[text]
    whole = text.replace("|", "")
    cursor = cursor_at(whole, text.find("|") if "|" in text else 0)
    assert cursor
    assert (cursor.path, cursor.is_key, whole[cursor.start : cursor.end]) == (path, is_key, word)


@each("text", ["a: 1 # c|", "# |", "a: >\n  one\n  t|wo\n", "a: one\n  t|wo\n", '{"a": 1} |', "a: ]\nb|"])
def test_no_place_in_comments_and_texts_and_behind_a_fault(text: str) -> None:
    assert cursor_at(text.replace("|", ""), text.index("|")) is None


@each("text, others", [
        ("- id: a\n  name: b\n- id: b\n  n|\n  free: x\n  metadata:\n    q: 1\n- zz: 1\n", {"id", "free", "metadata"}),
        ('[{"z": 1}, {"a": {"b": 1}, "|", "c": [{"d": 1}], "e": 1}, {"f": 1}]', {"a", "c", "e"}),
        ("- {a: 1, |, b: 2}\n", {"a", "b"}),
])  # fmt: skip
def test_the_keys_that_the_object_has(text: str, others: set[str]) -> None:
    cursor = cursor_at(text.replace("|", ""), text.index("|"))
    assert cursor
    assert cursor.others == others
