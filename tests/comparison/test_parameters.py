"""Parameter schemas within catalogs: what names a change, and what of it may be shown."""

import json
from typing import Any

import pytest

from osbctl.changes import Change, Level
from osbctl.comparison.allow import AllowEntry, triage_changes
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.sources.document import parse_document
from tests.case import each

from .make import with_plan, with_schema
from .test_files import TODAY

OPEN: dict[str, Any] = {"type": "object", "properties": {"a": {}, "b": {}}}
CLOSED = {**OPEN, "additionalProperties": False}
P = {"$ref": "#/definitions/p"}


def defined(p: Any, **keywords: Any) -> dict[str, Any]:
    return {"definitions": {"p": p}, **keywords}


def compared(old: Any, new: Any) -> list[Change]:
    return compare_catalogs(with_schema(old), with_schema(new))


ALIKE: list[tuple[str, Any, Any, set[str]]] = [
    ("three are required", OPEN, {**OPEN, "required": ["a", "b", "c"]}, {"required/a", "required/b", "required/c"}),
    (
        "two are gone, others forbidden, a pattern of names dropped",
        {**OPEN, "patternProperties": {"^x": {}}},
        {"additionalProperties": False},
        {"additionalProperties", "additionalProperties/a", "additionalProperties/b", "patternProperties", "type"},
    ),
    (
        "two refer to one",
        defined({"maxLength": 5}, properties={"a": P, "b": {"items": P}}),
        defined({"maxLength": 4}, properties={"a": P, "b": {"items": P}}),
        {"definitions/p/maxLength/a", "definitions/p/maxLength/b/[0]"},
    ),
    (
        "two are allowed now",
        {"properties": {"a": False, "b": False}},
        {"properties": {"a": {}, "b": {}}},
        {"properties/a", "properties/b"},
    ),
    (
        "two limits are gone",
        {"properties": {"a": {"minimum": 1, "maximum": 3}}},
        {"properties": {"a": {}}},
        {"properties/a/minimum", "properties/a/maximum"},
    ),
    (
        "a name like an item",
        defined({"maxLength": 5}, items=P, properties={"a": {"items": P, "properties": {"[0]": P}}}),
        defined({"maxLength": 4}, items=P, properties={"a": {"items": P, "properties": {"[0]": P}}}),
        {"definitions/p/maxLength/a/[0]", "definitions/p/maxLength/a/=[0]"},
    ),
]


@pytest.mark.parametrize(("old", "new", "fields"), [row[1:] for row in ALIKE], ids=[row[0] for row in ALIKE])
def test_each_change_has_a_field_and_an_acceptance_of_its_own(old: Any, new: Any, fields: set[str]) -> None:
    top = "schemas/service_instance/create/parameters/"
    changes = compared(old, new)
    assert {change.field.removeprefix(top) for change in changes} == fields
    assert len({change.fingerprint for change in changes}) == len(changes) == len(fields)
    for change in changes:
        entry = AllowEntry(change.rule, change.object, "looked at", change.field)
        assert [accepted for accepted, _ in triage_changes(changes, [entry], TODAY).accepted] == [change]


def test_a_change_keeps_its_places_whatever_names_it() -> None:
    plan = ("services", 0, "plans", 0, "schemas", "service_instance", "create", "parameters")
    for change in compared(CLOSED, {"type": "object", "additionalProperties": False}):
        assert change.old_path == (*plan, "properties", change.field[-1])
        assert change.new_path == (*plan, "additionalProperties")


def test_what_is_left_out_is_accepted_with_its_count() -> None:
    def many(count: int, longest: int) -> dict[str, Any]:
        return {"properties": {f"p{i}": {"maxLength": longest} for i in range(count)}}

    first, second = (compared(many(count, 5), many(count, 4))[-1] for count in (210, 220))
    assert "more differences" in first.message
    assert first.fingerprint != second.fingerprint


def marked(**prohibited: bool) -> dict[str, Any]:
    """A catalog with parameters of these names, some with `prohibitUpdate`."""
    one = {name: {"type": "string", **({"prohibitUpdate": True} if mark else {})} for name, mark in prohibited.items()}
    schema = {"parameters": {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": one}}
    return with_plan(free=True, schemas={"service_instance": {"create": schema, "update": schema}})


FIRST_PROHIBITED = [
    (marked(a=False, b=False), marked(a=True, b=False), Level.BREAKING),
    (marked(a=False, b=True), marked(a=True, b=True), Level.BREAKING),
    (marked(a=True, b=False), marked(a=False, b=False), Level.SAFE),
    (marked(a=False), marked(a=False, b=True), Level.SAFE),
    (with_plan(free=True), marked(a=True), Level.BREAKING),  # its schemas were not published: as of any broker
]


@each("old, new, level", FIRST_PROHIBITED)
def test_the_first_prohibited_update_breaks_as_others_do(old: Any, new: Any, level: Level) -> None:
    documents = (parse_document(json.dumps(data).encode(), "a.json") for data in (old, new))
    for sides in ((old, new), [one.catalog for one in documents]):
        assert max(change.level.rank for change in compare_catalogs(*sides)) == level.rank


MISSPELT = {"service_bindings": {"create": {"parameters": {"type": "object"}}}}
NO_SCHEMA = {"service_binding": {"create": {"parameters": [1]}}}


@each("old, new, told", [
    ({"x": 1}, {"x": 2}, [({"x": 1}, {"x": 2})]),
    ({}, {"y": [], **MISSPELT}, [({}, MISSPELT)]),
    (NO_SCHEMA, {}, [(NO_SCHEMA, {})]),
    ({"service_binding": {"create": {}}}, {}, []),
    ({}, {"service_binding": {"create": {"parameters": {"type": "object"}}}}, []),
])  # fmt: skip
def test_what_platforms_do_not_read_is_compared_beside_schemas(old: Any, new: Any, told: Any) -> None:
    for title in ("a", "b"):
        create = ({"service_instance": {"create": {"parameters": {"title": one}}}} for one in ("a", title))
        sides = [with_plan(schemas={**side, **schemas}) for side, schemas in zip((old, new), create, strict=True)]
        changes = [change for change in compare_catalogs(*sides) if change.rule == "change-other-field"]
        assert [(change.old, change.new) for change in changes if change.field == "schemas"] == told
