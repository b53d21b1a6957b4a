"""Every trap of the two formats: what a naive reader takes in silence is told at its place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from osbctl.errors import DocumentError
from osbctl.findings import Finding
from osbctl.sources.limits import Limits
from osbctl.sources.read import parse_document

ROOT = Path(__file__).parents[2]


def read(text: str | bytes, name: str, **options: Any) -> Any:
    return parse_document(text if isinstance(text, bytes) else text.encode(), name, **options)


def faults(text: str | bytes, name: str, **options: Any) -> list[tuple[str, int, int]]:
    with pytest.raises(DocumentError) as caught:
        read(text, name, **options)
    return [told(finding) for finding in caught.value.findings]


def told(finding: Finding) -> tuple[str, int, int]:
    assert finding.location
    return finding.rule, finding.location.line, finding.location.column


JSON = [
    ('{"a": 1,\n "a": 2}', "duplicate-key", 2, 2),
    ('{"a": {"b": 1, "b": 1}}', "duplicate-key", 1, 16),
    ('{"a": NaN}', "number-out-of-range", 1, 7),
    ('{"a": -Infinity}', "number-out-of-range", 1, 7),
    ('{"a": 1e400}', "number-out-of-range", 1, 7),
    ('{"a": ' + "9" * 5_000 + "}", "number-out-of-range", 1, 7),
    ("", "empty-document", 1, 1),
    (" \n\t", "empty-document", 1, 1),
    ('{"a": 1}\n{"b": 2}', "several-documents", 2, 1),
    ('{"a": "\\ud800"}', "lone-surrogate", 1, 7),
    ('{"a": 1,}', "syntax", 1, 8),
    ('{"a": [1, 2,]}', "syntax", 1, 12),
    ("{'a': 1}", "syntax", 1, 2),
    ('{"a": True}', "syntax", 1, 7),
    ('{"a": 01}', "syntax", 1, 7),
    ('{"a" 1}', "syntax", 1, 6),
    ('{"a": 1 "b": 2}', "syntax", 1, 9),
    ('{"a": [1, 2}', "syntax", 1, 12),
    ('{"a": "x\ny"}', "syntax", 1, 9),
    ('{"a": "x', "syntax", 1, 7),
    ('{"a": 1', "syntax", 1, 7),
    ('// c\n{"a": 1}', "syntax", 1, 1),
    ('{"a": 1} x', "syntax", 1, 10),
    ("[1]", "not-an-object", 1, 1),
    ("null", "not-an-object", 1, 1),
    ('"x"', "not-an-object", 1, 1),
    ('{"é": "ü", "é": 1}', "duplicate-key", 1, 12),
    ('{"\U0001f600": 1, "\U0001f600": 1}', "duplicate-key", 1, 10),
]


@pytest.mark.parametrize(("text", "rule", "line", "column"), JSON)
def test_json(text: str, rule: str, line: int, column: int) -> None:
    assert (rule, line, column) in faults(text, "a.json")


YAML = [
    ("a: 1\nb: 2\na: 3\n", "duplicate-key", 3, 1),
    ("a: {b: 1, b: 1}\n", "duplicate-key", 1, 11),
    ("1: a\n", "key-not-string", 1, 1),
    ("true: a\n", "key-not-string", 1, 1),
    ("null: a\n", "key-not-string", 1, 1),
    ("[a]: b\n", "key-not-string", 1, 1),
    ("a: .nan\n", "number-out-of-range", 1, 4),
    ("a: -.inf\n", "number-out-of-range", 1, 4),
    ("a: 1e400\n", "number-out-of-range", 1, 4),
    ("a: " + "9" * 5_000 + "\n", "number-out-of-range", 1, 4),
    ("# nothing\n", "empty-document", 1, 1),
    ("", "empty-document", 1, 1),
    ("a: 1\n---\nb: 2\n", "several-documents", 2, 1),
    ("a: &x [*x]\n", "recursive-alias", 1, 8),
    ("a: *none\n", "syntax", 1, 4),
    ("a: !!binary aGk=\n", "unknown-tag", 1, 4),
    ("a: !Ref x\n", "unknown-tag", 1, 4),
    ("a:\n\tb: 1\n", "syntax", 2, 1),
    ("a: @x\n", "syntax", 1, 4),
    ('a: "x\n', "syntax", 2, 1),
    ("a: b: c\n", "syntax", 1, 5),
    ("- 1\n", "not-an-object", 1, 1),
    ("a: \x07\n", "syntax", 1, 4),
    ("<<: 1\n", "syntax", 1, 5),
]


@pytest.mark.parametrize(("text", "rule", "line", "column"), YAML)
def test_yaml(text: str, rule: str, line: int, column: int) -> None:
    assert (rule, line, column) in faults(text, "a.yaml")


SCALARS = [
    ("no", "no", True),
    ("on", "on", True),
    ("Yes", "Yes", True),
    ("y", "y", True),
    ("2001-01-01", "2001-01-01", True),
    ("012", 12, True),
    ("0o14", 12, True),
    ("1:30", "1:30", True),
    ("1_000", "1_000", True),
    ("1e3", 1000.0, True),
    ("0x1F", 31, False),
    ("true", True, False),
    ("False", False, False),
    ("~", None, False),
    ("", None, False),
    ("null", None, False),
    ("-1.5", -1.5, False),
    (".5", 0.5, False),
    ("+12", 12, False),
    ("1.2.3", "1.2.3", False),
    ("nope", "nope", False),
    ("'no'", "no", False),
    ('"012"', "012", False),
    ("!!str 012", "012", False),
    ("!!int '12'", 12, False),
    ("-", "-", False) if False else ("a-b", "a-b", False),
]


@pytest.mark.parametrize(("text", "value", "warned"), SCALARS)
def test_yaml_scalars_are_those_of_1_2(text: str, value: Any, warned: bool) -> None:
    document = read(f"a: {text}\n", "a.yaml")
    assert document.data["a"] == value
    assert type(document.data["a"]) is type(value)
    assert [note.rule for note in document.notes] == ["yaml-1.1"] * warned
    if warned:
        assert told(document.notes[0]) == ("yaml-1.1", 1, 4)
        assert document.notes[0].path == ("a",)


def test_merge_keys() -> None:
    text = """\
