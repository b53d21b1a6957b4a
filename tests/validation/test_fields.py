"""What a rule says of a single field, where an example for each rule shows too little of it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from osbctl.platforms import Platform
from osbctl.sources.parse import parse_document
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from osbctl.validation.rules import load_all
from tests.validation.test_engine import GOOD

D4 = "http://json-schema.org/draft-04/schema#"


def told(data: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Rule to message and hint."""
    findings = validate_document(parse_document(json.dumps(data).encode(), "c.json"), ValidationOptions()).findings
    return {finding.rule: (finding.message, finding.hint) for finding in findings}


def with_plan(**fields: Any) -> dict[str, Any]:
    data = copy.deepcopy(GOOD)
    data["services"][0]["plans"][0] |= fields
    return data


@pytest.mark.parametrize(
    ("metadata", "hint"),
    [
        ({"cost": 0}, None),
        ({"cost": "free"}, None),
        ({"cost": [{"amount": {"usd": 1}, "unit": "MONTHLY"}]}, "rename to costs"),
        ({"bullet": ["a"]}, "rename to bullets"),
        ({"costs": [{"amount": {"usd": 1}, "Unit": "MONTHLY"}]}, "rename to unit"),
    ],
)
def test_a_field_of_the_metadata_is_a_slip_only_where_its_value_fits(metadata: Any, hint: str | None) -> None:
    found = told(with_plan(metadata=metadata)).get("field-near-miss")
    assert (found[1] if found else None) == hint


@pytest.mark.parametrize(("value", "hint"), [(True, "rename to free"), ("no", "rename to free, and make it boolean")])
def test_a_field_of_a_plan_is_a_slip_whatever_its_value(value: Any, hint: str) -> None:
    data = with_plan(FREE=value)
    del data["services"][0]["plans"][0]["free"]
    assert told(data)["field-near-miss"][1] == hint


@pytest.mark.parametrize("name", ["(( grab meta.name ))", '(( concat "a(" name ))', "((!name))", "((vault:path.name))"])
def test_a_placeholder_is_no_wrong_name(name: str) -> None:
    found = told(with_plan(name=name))
    assert "placeholder-unresolved" in found
    assert not [rule for rule in found if rule.startswith("name-")]


@pytest.mark.parametrize(
    ("schema", "rules"),
    [
        ({"type": "int"}, {"parameters-dialect-missing", "parameters-invalid"}),
        ({"$schema": "draft-04", "type": "int"}, {"parameters-dialect-unknown", "parameters-invalid"}),
        ({"$schema": "draft-04", "type": "integer"}, {"parameters-dialect-unknown"}),
        ({"$schema": 4, "required": []}, {"parameters-dialect-unknown", "parameters-invalid"}),
        ({"$schema": D4, "$dynamicRef": "https://example.com/a"}, {"parameters-reference-external"}),
    ],
)
def test_a_schema_of_no_known_draft_is_judged_as_cloud_foundry_does(schema: Any, rules: set[str]) -> None:
    data = with_plan(schemas={"service_instance": {"create": {"parameters": schema}}})
    found = {rule for rule in told(data) if rule.startswith("parameters-")}
    assert found == rules


def test_what_no_platform_can_have_is_refused_by_none() -> None:
    rules = load_all()
    for name in ("cannot-open", "too-large", "too-many-nodes", "recursive-alias", "pointer-not-found", "unknown-tag"):
        assert rules[name].refused_by == ()
    assert rules["not-an-object"].refused_by == (Platform.CLOUD_FOUNDRY,)
    assert rules["lone-surrogate"].bad == r'{"name": "\ud83d"}'
