"""Examples that the schema accepts, by two validators, or a word that none was found."""

import time
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings

from osbctl.errors import SourceError
from osbctl.jsonschemas.dialects import DRAFT_4, DRAFT_7
from osbctl.jsonschemas.sentences import error_path, metaschema_errors
from osbctl.paths import JsonPath, entries, pointer
from osbctl.requests import generate_examples, request_errors
from tests.case import each
from tests.corpus import EVERY_CASE
from tests.jsonschemas.strategies import pairs, request

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
    found = generate_examples(schema)
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


@each("schema, why", [
    ({"type": "string"}, "no request that this schema accepts"),
    ({"required": ["a"], "properties": {"a": False}}, "no request that this schema accepts"),
    ({"$ref": "https://example.com/x"}, "leaves the schema"),
    ({"$schema": "urn:unknown"}, "names no draft"),
    ({"type": 7}, "not a valid"),
    ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "no request that this schema"),
])  # fmt: skip
def test_a_missing_example_has_a_reason(schema: Any, why: str) -> None:
    found = generate_examples(schema)
    assert found.smallest is None and found.fullest is None
    assert why in found.why


def test_secrets_of_the_catalog_are_no_examples() -> None:
    schema = {"properties": {"admin_password": {"type": "string", "default": "hunter2-hunter2", "minLength": 12}}}
    found = generate_examples(schema)
    assert "hunter2" not in str(found)
    assert found.fullest and len(found.fullest["admin_password"]) >= 12


def test_a_heavy_pattern_and_a_schema_that_refers_to_itself_end() -> None:
    started = time.process_time()
    generate_examples({"properties": {"a": {"type": "string", "pattern": "^(a+)+$(?<=b)"}}, "required": ["a"]})
    tree = {"type": "object", "properties": {n: {"$ref": "#"} for n in "abcdefgh"}}
    found = generate_examples(tree)
    assert found.smallest == {}
    assert found.fullest == {name: {} for name in "abcdefgh"}
    assert time.process_time() - started < 2


@pytest.mark.fuzz
@given(pairs())
@settings(max_examples=2_000 if EVERY_CASE else 40, suppress_health_check=list(HealthCheck))
def test_every_example_is_accepted(pair: Any) -> None:
    schema = pair[0]
    found = generate_examples(schema)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft7Validator)
    for value in (found.smallest, found.fullest):
        if value is not None:
            kind(schema).validate(value)


# Errors of requests: confirmed by another validator, at the right location, with helpful messages.


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
        "credentials": {"properties": {"users": {"items": {"properties": {"name": {"type": "integer"}}}}}},
        "labels": {"type": "object", "propertyNames": {"maxLength": 3}},
        "never": False,
    },
}
REQUESTS: list[tuple[Any, list[tuple[str, str]]]] = [
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


@pytest.mark.parametrize(("sent", "wanted"), REQUESTS)
def test_each_fault_is_reported_once_at_its_path(sent: dict[str, Any], wanted: list[tuple[str, str]]) -> None:
    assert [(pointer(fault.path), fault.message) for fault in request_errors(SCHEMA, sent)] == wanted


def test_a_key_of_digits_is_no_index() -> None:
    numbers = {"additionalProperties": {"type": "integer"}}
    schema = {"properties": {"ports": numbers, "list": {"items": numbers}}}
    sent = {"ports": {"8080": "a", "007": "b"}, "list": [{}, {"0": "c"}]}
    found = {fault.path: fault.message.partition(" ")[0] for fault in request_errors(schema, sent)}
    assert found == {("ports", "8080"): "8080", ("ports", "007"): "007", ("list", 1, "0"): "0"}
    ((path, _),) = metaschema_errors({"properties": {"8080": {"type": "int"}}}, DRAFT_7)
    assert path == ("properties", "8080", "type")


def test_a_name_that_is_nearly_known_gets_a_hint() -> None:
    (fault,) = request_errors(SCHEMA, {"region": "eu", "sise": 3})
    assert fault.hint == "did you mean size?"


def test_values_with_secret_names_are_not_shown() -> None:
    found = request_errors(SCHEMA, {"region": "eu", "password": "hunter2"})
    assert {fault.rule for fault in found} == {"minLength", "const"}
    assert "hunter2" not in str(found) and "correct-horse" not in str(found)
    (below,) = request_errors(SCHEMA, {"region": "eu", "credentials": {"users": [{}, {"name": "hunter2"}]}})
    assert below.path == ("credentials", "users", 1, "name")
    assert below.message == "name does not meet `type` of the schema"


@each("schema", [{"$ref": "http://example.com/x"}, {"type": 7}, {"properties": {"a": {"pattern": "(("}}}])
def test_a_schema_that_cannot_be_applied_is_an_error(schema: Any) -> None:
    with pytest.raises(SourceError, match="cannot be applied"):
        request_errors(schema, {"a": "b"})


def test_a_certificate_beside_a_pattern_is_validated() -> None:
    schema = {"properties": {"name": {"pattern": "^[a-z]{1,30}$"}, "certificate": {"type": "string"}}}
    (fault,) = request_errors(schema, {"name": "A", "certificate": "x" * 5_000})
    assert fault.path == ("name",)


def test_a_pattern_that_takes_too_long_is_an_error() -> None:
    started = time.process_time()
    with pytest.raises(SourceError, match="would take too long"):
        request_errors({"properties": {"a": {"pattern": "^(?=(a+)+$)b"}}}, {"a": "a" * 5_000})
    assert time.process_time() - started < 10


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


def test_an_error_below_an_empty_key_has_its_place() -> None:
    """jsonschema-rs leaves such keys out of its paths."""
    keys = ("", "a", "8", "08", "+8", "-8", 'x"y', "a][b", "a/b", "~", "é", "\u0668", "0", "00")
    random = Random(1)

    def generate(depth: int) -> Any:
        if not depth or random.random() < 0.2:
            return random.choice((1, "text"))
        if random.random() < 0.2:
            return [generate(depth - 1) for _ in range(2)]
        return {key: generate(depth - 1) for key in random.sample(keys, 4)}

    def texts(value: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
        if isinstance(value, str):
            yield path
        for step, inner in entries(value):
            yield from texts(inner, (*path, step))

    inside = {"$ref": "#/definitions/any"}
    anything = {"not": {"type": "string"}, "items": inside, "additionalProperties": inside}
    schema = {**inside, "definitions": {"any": anything}}
    for _ in range(200):
        value = {"": generate(3), "a": generate(3)}
        found = [error_path(error, value) for error in jsonschema_rs.Draft7Validator(schema).iter_errors(value)]
        assert sorted(map(repr, found)) == sorted(map(repr, texts(value))), value
    nested = {"anyOf": [{"type": "string"}, {"properties": {"": {"type": "null"}}}]}
    below = {"type": "object", "properties": {"": nested}}
    assert [one.path for one in request_errors({"$schema": D4, **below}, {"": {"": 1}})] == [("", "")]
    broken = {"properties": {"": {"enum": [1, 1]}, "a": {"properties": {"": {"type": 5}}}}}
    assert [path for path, _ in metaschema_errors(broken, DRAFT_4)] == [
        ("properties", "", "enum"),
        ("properties", "a", "properties", "", "type"),
    ]
