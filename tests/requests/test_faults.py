"""Errors of requests: confirmed by another validator, at the right location, with helpful messages."""

from __future__ import annotations

import time
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from osbctl.errors import SourceError
from osbctl.paths import pointer
from osbctl.requests.parameters import request_errors
from tests.corpus import EVERY_CASE
from tests.jsonschemas.strategies import pairs, request

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["region"],
    "properties": {
        "region": {"enum": ["eu", "us"]},
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
        "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 3},
        "at": {"type": "string", "format": "date"},
        "backup": {
            "oneOf": [
                {"type": "boolean"},
                {"type": "object", "required": ["hour"], "properties": {"hour": {"type": "integer", "maximum": 23}}},
            ]
        },
        "nodes": {"type": "array", "items": {"type": "object", "required": ["id"]}, "uniqueItems": True},
        "password": {"type": "string", "minLength": 8, "const": "correct-horse"},
        "labels": {"type": "object", "propertyNames": {"maxLength": 3}},
        "never": False,
    },
}
CASES: list[tuple[Any, list[tuple[str, str]]]] = [
    ({"region": "eu"}, []),
    ({}, [("/region", "region is missing")]),
    ({"region": "mars"}, [("/region", 'region must be one of "eu", "us", not the string "mars"')]),
    ({"region": "eu", "size": 12}, [("/size", "size must be at most 9, not 12")]),
    ({"region": "eu", "size": "3"}, [("/size", 'size must be an integer, not the string "3"')]),
    ({"region": "eu", "Size": 3}, [("/Size", "the schema does not allow Size here")]),
    ({"region": "eu", "at": "tomorrow"}, [("/at", 'at must be of the format "date", not the string "tomorrow"')]),
    ({"region": "eu", "backup": {"hour": 24}}, [("/backup/hour", "hour must be at most 23, not 24")]),
    ({"region": "eu", "backup": 1}, [("/backup", "backup must fit exactly one of the choices that the schema gives")]),
    ({"region": "eu", "nodes": [{"id": 1}, {}]}, [("/nodes/1/id", "id is missing")]),
    ({"region": "eu", "labels": {"long": 1}}, [("/labels/long", "the name of a parameter must have at most 3 characters, not 4")]),
    ({"region": "eu", "never": 1}, [("/never", "never holds what the schema does not allow: 1")]),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "wanted"), CASES)
def test_each_fault_is_reported_once_at_its_path(sent: dict[str, Any], wanted: list[tuple[str, str]]) -> None:
    assert [(pointer(fault.path), fault.message) for fault in request_errors(SCHEMA, sent)] == wanted


def test_a_name_that_is_nearly_known_gets_a_hint() -> None:
    (fault,) = request_errors(SCHEMA, {"region": "eu", "sise": 3})
    assert fault.hint == "did you mean size?"


def test_values_with_secret_names_are_not_shown() -> None:
    found = request_errors(SCHEMA, {"region": "eu", "password": "hunter2"})
    assert {fault.rule for fault in found} == {"minLength", "const"}
    assert "hunter2" not in str(found) and "correct-horse" not in str(found)


@pytest.mark.parametrize(
    "schema", [{"$ref": "http://example.com/x"}, {"type": 7}, {"properties": {"a": {"pattern": "(("}}}]
)
def test_a_schema_that_cannot_be_applied_is_an_error(schema: Any) -> None:
    with pytest.raises(SourceError, match="cannot be applied"):
        request_errors(schema, {"a": "b"})


def test_a_pattern_that_takes_too_long_is_an_error() -> None:
    started = time.monotonic()
    with pytest.raises(SourceError, match="takes too long"):
        request_errors({"properties": {"a": {"pattern": "^(?=(a+)+$)b"}}}, {"a": "a" * 5_000})
    assert time.monotonic() - started < 10


@pytest.mark.fuzz
@given(pairs())
@settings(max_examples=2_000 if EVERY_CASE else 40, suppress_health_check=list(HealthCheck))
def test_another_validator_agrees(pair: Any) -> None:
    schema, _, choose = pair
    sent = request(choose)
    try:
        found = request_errors(schema, sent)
    except SourceError:
        return
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft7Validator)
    try:
        accepted = kind(schema, format_checker=kind.FORMAT_CHECKER).is_valid(sent)
    except RecursionError:
        return
    assert (not found) == accepted
