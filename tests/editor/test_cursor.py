"""The cursor's place, told from the text alone: `|` stands for the cursor."""

from random import Random

import pytest

from osbctl.editor.cursor import cursor_at
from tests.folders import catalogs_folder

S, P = ("services", 0), ("services", 0, "plans", 0)

PLACES = {
    "": ((), None, ""),
    "ser|": ((), None, "ser"),
    "services:\n- name: a\n  pl|\n  id: x\n": (S, None, "pl"),
    "services:\n  - name: a\n    |": (S, None, ""),
    "services:\n- |name: a\n  id: b\n": (S, None, "name"),
    "services:\n- name: a\n  plans:\n  - name: b\n    |\n  tags: []\n": (P, None, ""),
    "services:\n- name: a\n  plans:\n  - |\n": (P, None, ""),
    "services:\n- name: a\n  plans:\n\n  # first\n  - name: b\n    free: tr|\n    id: b\n": (P, "free", "tr"),
    "services:\n- plans:\n  - {name: b, fr|}\n": (P, None, "fr"),
    "services:\n- plans:\n  - {\n    name: b,\n    |\n": (P, None, ""),
    "services:\n- metadata: {\n    displayName: a,\n    |\n  }\n  id: x\n": ((*S, "metadata"), None, ""),
    "services:\n- requires:\n  - sys|\n": ((*S, "requires", 0), None, "sys"),
    "services:\n- requires: [sys|, b]\n": ((*S, "requires", 0), None, "sys"),
    "services:\n- free: &a |no\n": (S, "free", "&a no"),
    "a: 1\n---\nb: 1\n|": ((), None, ""),
    '{"services": [{"name": "a", "pl|": [], "id": 1}, {"x": 1}]}': (S, None, '"pl"'),
    '{"services": [{"name": "a", |': (S, None, ""),
    '{"services": [{"name": "a", "free": tr|, "id"': (S, "free", "tr"),
    '{"services": [{"name": "a", "requires": ["|"': ((*S, "requires", 0), None, '""'),
    '{"services": [{}, {"plans": [{"a": 1}, {"|': (P, None, '"'),
    "services:\r\n- name: a\r\n  pl|\r\n": (S, None, "pl"),
}  # fmt: skip


@pytest.mark.parametrize("text", PLACES)
def test_the_place_of_the_cursor(text: str) -> None:
    path, key, word = PLACES[text]
    whole = text.replace("|", "")
    cursor = cursor_at(whole, text.find("|") if "|" in text else 0)
    assert cursor
    assert (cursor.path, cursor.key, whole[cursor.start : cursor.end]) == (path, key, word)


@pytest.mark.parametrize("text", ["a: 1 # c|", "# |", "a: >\n  one\n  t|wo\n", "a: one\n  t|wo\n", '{"a": 1} |'])
def test_no_place_in_comments_and_texts(text: str) -> None:
    assert cursor_at(text.replace("|", ""), text.index("|")) is None


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("- id: a\n  name: b\n- id: b\n  n|\n  free: x\n  metadata:\n    q: 1\n- zz: 1\n", {"id", "free", "metadata"}),
        ('[{"z": 1}, {"a": {"b": 1}, "|", "c": [{"d": 1}], "e": 1}, {"f": 1}]', {"a", "c", "e"}),
        ("- {a: 1, | b: 2}\n", {"a", "b"}),
    ],
)
def test_the_keys_that_the_object_has(text: str, others: set[str]) -> None:
    cursor = cursor_at(text.replace("|", ""), text.index("|"))
    assert cursor
    assert cursor.others == others


def test_it_ends_anywhere_in_anything() -> None:
    """Every tenth place of a catalog, and of the same catalog cut and shuffled."""
    random = Random(7)
    text = (catalogs_folder() / "faulty.yaml").read_text()
    for _ in range(20):
        for offset in range(0, len(text) + 1, 10):
            cursor_at(text, offset)
        at, to = sorted(random.sample(range(len(text)), 2))
        text = text[:at] + random.choice("{[\"'-:#\n") + text[to:] + text[at:to][::-1][:50]
