"""Properties of every document: correct values, correct locations, no crash."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from osbctl.findings import DocumentError
from osbctl.paths import JsonPath
from osbctl.sources.document import parse_document
from osbctl.sources.yaml_text import dump, dump_string
from osbctl.text import escape_line
from tests.fragments import places

TRAPS = [
    "no", "Yes", "on", "y", "N", "~", "", "null", "NULL", "true", "0x1F", "0o17", "012", "1_000", "1:30", "190:20:30",
    "2001-01-01", "1e3", "1.e3", ".inf", "-.INF", ".nan", "+1", "1.", ".5", "-", "--- a", "...", "<<", "=", "*a", "&a",
    "!x", "? a", ": a", "a: b", "a #b", "#a", " a", "a ", "\ta", "a\n", "\na", "a\n\n", "a\nb", " a\nb", "a\n b", "|",
    ">", "%a", "@a", "`a", "[a", "{a", "'a'", '"a"', "\\", "\x00", "\x1b[31m", "\x7f", "\x85", "\u2028", "\ufeff",
    "\u202ea", "a\u202e\nb", "🐘", "\U000e0041", "a\r\nb", "x" * 200, "0b11", "0B1", "1__2", "0_", "-0", "0x",
    "é\u00a0", "##vso[task.x]", "a\n##[error]b\n", "é ##teamcity[x '|n']", "::error::x", "a\n  ::error::x\n",
]  # fmt: skip
FLOATS = [0.0, -0.0, 1.0, 1e16, 1e100, 1.5e-7, 1e-10, 123456789.125, 5e-324, 1.7976931348623157e308, 1e22, -1e21]
# A key of the top that begins with a no-break space is taken for a slip of the indentation (test_traps).
TEXTS = st.sampled_from(TRAPS) | st.text(max_size=12).filter(lambda text: not text.startswith("\u00a0"))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=20
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=5)


@given(OBJECTS, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_json_is_read_as_it_was_written(value: Any, ascii_only: bool, indent: Any) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse_document(text.encode(), "a.json").data == value


@given(OBJECTS, st.booleans(), st.booleans())
def test_yaml_is_read_as_it_was_written(value: Any, flow: bool, unicode: bool) -> None:
    # The dumper quotes by YAML 1.1, which quotes more than 1.2 asks for, except for numbers such as 1e3 and 0o7.
    text = yaml.dump(value, Dumper=Dumper, default_flow_style=flow, allow_unicode=unicode)
    assert parse_document(text.encode(), "a.yaml").data == value


class Dumper(yaml.SafeDumper):
    """Writes every string in double quotes, so that only the reader is under test, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


Dumper.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


PLAIN = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), max_size=5)
PLAIN_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PLAIN, inner, max_size=4),
    max_leaves=15,
)


class Writer:
    """Writes JSON and notes, independent of any reader, at which line and column each path begins."""

    def __init__(self, newline: str) -> None:
        self.text = ""
        self.newline = newline
        self.places: dict[JsonPath, tuple[int, int]] = {}

    def write(self, value: Any, path: JsonPath = (), is_entry: bool = False) -> "Writer":
        if not is_entry:
            self.note(path)
        if isinstance(value, dict):
            self.text += "{"
            for index, (key, item) in enumerate(value.items()):
                self.text += ("," if index else "") + self.newline
                self.note((*path, key))
                self.text += json.dumps(key, ensure_ascii=False) + ": "
                self.write(item, (*path, key), True)
            self.text += self.newline + "}"
        elif isinstance(value, list):
            self.text += "["
            for index, item in enumerate(value):
                self.text += ("," if index else "") + self.newline
                self.write(item, (*path, index))
            self.text += self.newline + "]"
        else:
            self.text += json.dumps(value, ensure_ascii=False)
        return self

    def note(self, path: JsonPath) -> None:
        lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self.places[path] = (len(lines), len(lines[-1]) + 1)


@given(st.dictionaries(PLAIN, PLAIN_VALUES, max_size=4), st.sampled_from(["", " ", "\n", "\n  ", "\r\n ", "\r "]))
@example({"a": [{"b": []}, "😀", {"": {}}]}, "\r\n ")
def test_both_readers_agree_and_every_path_stands_where_it_was_written(value: Any, newline: str) -> None:
    """A directive keeps the text from being read as JSON."""
    writer = Writer(newline).write(value)
    every = places(value)
    assert set(every) == set(writer.places)
    for name, text in (("a.json", writer.text), ("a.yaml", f"%YAML 1.2\n---\n{writer.text}")):
        document = parse_document(text.encode(), name)
        assert document.data == value
        found = document.locate(every)
        down = 2 if name == "a.yaml" else 0
        assert {path: (place.line - down, place.column) for path, place in found.items()} == writer.places