x: &x {a: 1, b: 1}
y: &y {b: 2, c: 2}
one: {<<: *x, b: 3}
several: {<<: [*x, *y]}
twice:
  <<: *x
  d: 4
  <<: *y
"""
    data = read(text, "a.yaml").data
    assert data["one"] == {"a": 1, "b": 3}
    assert data["several"] == {"a": 1, "b": 1, "c": 2}
    assert data["twice"] == {"a": 1, "b": 1, "c": 2, "d": 4}


def test_an_anchor_may_be_defined_twice() -> None:
    assert read("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "a.yaml").data == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_an_alias_bomb_is_refused() -> None:
    text = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
    assert faults(text, "a.yaml") == [("too-many-nodes", 9, 14)] or faults(text, "a.yaml")[0][0] == "too-many-nodes"


@pytest.mark.parametrize("depth", [2_000, 2_900])
@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_deep_nesting_is_read_up_to_the_limit(depth: int, name: str) -> None:
    document = read('{"a": ' + "[" * depth + "]" * depth + "}", name)
    path = ("a", *[0] * (depth - 1))
    assert document.locate([path])[path].column == depth + 6


BOMBS = {
    "flow": "'{\"a\": ' + '[' * n + ']' * n + '}'",
    "objects": "'{\"a\":' * n + '1' + '}' * n",
    "unclosed": "'[' * n",
    "sequences": "'- ' * n",
    "mappings": "'? ' * n",
    "blocks": "''.join(' ' * i + 'a:\\n' for i in range(5000))",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_deep_nesting_never_ends_the_process(bomb: str, name: str) -> None:
    code = f"""
