"""Places by hand, in both formats, and the lines and columns they count."""

from __future__ import annotations

import json
import time
from random import Random

import pytest

from osbctl.findings import DocumentError
from osbctl.paths import Path
from osbctl.sources.document import Document
from osbctl.sources.limits import MAX_DEPTH
from osbctl.sources.parse import parse_document
from osbctl.sources.text_lines import Lines

DEEP = MAX_DEPTH - 10

JSON = """{
  "services": [
    {"name": "db", "plans": [
      {"name": "small"},
      {"name": "large", "free": false}
    ]},
    3
  ]
}
"""

YAML = """# a comment
services:
- name: db
  plans:
    - name: small
    - {name: large, "free": false}
- 3
"""


def places(document: Document, *paths: tuple[str | int, ...]) -> list[tuple[int, int]]:
    found = document.locate(paths)
    return [(found[path].line, found[path].column) for path in paths]


PATHS: tuple[tuple[str | int, ...], ...] = (
    (),
    ("services",),
    ("services", 0),
    ("services", 0, "name"),
    ("services", 0, "plans"),
    ("services", 0, "plans", 0),
    ("services", 0, "plans", 1, "name"),
    ("services", 0, "plans", 1, "free"),
    ("services", 1),
    ("services", 0, "plans", 1, "missing", "deeper"),
    ("services", 7, "name"),
    ("services", 1, "name"),
    ("nowhere",),
    (0,),
)


def test_json() -> None:
    at = [
        (1, 1),
        (2, 3),
        (3, 5),
        (3, 6),
        (3, 20),
        (4, 7),
        (5, 8),
        (5, 25),
        (7, 5),
        (5, 7),
        (2, 3),
        (7, 5),
        (1, 1),
        (1, 1),
    ]
    assert places(parse_document(JSON.encode(), "a.json"), *PATHS) == at


def test_yaml() -> None:
    at = [
        (2, 1),
        (2, 1),
        (3, 3),
        (3, 3),
        (4, 3),
        (5, 7),
        (6, 8),
        (6, 21),
        (7, 3),
        (6, 7),
        (2, 1),
        (7, 3),
        (2, 1),
        (2, 1),
    ]
    assert places(parse_document(YAML.encode(), "a.yaml"), *PATHS) == at


def test_no_paths() -> None:
    assert parse_document(JSON.encode(), "a.json").locate([]) == {}
    assert parse_document(YAML.encode(), "a.yaml").locate([]) == {}


def test_through_an_alias_a_path_stands_where_its_text_does() -> None:
    """The alias itself is where the path enters; what is below was written down at the anchor."""
    text = "base: &b {x: 1, y: [2, 3]}\nuse:\n  - *b\n"
    document = parse_document(text.encode(), "a.yaml")
    assert places(document, ("use", 0), ("use", 0, "x"), ("use", 0, "y", 1)) == [(3, 5), (1, 11), (1, 24)]


def test_merged_in_keys_stand_where_they_were_written() -> None:
    text = "a: &a\n  p: 1\n  q: {r: 1}\nb: &b\n  p: 2\n  s: 2\nz:\n  <<: [*a, *b]\n  own: 1\ny:\n  <<: *a\n  <<: *b\n"
    document = parse_document(text.encode(), "a.yaml")
    assert document.data["z"]["p"] == 1
    assert document.data["y"]["p"] == 2
    wanted = (("z", "p"), ("z", "q", "r"), ("z", "s"), ("z", "own"), ("z", "gone"), ("y", "p"), ("y", "q"))
    assert places(document, *wanted) == [(2, 3), (3, 7), (6, 3), (9, 3), (7, 1), (5, 3), (3, 3)]


def test_an_overridden_key_stands_at_its_own_text() -> None:
    document = parse_document(b"a: &a {p: 1}\nz:\n  <<: *a\n  p: 2\n", "a.yaml")
    assert places(document, ("z", "p")) == [(4, 3)]


def test_an_anchor_defined_twice_means_the_latest() -> None:
    document = parse_document(b"a: &x {k: 1}\nb: &x {k: 2}\nc: *x\n", "a.yaml")
    assert places(document, ("c", "k")) == [(2, 8)]


def test_an_alias_as_key_is_a_key() -> None:
    document = parse_document(b"a: &x name\nz:\n  *x : 1\n", "a.yaml")
    assert places(document, ("z", "name")) == [(3, 3)]


def test_a_key_with_an_anchor() -> None:
    document = parse_document(b"&x a: 1\nb: *x\n", "a.yaml")
    assert document.data == {"a": 1, "b": "a"}
    assert places(document, ("a",), ("b",)) == [(1, 1), (2, 1)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "BOM"])
