"""What the survey spares changes nothing: rules and platforms say the same with it as without."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from osbctl.errors import DocumentError
from osbctl.platforms import ApiVersion
from osbctl.platforms.judge import judge_all
from osbctl.sources.parse import parse_document
from osbctl.validation.engine import run_rules
from osbctl.validation.options import ValidationOptions
from osbctl.validation.survey import UNKNOWN, survey
from tests.corpus import catalogs
from tests.platforms.recorded import cases

if TYPE_CHECKING:
    from osbctl.sources.document import Document

EACH = 40
"""Of the recorded cases, one in so many is judged twice here; all are judged with the survey in the platforms' tests."""

DRAFT_04 = "http://json-schema.org/draft-04/schema#"


def documents() -> list[Document]:
    texts = {path.name: path.read_bytes() for path in catalogs()}
    texts |= {f"{case.name}.json": case.text for case in cases()[::EACH]}
    found = []
    for name, text in texts.items():
        try:
            found.append(parse_document(text, name))
        except DocumentError:
            continue
    return found


def test_rules_and_platforms_say_the_same_with_the_survey_as_without() -> None:
    spared = 0
    for document in documents():
        seen = survey(document)
        spared += not seen.odd_schemas
        assert judge_all(document.data, seen.schemas) == judge_all(document.data), document.name
        for version in (ApiVersion.V2_13, ApiVersion.V2_17):
            options = ValidationOptions(version)
            assert run_rules(document.data, options, seen) == run_rules(document.data, options, UNKNOWN), document.name
    assert spared > 80


def with_schemas(*schemas: Any) -> Document:
    """A catalog of a plan for each parameter schema."""
    plans = [
        {"id": f"p{at}", "name": f"p{at}", "schemas": {"service_instance": {"create": {"parameters": schema}}}}
        for at, schema in enumerate(schemas)
    ]
    return parse_document(json.dumps({"services": [{"id": "s", "name": "s", "plans": plans}]}).encode(), "catalog.json")


@pytest.mark.parametrize(
    ("schema", "odd"),
    [
        ({}, False),
        ({"title": "x" * 1_000}, False),
        ({"title": 1}, True),
        ({"id": "x"}, True),
        ({"$ref": "#"}, True),
        ({"enum": []}, True),
        ({"properties": {"a": {"$schema": DRAFT_04}}}, True),
        ({"properties": {"a": {"type": "int"}}}, True),
        ({"properties": {"a": {"enum": ["x" * 50_000]}}}, False),
        ({"properties": {"a": {"enum": ["x" * 60_000]}}}, True),
        ({"properties": {"a": {"enum": ["<" * 11_000]}}}, True),
        ({"properties": {"a": {"maximum": 1e300}}}, True),
        ({"allOf": [{"type": "object"}]}, False),
    ],
)
def test_a_schema_is_plain_where_cloud_foundry_takes_it_beyond_doubt(schema: dict[str, Any], odd: bool) -> None:
    assert survey(with_schemas({"$schema": DRAFT_04}, {"$schema": DRAFT_04, **schema})).odd_schemas is odd


def test_schemas_that_differ_in_a_short_title_are_alike_and_each_fault_is_told() -> None:
    plain, fault = {"$schema": DRAFT_04, "title": "a"}, {"$schema": DRAFT_04, "title": "a", "required": []}
    titled = {**plain, "title": "b", "description": "c"}
    seen = survey(with_schemas(plain, titled, fault, {**fault, "title": "b"}, {**plain, "title": 1}))
    groups = list(seen.schemas.alike.values())
    assert [groups.index(one) for one in groups] == [0, 0, 2, 2, 4]
    document = with_schemas(fault, plain, {**fault, "title": "b"}, fault)
    findings = run_rules(document.data, ValidationOptions(), survey(document))
    told = [finding.path[3] for finding in findings if finding.rule == "parameters-invalid"]
    assert told == [0, 2, 3]


def test_each_finding_of_schemas_that_are_alike_has_its_own_place_and_its_own_fix() -> None:
    slip = {"$schema": "https://json-schema.org/draft-07/schema#", "type": "object"}
    document = with_schemas(slip, {**slip, "title": "a"})
    seen = survey(document)
    findings = run_rules(document.data, ValidationOptions(), seen)
    assert findings == run_rules(document.data, ValidationOptions())
    found = [(f.path[3], f.fixes[0].path == f.path) for f in findings if f.rule == "parameters-dialect-unknown"]
    assert found == [(0, True), (1, True)]


def test_schemas_with_references_are_alike_where_none_leads_to_a_title() -> None:
    inner = {"$schema": DRAFT_04, "definitions": {"a": {}}, "$ref": "#/definitions/a"}
    outer = {**inner, "$ref": "#/description"}
    schemas = (inner, {**inner, "title": "a"}, outer, {**outer, "description": "a"}, {**outer, "title": "a"})
    document = with_schemas(*schemas)
    groups = list(survey(document).schemas.alike.values())
    assert [groups.index(one) for one in groups] == [0, 0, 2, 3, 4]


@pytest.mark.parametrize("reference", ["#/title", "#/%74itle"])
def test_a_reference_to_a_title_that_only_the_first_schema_has_is_told(reference: str) -> None:
    without: dict[str, Any] = {"$schema": DRAFT_04, "properties": {"a": {"$ref": reference}}}
    document = with_schemas({**without, "title": "a"}, without)
    findings = run_rules(document.data, ValidationOptions(), survey(document))
    assert [finding.path[3] for finding in findings if finding.rule == "parameters-reference-missing"] == [1]


def test_a_schema_near_the_bound_is_judged_with_its_title() -> None:
    near: dict[str, Any] = {"$schema": DRAFT_04, "enum": ["x" * 65_400]}
    document = with_schemas(near, {**near, "title": "x" * 400})
    findings = run_rules(document.data, ValidationOptions(), survey(document))
    assert [finding.path[3] for finding in findings if finding.rule == "parameters-too-large"] == [1]
