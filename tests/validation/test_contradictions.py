"""Contradictions in a schema: each kind, and similar schemas without one."""

import time
from typing import Any

import pytest

from osbctl.requests.parameters import examples
from osbctl.sources.parse import parse_document
from osbctl.validation.contradictions import impossible, refused_values
from osbctl.validation.node import Node
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from osbctl.validation.rules.parameters import parameters_default, parameters_impossible
from tests.corpus import catalogs, needs_corpus
from tests.fragments import DRAFT_04

DRAFT = {"$schema": DRAFT_04}


def of(inner: Any) -> dict[str, Any]:
    return {**DRAFT, "properties": {"n": inner}}


@pytest.mark.parametrize(("inner", "why"), [
    ({"type": "integer", "minimum": 5, "maximum": 3}, "no number lies between 5 and 3"),
    ({"minimum": 5, "maximum": 3}, "no number lies between 5 and 3"),
    ({"type": "integer", "minimum": 1.2, "maximum": 1.8}, "no number lies between 1.2 and 1.8"),
    ({"type": "number", "minimum": 1, "maximum": 1, "exclusiveMinimum": True}, "no number lies between 1 and 1"),
    ({"minimum": 10**400, "maximum": 2.5}, "no number lies between"),
    ({"type": "string", "minLength": 5, "maxLength": 2}, "minLength is 5, maxLength 2"),
    ({"type": ["array", "null"], "minItems": 5, "maxItems": 2}, "minItems is 5, maxItems 2"),
    ({"type": "array", "minItems": 1, "items": {"allOf": [{"type": "null"}, {"type": "string"}]}}, "its types rule"),
    ({"type": "string", "enum": [1, 2]}, "none of the listed values"),
    ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "its types rule each other out"),
    ({"type": "string", "anyOf": [{"type": "null"}, {"enum": [1]}]}, "no branch of its anyOf"),
    ({"type": "string", "not": {"type": ["string", "null"]}}, "its `not` refuses all"),
    ({"type": "object", "required": ["a"], "additionalProperties": False}, "it requires 'a', which it forbids"),
    ({"type": "object", "required": ["a"], "properties": {"a": {"not": {}}}}, "it requires 'a', where its `not`"),
])  # fmt: skip
def test_what_nothing_can_meet_is_told_at_its_place(inner: dict[str, Any], why: str) -> None:
    (at, told) = next(impossible(of(inner)))
    node = Node(of(inner))
    assert [hit.path for hit in parameters_impossible(node)] == [path for path, _ in impossible(of(inner))]
    assert at[:2] == ("properties", "n")
    assert why in told


@pytest.mark.parametrize("top", [{"type": "string"}, {"enum": [1]}, {"anyOf": [{"type": "array"}, {"type": "null"}]}])
def test_a_schema_that_takes_no_object_takes_no_parameters(top: dict[str, Any]) -> None:
    assert [at for at, _ in impossible({**DRAFT, **top})] == [()]


@pytest.mark.parametrize("inner", [
    {"type": "integer", "minimum": 3, "maximum": 3},
    {"type": "string", "minLength": 3, "maxLength": 3},
    {"type": "array", "minItems": 3, "maxItems": 3},
    {"type": "object", "minProperties": 1, "properties": {"a": {}}, "additionalProperties": False},
    {"type": "string", "minimum": 5, "maximum": 3},  # numbers it takes none, and bounds say nothing of strings
    {"not": {}},
    False,
    {"type": "string", "pattern": "a(?=b)$", "minLength": 3},
    {"type": "object", "required": ["a"], "patternProperties": {"^a": {}}, "additionalProperties": False},
    {"properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/properties/n"}}},
    {"if": {"type": "string"}, "then": {"allOf": [{"type": "string"}, {"type": "null"}]}},
    {"$ref": "https://example.com/s.json", "minimum": 5, "maximum": 3},
    {"type": "string", "format": "email", "default": "nobody", "example": "none"},
])  # fmt: skip
def test_what_is_possible_meant_or_not_proved_is_passed_over(inner: Any) -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"n": inner}}
    assert list(impossible(schema)) == list(refused_values(schema)) == []


