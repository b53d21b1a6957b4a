"""How Ruby shows and compares values, and how its library reads URIs."""

from __future__ import annotations

from typing import Any

import pytest

from osbctl.validation.platforms import ruby, uris


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "nil"),
        (True, "true"),
        (5, "5"),
        (1.5, "0.15e1"),
        (-0.00012, "-0.12e-3"),
        (0.0, "0.0"),
        (1e30, "0.1e31"),
        ('a"b\\c\n\t\x1b\x00', r'"a\"b\\c\n\t\e\u0000"'),
        ("#{x} #x #$", r'"\#{x} #x \#$"'),
        ("é\u200b", '"é\u200b"'),
        ("\u2028", r'"\u2028"'),
        ([1, None], "[1, nil]"),
        ({"a": {}}, '{"a"=>{}}'),
    ],
)
def test_inspect(value: Any, shown: str) -> None:
    assert ruby.inspect(value) == shown


def test_to_s() -> None:
    assert list(map(ruby.to_s, [None, "a", 1, 1.0, 12.5, [None], True])) == [
        "",
        "a",
        "1",
        "1.0",
        "12.5",
        "[nil]",
        "true",
    ]


def test_class_names() -> None:
    values: list[Any] = [{}, [], 1, 1.0, True, False, None]
    assert [ruby.class_name(value) for value in values] == [
        "Hash", "Array", "Integer", "BigDecimal", "TrueClass", "FalseClass", "NilClass",
    ]  # fmt: skip


def test_truth_and_blanks() -> None:
    assert all(map(ruby.truthy, [0, "", [], {}, True]))
    assert not ruby.truthy(None)
    assert not ruby.truthy(False)
    assert ruby.is_blank(" \t\n\u00a0\u2003")
    assert ruby.is_blank("")
    assert not ruby.is_blank("\u200b")


def test_two_kinds_of_equal() -> None:
    assert ruby.eql(1) != ruby.eql(1.0)
    assert ruby.equal(1) == ruby.equal(1.0)
    assert ruby.equal(True) != ruby.equal(1)
    assert ruby.eql({"a": [1], "b": 2}) == ruby.eql({"b": 2, "a": [1]})
    assert ruby.eql(None) != ruby.eql(False)


def test_length_of_json() -> None:
    assert ruby.json_length({"a": "<é\u2028"}) == len('{"a":"é"}') + 6 + 6
    assert ruby.json_length({"a": 1.0}) == len('{"a":"1.0"}')


@pytest.mark.parametrize(("text", "number"), [("12", 12), ("-1x", -1), (" +3", 3), ("x", 0), ("", 0), ("²", 0)])
def test_to_i(text: str, number: int) -> None:
    assert ruby.to_i(text) == number


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("(", "end pattern with unmatched parenthesis: /(/"),
        (")", "unmatched close parenthesis: /)/"),
        ("[a", "premature end of char-class: /[a/"),
        ("*", "target of repeat operator is not specified: /*/"),
        ("\\", "too short escape sequence: /\\/"),
        ("^[a-z]+$", ""),
        (r"\p{Alpha}\z", ""),
        ("[[:alpha:]--]", ""),
        ("(?<name>a)", ""),
    ],
)
def test_patterns(pattern: str, told: str) -> None:
    assert ruby.pattern_fault(pattern) == told


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("http://json-schema.org/draft-04/schema#", True),
        ("", True),
        ("#a", True),
        ("a/b", True),
        ("urn:x:y", True),
        (" http://x", False),
        ("1x:y", False),
        ("http://a b/", False),
        ("http:", False),
        ("//", True),
    ],
)
def test_uris(text: str, good: bool) -> None:
    assert uris.is_valid(text) is good
    assert str(uris.parse(text)) == text


@pytest.mark.parametrize(
    ("base", "path", "whole"),
    [
        ("schema", "other.json", "other.json"),
        ("http://x.com/a/b", "c", "http://x.com/a/c"),
        ("http://x.com/a/b", "../c", "http://x.com/c"),
        ("http://x.com", "c", "http://x.com/c"),
        ("http://x.com/a/b#f", "", "http://x.com/a/b"),
        ("http://x.com/a?q", "/c", "http://x.com/c"),
    ],
)
def test_joining(base: str, path: str, whole: str) -> None:
    assert str(uris.joined(uris.parse(base), path)) == whole


def test_parts_and_escapes() -> None:
    uri = uris.parse("http://me@x.com:80/a?b#c")
    assert (uri.scheme, uri.host, uri.path, uri.query, uri.fragment) == ("http", "x.com", "/a", "b", "c")
    assert uris.unescaped("a%20b") == "a b"
