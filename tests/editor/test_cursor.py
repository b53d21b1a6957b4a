"""The cursor's place, told from the text alone: `|` stands for the cursor."""

import pytest

from osbctl.editor.text_document import cursor_at

S, P = ("services", 0), ("services", 0, "plans", 0)

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


@pytest.mark.parametrize("text", PLACES)
def test_the_place_of_the_cursor(text: str) -> None:
    path, is_key, word = PLACES[text]
    whole = text.replace("|", "")
    cursor = cursor_at(whole, text.find("|") if "|" in text else 0)
    assert cursor
    assert (cursor.path, cursor.is_key, whole[cursor.start : cursor.end]) == (path, is_key, word)


@pytest.mark.parametrize(
    "text", ["a: 1 # c|", "# |", "a: >\n  one\n  t|wo\n", "a: one\n  t|wo\n", '{"a": 1} |', "a: ]\nb|"]
)
def test_no_place_in_comments_and_texts_and_behind_a_fault(text: str) -> None:
    assert cursor_at(text.replace("|", ""), text.index("|")) is None


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("- id: a\n  name: b\n- id: b\n  n|\n  free: x\n  metadata:\n    q: 1\n- zz: 1\n", {"id", "free", "metadata"}),
        ('[{"z": 1}, {"a": {"b": 1}, "|", "c": [{"d": 1}], "e": 1}, {"f": 1}]', {"a", "c", "e"}),
        ("- {a: 1, |, b: 2}\n", {"a", "b"}),
    ],
)
def test_the_keys_that_the_object_has(text: str, others: set[str]) -> None:
    cursor = cursor_at(text.replace("|", ""), text.index("|"))
    assert cursor
    assert cursor.others == others