def test_line_ends_and_byte_order_marks(end: str, mark: str) -> None:
    for text, name, at in (
        ('{"😀":\n\t1,\n  "b": "日本", "c": 1}', "a.json", [(1, 2), (3, 3), (3, 14)]),
        ('"😀": 1\nx: y\n"b": "日本"\n"c": 1\n', "a.yaml", [(1, 1), (3, 1), (4, 1)]),
        ('{"😀": 1,\n  x: y, b: "日本", "c": 1}', "a.yaml", [(1, 2), (2, 9), (2, 18)]),
    ):
        document = parse_document((mark + text.replace("\n", end)).encode(), name)
        assert places(document, ("😀",), ("b",), ("c",)) == at
        lines = text.split("\n")
        assert document.locate([("c",)])[("c",)].excerpt == lines[at[2][0] - 1]


@pytest.mark.parametrize("mark", ["\u0085", "\u2028", "\u2029"])
def test_breaks_of_yaml_1_1_are_no_line_ends(mark: str) -> None:
    """libyaml counts them; editors and YAML 1.2 (5.4) do not."""
    document = parse_document(f"a: 'x{mark}y'\nb: 1\n".encode(), "a.yaml")
    assert places(document, ("a",), ("b",)) == [(1, 1), (2, 1)]
    assert document.locate([("b",)])[("b",)].excerpt == "b: 1"


def test_faults_behind_wide_characters_and_crlf() -> None:
    with pytest.raises(DocumentError) as caught:
        parse_document("# 😀\r\n😀: {x: 1, é: 2, é: 3}\r\n".encode(), "a.yaml")
    location = caught.value.findings[0].location
    assert location is not None
    assert (location.line, location.column, location.excerpt) == (2, 17, "😀: {x: 1, é: 2, é: 3}")


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", '{"a":' * DEEP + "1" + "}" * DEEP), ("a.yaml", "a: " + "{a: " * DEEP + "1" + "}" * DEEP)],
)
def test_deep_paths(name: str, text: str) -> None:
    document = parse_document(text.encode(), name)
    path = ("a",) * DEEP
    column = 2 + 5 * (DEEP - 1) if name == "a.json" else 5 + 4 * (DEEP - 2)
    assert places(document, path) == [(1, column)]


def test_many_places_on_one_long_line_share_its_text() -> None:
    text = '{"a": [' + ",".join(["1"] * 20_000) + "]}\n"
    found = parse_document(text.encode(), "a.json").locate([("a", i) for i in range(1000)])
    assert len({id(place.excerpt) for place in found.values()}) == 1
    assert found[("a", 999)].column == 8 + 2 * 999


@pytest.mark.parametrize(
    ("name", "text", "path", "under"),
    [
        ("a.yaml", "free: yes  # why\n", ("free",), "free: yes"),
        ("a.yaml", "a: {free: no, b: 1}\n", ("a", "free"), "free: no"),
        ("a.yaml", "a: {free: no, b: 1}\n", ("a",), "a"),
        ("a.yaml", "a: [x, 'y z']\n", ("a", 1), "'y z'"),
        ("a.yaml", "a:\n  - {b: 1} # c\n", ("a", 0), "{b: 1}"),
        ("a.yaml", "a:\n  - b: 1\n    c: 2\n", ("a", 0), ""),
        ("a.yaml", "a: |\n  text\n", ("a",), "a: |"),
        ("a.yaml", "a: &x 1\nb: *x\n", ("b",), "b: *x"),
        ("a.json", '{"free": "no" , "b": 1}', ("free",), '"free": "no"'),
        ("a.json", '{"a": [1, {"b": 2}]}', ("a", 1), '{"b": 2}'),
        ("a.json", '{"a": [1, {"b": 2}]}', ("a",), '"a"'),
        ("a.json", '{"a": [{\n"b": 2}]}', ("a", 0), "{"),
    ],
)
def test_a_place_ends_where_its_value_ends(name: str, text: str, path: Path, under: str) -> None:
    place = parse_document(text.encode(), name).locate([path])[path]
    assert place.excerpt[place.column - 1 : max(place.end - 1, 0)] == under


def test_lines_are_the_same_in_whatever_order_they_are_asked_for() -> None:
    text = "a\n\n\tbc: ünd\n  😀 d\n" * 50
    offsets = [*range(len(text) + 1)]
    Random(1).shuffle(offsets)
    lines = Lines("x", text)
    for offset in offsets:
        before = text[:offset].split("\n")
        assert lines.at(offset)[1:4] == (len(before), len(before[-1]) + 1, text.split("\n")[len(before) - 1])


def test_thirty_thousand_places_take_time_in_proportion() -> None:
    data = json.dumps({"services": [{"plans": [{"": "{"}] * 30_000, "metadata": {"\\": [1]}}]}).encode()
    document = parse_document(data, "x.json")
    start = time.process_time()
    found = document.locate([("services", 0, "plans", n, "") for n in range(30_000)])
    assert time.process_time() - start < 5
    assert found["services", 0, "plans", 29_999, ""].column == data.rindex(b'"": "{"') + 1