NAMES = st.sampled_from(["a.json", "a.yaml", "catalog"])


def read_or_refuse(data: bytes, name: str) -> None:
    """Read, and locate everything; only a DocumentError with a place inside of the text may come out."""
    try:
        document = parse_document(data, name)
    except DocumentError as error:
        for finding in error.findings:
            assert finding.message
            assert finding.location and finding.location.line >= 1
            assert 1 <= finding.location.column <= len(finding.location.excerpt) + 2
        return
    every = places(document.data)[:200]
    assert set(document.locate(every)) == set(every)
    json.dumps(document.data, allow_nan=False).encode()


@given(st.binary(max_size=60), NAMES)
@example(b"\xef\xbb\xbf" + "é".encode() * 3 + b"\xe9", "a.yaml")
@example(b"1e400: x", "a.yaml")
@example(b".nan: x", "a.yaml")
def test_any_bytes(data: bytes, name: str) -> None:
    read_or_refuse(data, name)


TOKENS = "{ } [ ] , : ? - {{ }} // \" ' & * !!int !x --- ... %YAML # | >- a b ~ no 1 0x .nan 1e999 null"
PIECES = st.sampled_from([
    *TOKENS.split(), ": ", "- ", "? ", "\n", "\n  ", "\t", "\r", '"a": ', "&a ", " &a", "*a", " *a", "<<: ", "!!int ", "!x ",
    "\\ud800", "\\", "\0", "\ufeff", "\u2028", "\x85", "😀", "é",
])  # fmt: skip


@given(st.lists(PIECES, max_size=25), NAMES)
@example(["&a", " ", "[", "*a", "]"], "a.yaml")
def test_any_heap_of_tokens(pieces: list[str], name: str) -> None:
    read_or_refuse("".join(pieces).encode(), name)


BASE = (
    b'{"services": [{"name": "db", "id": "x", "plans": [{"name": "s", "free": true, "n": 1.5e3}]}], "e": "\\u00e9"}',
    b"""base: &b {free: no, list: [1, 2]}
services:
- name: db
  plans:
  - <<: *b
    text: |
      x
    q: 'it''s'
""",
)
CHANGES = st.tuples(st.integers(0, 120), st.integers(0, 3), st.binary(max_size=3))


@given(st.sampled_from(BASE), st.lists(CHANGES, max_size=4), NAMES)
def test_mutated_documents(base: bytes, changes: list[tuple[int, int, bytes]], name: str) -> None:
    data = base
    for at, removed, inserted in changes:
        data = data[:at] + inserted + data[at + removed :]
    read_or_refuse(data, name)


def agree(data: dict[str, Any]) -> None:
    text = dump(data)
    document = parse_document(text.encode(), "catalog.yaml")
    assert repr(yaml.safe_load(text)) == repr(document.data) == repr(data)
    assert all(escape_line(line) == line for line in text.split("\n"))
    assert dump(document.data) == text


def test_strings_that_look_like_something_else_and_numbers_are_the_same_to_every_reader() -> None:
    for value in TRAPS:
        agree({"value": value, "list": [value], value: 1})
    for number in FLOATS:
        agree({"value": number, "list": [number, int(number)]})


@pytest.mark.fuzz
@given(OBJECTS)
def test_any_value_comes_back(data: dict[str, Any]) -> None:
    agree(data)


def test_order_is_kept_and_no_alias_is_made() -> None:
    shared = {"b": 1, "a": 2}
    assert dump({"z": shared, "y": shared}) == 'z:\n  b: 1\n  a: 2\n"y":\n  b: 1\n  a: 2\n'


def test_it_looks_as_written_by_hand() -> None:
    """libyaml by itself escapes such characters, and ends such documents with `...`."""
    assert dump({"a": "🐘 b"}) == "a: 🐘 b\n"
    assert dump({"a": ["b\n\n"]}) == "a:\n- |+\n  b\n\n"


@given(TEXTS)
def test_one_string_as_a_value(value: str) -> None:
    text = f"a:\n  b: {dump_string(value)}\n"
    assert yaml.safe_load(text) == parse_document(text.encode(), "x.yaml").data == {"a": {"b": value}}
    assert text.count("\n") == 2
    assert escape_line(dump_string(value)) == dump_string(value)