def test_defaults_and_examples_that_their_schema_refuses_name_the_keyword() -> None:
    parts = {
        "a": {"type": "string", "default": 3},
        "b": {"type": "string", "pattern": "^a+$", "default": "b"},
        "c": {"type": "object", "required": ["x"], "default": {}},
        "d": {"$ref": "#/properties/a", "default": None},
        "e": {"enum": [1], "examples": [1, 2], "example": 3},
        "f": {"type": "integer", "maximum": 9, "default": 9},
    }
    schema = {**DRAFT, "properties": parts}
    told = dict(refused_values(schema))
    assert [hit.path for hit in parameters_default(Node(schema))] == list(told)
    assert told == {
        ("properties", "a", "default"): ("type",),
        ("properties", "b", "default"): ("pattern",),
        ("properties", "c", "default"): ("required",),
        ("properties", "d", "default"): ("$ref",),
        ("properties", "e", "examples", 1): ("enum",),
        ("properties", "e", "example"): ("enum",),
    }


@pytest.mark.parametrize(("schema", "told"), [
    # An enum that is no list has a finding of its own alone.
    *(({"default": default, "enum": enum}, False) for default in (1, {}) for enum in (1.5, "abc", None, {})),
    # A boolean is no number.
    ({"default": True, "enum": [1, 2]}, True),
    ({"default": 0, "enum": [False]}, True),
    # A template's placeholder is no default.
    ({"type": "integer", "default": "((size))"}, False),
    # Limits beyond all fractions are limits.
    ({"minimum": 2.5, "maximum": 10**400, "default": 10**400, "enum": [2.5, 10**400]}, False),
])  # fmt: skip
def test_defaults_that_are_told(schema: dict[str, Any], told: bool) -> None:
    node = Node(of(schema))
    assert (bool([*parameters_default(node)]), [*parameters_impossible(node)]) == (told, [])


@pytest.mark.parametrize("broken", [{"patternProperties": -1}, {"pattern": 1}, {"minimum": "1"}, {"required": 1}])
@pytest.mark.parametrize("keyword", ["$defs", "if", "prefixItems"])
def test_what_another_draft_would_read_is_no_schema_to_reason_about(keyword: str, broken: Any) -> None:
    place, held = {
        "$defs": ("/$defs/a", {"a": broken}),
        "prefixItems": ("/prefixItems/0", [broken]),
        "if": ("/if", broken),
    }[keyword]
    schema = {**DRAFT, "properties": {"n": {"$ref": f"#{place}"}}, "default": 1, keyword: held}
    assert list(impossible(schema)) == list(refused_values(schema)) == []
    why = f"it is not a valid draft-04 schema (at {place}/{next(iter(broken))})"
    assert examples(schema).why == f"no example can be made for this schema: {why}"


@needs_corpus
def test_no_alarm_on_real_catalogs() -> None:
    options = ValidationOptions(select=("parameters-default", "parameters-impossible"))
    assert len(catalogs()) == 76
    for file in catalogs():
        assert validate_document(parse_document(file.read_bytes(), file.name), options).findings == (), file.name


def test_a_pattern_that_takes_too_long_and_a_schema_without_end_are_given_up() -> None:
    slow = of({"type": "string", "pattern": "^(a+)+$", "default": "a" * 5_000 + "b"})
    parts = {f"p{n}": {"anyOf": [{"$ref": f"#/properties/p{m}"} for m in range(n + 1, 60)]} for n in range(60)}
    began = time.monotonic()
    for schema in (slow, {**DRAFT, "properties": parts}):
        list(impossible(schema))
        list(refused_values(schema))
    assert time.monotonic() - began < 10
