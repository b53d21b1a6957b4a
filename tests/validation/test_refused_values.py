"""Defaults and examples that their schema refuses, and similar ones that are valid, or not proved to be refused."""

import time
from typing import Any

import pytest

from osbctl.jsonschemas.schema_tree import find_refused_values
from osbctl.requests import generate_examples
from osbctl.sources.document import parse_document
from osbctl.validation.checks import Node
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from osbctl.validation.rules.parameters import parameters_default
from tests.corpus import catalogs, needs_corpus
from tests.fragments import DRAFT_04

DRAFT = {"$schema": DRAFT_04}


def property_schema(inner: Any) -> dict[str, Any]:
    return {**DRAFT, "properties": {"n": inner}}


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
    told = dict(find_refused_values(schema))
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
    # A format is not enforced.
    ({"type": "string", "format": "email", "default": "nobody", "example": "none"}, False),
])  # fmt: skip
def test_defaults_that_are_told(schema: dict[str, Any], told: bool) -> None:
    assert bool([*parameters_default(Node(property_schema(schema)))]) == told


@pytest.mark.parametrize("broken", [{"patternProperties": -1}, {"pattern": 1}, {"minimum": "1"}, {"required": 1}])
@pytest.mark.parametrize("keyword", ["$defs", "if", "prefixItems"])
def test_what_another_draft_would_read_is_no_schema_to_reason_about(keyword: str, broken: Any) -> None:
    place, held = {
        "$defs": ("/$defs/a", {"a": broken}),
        "prefixItems": ("/prefixItems/0", [broken]),
        "if": ("/if", broken),
    }[keyword]
    schema = {**DRAFT, "properties": {"n": {"$ref": f"#{place}"}}, "default": 1, keyword: held}
    assert list(find_refused_values(schema)) == []
    why = f"it is not a valid draft-04 schema (at {place}/{next(iter(broken))})"
    assert generate_examples(schema).why == f"no example can be made for this schema: {why}"


@needs_corpus
def test_no_alarm_on_real_catalogs() -> None:
    options = ValidationOptions(select=("parameters-default", "parameters-impossible"))
    assert len(catalogs()) == 76
    for file in catalogs():
        assert validate_document(parse_document(file.read_bytes(), file.name), options).findings == (), file.name


def test_a_pattern_that_takes_too_long_and_a_schema_without_end_are_given_up() -> None:
    slow = property_schema({"type": "string", "pattern": "^(a+)+$", "default": "a" * 5_000 + "b"})
    parts = {f"p{n}": {"anyOf": [{"$ref": f"#/properties/p{m}"} for m in range(n + 1, 60)]} for n in range(60)}
    began = time.process_time()
    for schema in (slow, {**DRAFT, "properties": parts}):
        list(find_refused_values(schema))
    assert time.process_time() - began < 10
