"""What Cloud Foundry says of parameter schemas: the library json-schema at work."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osbctl.sources.limits import allow_depth
from osbctl.validation.platforms.cloudfoundry_library import Crash
from osbctl.validation.platforms.cloudfoundry_schemas import SchemaJudge

D3, D4, D6, D7 = (f"http://json-schema.org/draft-0{n}/schema#" for n in (3, 4, 6, 7))
KEYWORDS = [
    *("$ref", "$schema", "id", "foo", "type", "enum", "const", "not", "allOf", "anyOf", "oneOf", "required", "extends"),
    *("properties", "patternProperties", "additionalProperties", "dependencies", "items", "definitions", "disallow"),
]
CUSTOM = "Custom meta schemas are not supported."


def faults(schema: dict[str, Any]) -> list[str]:
    return [fault.message for fault in SchemaJudge().faults(schema)]


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": D4},
        {"$schema": D3, "properties": {"a": {"type": "any"}}} | {"properties": {"a": {"type": "string"}}},
        {"$schema": D6, "const": 3},
        {"$schema": D4, "not": {"$schema": D4, "required": ["a"]}},
        {"$schema": D4, "required": ["a"], "$ref": "#/nowhere"},
        {"$schema": D4, "properties": {"a": {"$ref": "#/nowhere"}}},
        {"$schema": D4, "properties": {"a": {"pattern": "("}}},
        {"$schema": D4, "properties": {"a": {"patternProperties": {"(": {}}}}},
        {"$schema": D4, "definitions": {"a": {"id": "other.json"}}, "properties": {"b": {"$ref": "other.json"}}},
        {"$schema": D4, "anyOf": [{"required": ["a"]}, {"type": "object"}, {"$ref": "#/nowhere"}]},
        {"$schema": D4, "default": {"$ref": "https://example.com/x"}},
    ],
)
def test_accepts(schema: dict[str, Any]) -> None:
    assert faults(schema) == []


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({}, "Schema must have $schema key but was not present"),
        ({"$schema": False}, "Schema must have $schema key but was not present"),
        ({"$schema": D7}, CUSTOM),
        ({"$schema": D4, "properties": {"a": {"$schema": D7}}}, CUSTOM),
        ({"$schema": D4, "$ref": "#/nowhere"}, CUSTOM),
        ({"$schema": D4, "allOf": [{"$ref": "#/definitions"}], "definitions": {"$ref": {}}}, "Can't convert Hash into"),
        ({"$schema": D4, "foo": 1, "$ref": "#/foo"}, "no implicit conversion of String into Integer"),
        ({"$schema": D4, "foo": "x", "$ref": "#/foo"}, "undefined method `each' for an instance of String"),
        ({"$schema": D4, "foo": True, "$ref": "#/foo"}, "undefined method `[]' for true"),
        ({"$schema": D4, "foo": 0.5, "$ref": "#/foo"}, "undefined method `[]' for an instance of BigDecimal"),
        ({"$schema": D4, "foo": {"enum": 5}, "$ref": "#/foo"}, "undefined method `each' for an instance of Int"),
        ({"$schema": D4, "foo": {"not": None}, "$ref": "#/foo"}, "undefined method `[]' for nil"),
        ({"$schema": D4, "$ref": "size.json"}, "No external references are allowed: Read of file at /size.json"),
        ({"$schema": D4, "extends": "http://x.com/y"}, "No external references are allowed: Read of URI at http://x.c"),
        ({"$schema": D4, "patternProperties": {"(": {}}}, "end pattern with unmatched parenthesis: /(/"),
        ({"$schema": D4, "additionalProperties": False, "required": ["a"], "patternProperties": {"[": {}}},
         "premature end of char-class: /[/"),
        ({"$schema": D4, "foo": "<" * 11_000}, "Must not be larger than 64KB"),
    ],
)  # fmt: skip
def test_refuses_in_its_words(schema: dict[str, Any], message: str) -> None:
    told = faults(schema)
    assert len(told) == 1
    assert told[0].startswith(message)


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": D4, "$ref": "#"},
        {"$schema": D4, "allOf": [{"$ref": "#/definitions/a"}], "definitions": {"a": {"$ref": "#/definitions/a"}}},
        {"$schema": D4, "not": {"$ref": "#"}},
    ],
)
def test_a_loop_crashes_it(schema: dict[str, Any]) -> None:
    judge = SchemaJudge()
    for _ in range(2):
        with pytest.raises(Crash):
            judge.faults(schema)


SCHEMA = st.recursive(
    st.sampled_from([None, True, False, 0, 1.5, "a", "#", "#/foo", "(", D3, D4, D6, D7, "http://x.com/y", [], {}]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=500)
@given(st.sampled_from([D3, D4, D6]), SCHEMA, st.dictionaries(st.sampled_from(KEYWORDS), SCHEMA, max_size=3))
def test_nothing_breaks_the_judge(dialect: str, foo: Any, more: dict[str, Any]) -> None:
    try:
        told = faults({"foo": foo, "$ref": "#/foo", **more, "$schema": dialect})
    except Crash:
        return
    assert all(told)


def test_a_required_property_of_a_property_is_not_required() -> None:
    schema = {"$schema": D4, "properties": {"a": {"required": ["b"]}}, "$ref": "#/nowhere"}
    assert faults(schema) == [CUSTOM]
    assert faults({**schema, "$schema": D3}) == []


def test_what_is_deep_is_no_loop() -> None:
    schema: dict[str, Any] = {"type": "object"}
    allow_depth(1_000)
    for _ in range(500):
        schema = {"allOf": [schema]}
    assert faults({"$schema": D4, **schema}) == []
    twice = [{"$ref": "#/definitions/a"}, {"$ref": "#/definitions/a"}]
    assert faults({"$schema": D4, "allOf": twice, "definitions": {"a": {}}}) == []


def test_references_that_multiply_are_followed_once() -> None:
    definitions = {f"a{n}": {"allOf": [{"$ref": f"#/definitions/a{n + 1}"}] * 2} for n in range(60)}
    schema = {"$schema": D4, "$ref": "#/definitions/a0", "definitions": {**definitions, "a60": {}}}
    assert faults(schema) == []


def test_what_one_schema_loads_the_next_one_has() -> None:
    judge = SchemaJudge()
    reference = {"$schema": D4, "$ref": "http://example.com/a"}
    assert judge.faults({**reference, "title": "before"})
    assert judge.faults({"$schema": D4, "id": "http://example.com/a"}) == ()
    assert judge.faults(reference) == ()
