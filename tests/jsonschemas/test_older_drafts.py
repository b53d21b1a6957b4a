"""Tests of the draft that is named where Cloud Foundry refuses another one."""

from typing import Any

import pytest

from osbctl.jsonschemas.compare import compare_schemas
from osbctl.jsonschemas.dialects import DRAFTS, detect_dialect, find_older_draft
from osbctl.platforms.cloudfoundry.verdict import judge
from tests.case import case, each

_LATER = ["http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2019-09/schema"]
_LATER += ["https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft-07/schema#"]

_AS_DRAFT_4: list[dict[str, Any]] = [
    {"type": "string", "pattern": "^[a-z]+$", "examples": ["a"]},
    {"type": ["integer", "number"], "multipleOf": 5, "default": 5},
    {"enum": [1, "a"], "title": "if", "description": "$ref", "readOnly": True, "$comment": "x"},
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    {"type": "object", "properties": {"if": {"type": "string"}, "const": {}, "$id": {"type": "null"}}},
    {"type": "string", "format": "uri"},
    {"type": "string", "format": "password"},
    {"default": {"type": "integer", "if": True, "const": 1}},
]
_AS_DRAFT_6: list[dict[str, Any]] = [
    {"type": "integer", "minimum": 1}, {"const": "a"},
    {"items": {"anyOf": [{"type": "string"}, {"type": ["null", "integer"]}]}},
    {"type": "object", "propertyNames": {"pattern": "^a"}}, {"contains": {"type": "string"}},
    {"type": "number", "exclusiveMinimum": 3}, {"properties": {"a": True}},
]  # fmt: skip
_AS_NEITHER: list[dict[str, Any]] = [
    {"if": {"const": "a"}, "then": {"minLength": 3}}, {"not": {"if": {"const": "a"}, "else": {"minLength": 3}}},
    {"$id": "https://example.com/a"}, {"$ref": "https://example.com/a"}, {"$ref": "#name"},
    {"$ref": "#/properties/p/default", "default": {"if": {}}},
    {"$ref": "#/properties/p/defaul%74", "default": {"if": {}}}, {"properties": {"const": {}, "a": {"$ref": "#/properties/p/properties"}}},
]  # fmt: skip
_SINCE_2019 = [{"dependentRequired": {"a": ["b"]}}, {"$ref": "#/definitions/x", "minLength": 3}]


def _schema(address: str, inner: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": address, "type": "object", "properties": {"p": inner}, "definitions": {"x": {"type": "string"}}}


@pytest.mark.parametrize("address", _LATER)
def test_the_oldest_draft_with_the_same_meaning_is_named(address: str) -> None:
    for draft, schemas in (("04", _AS_DRAFT_4), ("06", _AS_DRAFT_6)):
        for inner in schemas:
            with case(inner):
                older = find_older_draft(_schema(address, inner))
                assert older.address == f"http://json-schema.org/draft-{draft}/schema#"
                assert older.hint == f"write {older.address}, where the schema means the same"
                assert older.is_safe
                changes = compare_schemas(_schema(address, inner), _schema(older.address, inner))
                assert "breaking" not in {change.level for change in changes}


@pytest.mark.parametrize("address", _LATER)
def test_no_draft_is_named_in_which_a_schema_means_something_else(address: str) -> None:
    for inner in [*_AS_NEITHER, *(_SINCE_2019 if "20" in address else [])]:
        with case(inner):
            older = find_older_draft(_schema(address, inner))
            assert older.address == ""
            assert older.hint.startswith("express it otherwise, and write http://json-schema.org/draft-06/schema#")


@each("part, draft", [
    ({"type": "number", "exclusiveMaximum": 2}, "06"), (True, "06"), (False, "06"), ({"required": []}, "06"),
    ({"properties": {"a": {"items": True}}}, "06"), ({"$defs": {"a": {"exclusiveMinimum": 0}}}, "06"),
    ({"type": "number", "maximum": 2}, "04"), ({"type": "string", "enum": ["a"]}, "04"),
])  # fmt: skip
def test_what_a_metaschema_skips_counts_as_under_definitions(part: Any, draft: str) -> None:
    for place in ("definitions/x", "$defs/x", "%24defs/x", "x-shared/x", "x-shared/deep/x"):
        inside: Any = part
        for step in reversed(place.replace("%24", "$").split("/")):
            inside = {step: inside}
        schema = {"properties": {"p": {"$ref": f"#/{place}"}}, **inside}
        for address in _LATER:
            older = find_older_draft({"$schema": address, **schema})
            assert (place, older.address[-10:], older.is_safe) == (place, f"{draft}/schema#", True)
        assert detect_dialect(schema).name == ("draft-04" if draft == "04" else "draft-07")
    for address in _LATER[:3]:  # a part that is not valid in any draft hides no other
        broken = {"$schema": address, "properties": {"p": {"type": "int"}}, "$defs": {"x": part}}
        assert find_older_draft(broken).address[-10:] == f"{draft}/schema#"


def test_a_format_that_the_older_draft_does_not_define_makes_it_unsafe() -> None:
    for address in _LATER:
        older = find_older_draft(_schema(address, {"format": "date"}))
        assert (older.address[-10:], older.is_safe) == ("04/schema#", False)
        assert "but for the format 'date'" in older.hint


def test_no_hint_names_a_draft_that_cloud_foundry_refuses() -> None:
    own = [
        "https://example.com/schema",
        "draft-07",
        "",
        "http://json-schema.org/schema#",
        "https://json-schema.org/draft-06/schema#",
    ]
    for address in [*own, *_LATER, *DRAFTS]:
        for inner in ({"type": "string"}, {"const": 1}, {"if": {}, "then": {}}):
            with case((address, inner)):
                hint = find_older_draft(_schema(address, inner)).hint
                named = [word.rstrip(",:") for word in hint.split() if "json-schema.org" in word]
                assert named
                assert all(_cloud_foundry_accepts(word) for word in named)


def _cloud_foundry_accepts(address: str) -> bool:
    plan = {"id": "p", "name": "p", "description": "p"}
    plan["schemas"] = {"service_instance": {"create": {"parameters": {"$schema": address}}}}  # type: ignore[assignment]
    service = {"id": "s", "name": "s", "description": "s", "bindable": True, "plans": [plan]}
    return judge({"services": [service]}).kind == "accepts"
