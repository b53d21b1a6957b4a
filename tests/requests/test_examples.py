"""Examples that the schema accepts, by two validators, or a word that none was found."""

from __future__ import annotations

import time
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings

from osbctl.requests.parameters import examples
from tests.corpus import EVERY_CASE
from tests.jsonschemas.strategies import pairs

D4 = "http://json-schema.org/draft-04/schema#"
CASES: list[tuple[dict[str, Any], Any, Any]] = [
    ({"type": "object"}, {}, {}),
    ({"properties": {"a": {"type": "integer", "minimum": 3}}, "required": ["a"]}, {"a": 3}, {"a": 3}),
    ({"properties": {"a": {"default": 5}, "b": {"enum": ["x", "y"]}}}, {}, {"a": 5, "b": "x"}),
    ({"properties": {"a": {"examples": ["eu"], "type": "string"}}, "required": ["a"]}, {"a": "eu"}, {"a": "eu"}),
    ({"properties": {"a": {"type": "integer"}}, "dependencies": {"a": ["b"]}, "required": ["a"]}, ["a", "b"], ["a", "b"]),
    ({"properties": {"a": {"type": "object", "properties": {"b": {"const": 1}}, "required": ["b"]}}}, {}, {"a": {"b": 1}}),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {"type": "boolean"}, "b": {"type": "boolean"}}}, 1, 1),
    ({"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {"type": "string", "format": "ipv4"}}}, {}, {"a": "192.0.2.1"}),
    ({"minProperties": 2, "additionalProperties": {"type": "integer"}}, 2, 2),
    ({"$schema": D4, "properties": {"n": {"minimum": 1, "exclusiveMinimum": True, "type": "integer"}}, "required": ["n"]}, {"n": 2}, {"n": 2}),
    ({"properties": {"a": {"type": "array", "minItems": 2, "uniqueItems": True, "items": {"type": "string"}}}, "required": ["a"]}, 1, 1),
    ({"properties": {"v": {"pattern": "^[0-9]+\\.[0-9]+$", "type": "string"}}, "required": ["v"]}, ["v"], ["v"]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "smallest", "fullest"), CASES)
def test_the_examples_are_what_a_reader_would_write(schema: dict[str, Any], smallest: Any, fullest: Any) -> None:
    found = examples(schema)
    for value, wanted in ((found.smallest, smallest), (found.fullest, fullest)):
        assert isinstance(value, dict)
        prove(schema, value)
        if isinstance(wanted, dict):
            assert value == wanted
        else:
            assert len(value) == wanted if isinstance(wanted, int) else sorted(value) == wanted


def prove(schema: Any, value: Any) -> None:
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft7Validator)
    kind(schema).validate(value)
    assert jsonschema_rs.validator_for({"$schema": kind.META_SCHEMA["$schema"], **schema}).is_valid(value)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "string"}, "no request that this schema accepts"),
        ({"required": ["a"], "properties": {"a": False}}, "no request that this schema accepts"),
        ({"$ref": "https://example.com/x"}, "leaves the schema"),
        ({"$schema": "urn:unknown"}, "names no draft"),
        ({"type": 7}, "not a valid"),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "no request that this schema"),
    ],
)
def test_a_missing_example_has_a_reason(schema: Any, why: str) -> None:
    found = examples(schema)
    assert found.smallest is None and found.fullest is None
    assert why in found.why


def test_secrets_of_the_catalog_are_no_examples() -> None:
    schema = {"properties": {"admin_password": {"type": "string", "default": "hunter2-hunter2", "minLength": 12}}}
    found = examples(schema)
    assert "hunter2" not in str(found)
    assert found.fullest and len(found.fullest["admin_password"]) >= 12


def test_a_heavy_pattern_and_a_schema_that_refers_to_itself_end() -> None:
    started = time.process_time()
    examples({"properties": {"a": {"type": "string", "pattern": "^(a+)+$(?<=b)"}}, "required": ["a"]})
    tree = {"type": "object", "properties": {n: {"$ref": "#"} for n in "abcdefgh"}}
    found = examples(tree)
    assert found.smallest == {}
    assert found.fullest == {name: {} for name in "abcdefgh"}
    assert time.process_time() - started < 2


@pytest.mark.fuzz
@given(pairs())
@settings(max_examples=2_000 if EVERY_CASE else 40, suppress_health_check=list(HealthCheck))
def test_every_example_is_accepted(pair: Any) -> None:
    schema = pair[0]
    found = examples(schema)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft7Validator)
    for value in (found.smallest, found.fullest):
        if value is not None:
            kind(schema).validate(value)