from osbctl.errors import DocumentError
from osbctl.sources.read import parse_document
n = 100_000
try:
    parse_document(({bomb}).encode(), {name!r})
except DocumentError as error:
    print(error.findings[0].rule)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.strip() in ("nesting-too-deep", "syntax")


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_encodings(name: str) -> None:
    assert read(b'\xef\xbb\xbf{"a": 1}', name).data == {"a": 1}
    assert faults('{"a": 1}'.encode("utf-16"), name)[0][0] == "encoding"
    assert faults('{"a": 1}'.encode("utf-32-le"), name)[0][0] == "encoding"
    assert faults(b'{"a":\n "\xe9"}', name) == [("encoding", 2, 3)]
    assert faults(b'\xef\xbb\xbf{"a": "\xff"}', name) == [("encoding", 1, 8)]


def test_tabs_are_fine_in_json() -> None:
    assert read('{\n\t"a":\t1\n}', "a.json").data == {"a": 1}


@pytest.mark.parametrize(
    ("text", "name", "syntax"),
    [('{"a": 1}', "a.yaml", "json"), ("a: 1\n", "a.json", "yaml"), ("# c\na: 1\n", "a.json", "yaml")],
)
def test_content_decides_where_the_name_lies(text: str, name: str, syntax: str) -> None:
    document = read(text, name)
    assert (document.data, document.syntax) == ({"a": 1}, syntax)
    assert [note.rule for note in document.notes] == ["format-mismatch"]


def test_a_flow_mapping_in_a_yaml_file_is_yaml() -> None:
    assert read("{a: 1, b: [x]}", "a.yml").data == {"a": 1, "b": ["x"]}


def test_limits_can_be_lowered() -> None:
    text = '{"a": [[[1]]]}'
    assert faults(text, "a.json", limits=Limits(depth=3))[0][0] == "nesting-too-deep"
    assert read(text, "a.json", limits=Limits(depth=4)).data == json.loads(text)


PLACES = """\
services:
  - name: one
    plans:
      - {name: small, free: true}
      - name: large
base: &base
  kind: b
other:
  <<: *base
  own: 1
alias: *base
"""


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ((), 1, 1),
        (("services",), 1, 1),
        (("services", 0), 2, 5),
        (("services", 0, "name"), 2, 5),
        (("services", 0, "plans", 0), 4, 9),
        (("services", 0, "plans", 0, "free"), 4, 23),
        (("services", 0, "plans", 1, "id"), 5, 9),
        (("services", 0, "missing", "deep"), 2, 5),
        (("other", "kind"), 7, 3),
        (("other", "own"), 10, 3),
        (("alias", "kind"), 7, 3),
        (("nothing",), 1, 1),
    ],
)
def test_places_in_yaml(path: tuple[str | int, ...], line: int, column: int) -> None:
    document = read(PLACES, "a.yaml")
    place = document.locate([path])[path]
    assert (place.line, place.column) == (line, column)
    assert place.excerpt == PLACES.splitlines()[line - 1]


@pytest.mark.parametrize(
    ("text", "path", "line", "column"),
    [
        ('{"a": [1, {"b": 2}]}', ("a", 1, "b"), 1, 12),
        ('\ufeff{\r\n "a": 1,\r\n "b": 2}', ("b",), 3, 2),
        ('{\r "a": 1,\r "b": 2}', ("b",), 3, 2),
        ('{"\U0001f600": 1, "b": 2}', ("b",), 1, 10),
        ('{"a": {"x": "]}"}, "b": []}', ("b", 3), 1, 20),
    ],
)
def test_places_in_json(text: str, path: tuple[str | int, ...], line: int, column: int) -> None:
    place = read(text, "a.json").locate([path])[path]
    assert (place.line, place.column) == (line, column)
