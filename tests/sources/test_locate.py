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


PATHS: dict[Path, tuple[tuple[int, int], tuple[int, int]]] = {
    (): ((1, 1), (2, 1)),
    ("services",): ((2, 3), (2, 1)),
    ("services", 0): ((3, 5), (3, 3)),
    ("services", 0, "name"): ((3, 6), (3, 3)),
    ("services", 0, "plans"): ((3, 20), (4, 3)),
    ("services", 0, "plans", 0): ((4, 7), (5, 7)),
    ("services", 0, "plans", 1, "name"): ((5, 8), (6, 8)),
    ("services", 0, "plans", 1, "free"): ((5, 25), (6, 21)),
    ("services", 1): ((7, 5), (7, 3)),
    ("services", 0, "plans", 1, "missing", "deeper"): ((5, 7), (6, 7)),
    ("services", 7, "name"): ((2, 3), (2, 1)),
    ("services", 1, "name"): ((7, 5), (7, 3)),
    ("nowhere",): ((1, 1), (2, 1)),
    (0,): ((1, 1), (2, 1)),
}
"""Line and column in `JSON` and in `YAML`."""


@pytest.mark.parametrize(("name", "text"), [("a.json", JSON), ("a.yaml", YAML)])
def test_places_by_hand(name: str, text: str) -> None:
    document = parse_document(text.encode(), name)
    assert places(document, *PATHS) == [at[name == "a.yaml"] for at in PATHS.values()]
    assert document.locate([]) == {}


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
