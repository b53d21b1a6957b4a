"""The engine and the rules that it runs: fragments of their texts, odd catalogs, and what they cost."""

import copy
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.findings import Finding
from osbctl.paths import value_at
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform
from osbctl.sources.document import parse_document
from osbctl.validation.checks import load_all
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import run_rules
from osbctl.validation.schema_errors import explain_schema_errors
from tests.fragments import DRAFT_04, PLAN, catalog, places, validated, with_parameters, with_schema

RULES = load_all()
GOOD = catalog({"dashboard_client": {"id": "dashboard", "secret": "((secret))", "redirect_uri": "https://example.com"}})
"""A catalog that no rule says anything of, but for the placeholder of its secret."""


def broken_rules(data: dict[str, Any], version: ApiVersion = ApiVersion.V2_17) -> set[str]:
    return {finding.rule for finding in run_rules(data, ValidationOptions(version, platforms=frozenset(Platform)))}


def test_each_field_that_service_manager_reads_of_metadata_is_looked_at() -> None:
    for field in ("supportedPlatforms", "supportedPlatformNames", "excludedPlatformNames", "supportsInstanceSharing"):
        assert "sap-metadata-ignored" in broken_rules(catalog(plan={"metadata": {field: "x"}})), field


def test_the_good_catalog() -> None:
    assert broken_rules(GOOD) == {"placeholder-unresolved"}
    assert broken_rules(catalog(), ApiVersion.V2_13) == set()


KEYS = st.sampled_from(
    [
        *("services", "plans", "id", "name", "description", "metadata", "costs", "amount", "imageUrl", "free"),
        *("schemas", "parameters", "$schema", "$ref", "$id", "$anchor", "properties", "definitions", "allOf", "enum"),
        *("required", "type", "pattern", "maintenance_info", "version", "planUpdateable", "dashboard_client"),
    ]
)
PLACEHOLDERS = ("((a))", "{{ a }}", "${A}", "<%= a %>", "%s")
ODD_TEXTS = ("", " ", "a", "\0", "\u2028", "(", "(?<", "a" * 300, "1.2.3", "٣")
REFERENCES = ("#", "#a", "#/", "#/definitions/a", "#/allOf/0", f"#/allOf/{'9' * 5000}", "urn:a#b", DRAFT_04)
ADDRESSES = ("http://[", "//", "%zz", "http://a", "data:a", "http://json-schema.org/draft-07/schema#")
GUIDS = ("6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4", "6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3BG")
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
TEXTS = st.sampled_from([*PLACEHOLDERS, *ODD_TEXTS, *REFERENCES, *ADDRESSES, *GUIDS, DRAFT_2020])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-1, 1) | TEXTS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
SCHEMAS = st.dictionaries(KEYS, VALUES, max_size=5).map(lambda value: {"$schema": DRAFT_04, **value})


@st.composite
def odd_catalogs(draw: st.DrawFn) -> dict[str, Any]:
    data = with_parameters(draw(SCHEMAS)) if draw(st.booleans()) else copy.deepcopy(GOOD)
    for _ in range(draw(st.integers(1, 4))):
        values = (value_at(data, path) for path in places(data))
        place = draw(st.sampled_from([one for one in values if isinstance(one, dict | list)]))
        if isinstance(place, list):
            place.insert(0, draw(VALUES))
        else:
            place[draw(KEYS | st.sampled_from(sorted(place) or ["a"]))] = draw(VALUES)
    return data


@pytest.mark.fuzz
@given(odd_catalogs(), st.sampled_from(ApiVersion))
def test_odd_catalogs(data: dict[str, Any], version: ApiVersion) -> None:
    document = parse_document(json.dumps(data).encode(), "catalog.json")
    before = copy.deepcopy(document.data)
    findings = run_rules(document.data, ValidationOptions(version))
    assert document.data == before
    assert len(set(findings)) == len(findings)
    for finding in findings:
        assert RULES[finding.rule].severity is finding.severity
        assert finding.message
        holder = document.data
        for key in finding.path[:-1]:
            holder = holder[key]  # a finding stands at most one step beside what is there
    whole = validated(data, api_version=version, platforms=frozenset(Platform)).findings
    assert whole == validated(data, api_version=version, platforms=frozenset(Platform)).findings
    lines = [finding.location.line for finding in whole]
    assert lines == sorted(lines)
    assert min(lines, default=1) >= 1
    assert all(finding.rule in RULES and finding.message for finding in whole)


def many_plans(count: int, **fields: Any) -> dict[str, Any]:
    guids = (f"{i:08X}-3B6D-4C8E-8F02-9E5D4B7A6C13" for i in range(count))
    return catalog({"plans": [{**PLAN, "id": guid, "name": f"plan-{i}", **fields} for i, guid in enumerate(guids)]})


def definitions(count: int, reference: Callable[[int], str]) -> dict[str, Any]:
    """A schema whose parts each have a reference, and one more part."""
    return with_schema(definitions={f"a{i}": {"$ref": reference(i)} for i in range(count)} | {f"a{count}": {}})


FAULTS: dict[str, Any] = {"description": " ", "planUpdateable": True, "maintenance_info": {"version": "1"}}
GROWING: dict[str, Callable[[int], dict[str, Any]]] = {
    "plans": many_plans,
    "plans with faults": lambda n: many_plans(n, **FAULTS),
    "plans with one invalid schema": lambda n: many_plans(
        n, schemas={"service_instance": {"create": {"parameters": {"$schema": DRAFT_04, "type": "int"}}}}),
    "equal plans": lambda n: catalog({"plans": [PLAN] * n}),
    "unknown fields": lambda n: catalog(plan={f"unknown-{n}-{i}": i for i in range(n)}),
    "a chain of references": lambda n: definitions(n, lambda i: f"#/definitions/a{i + 1}"),
    "a circle of references": lambda n: definitions(n, lambda i: f"#/definitions/a{(i + 1) % n}"),
    "references outside": lambda n: definitions(n, lambda i: f"https://example.com/{i}"),
    "an enum of an invalid schema": lambda n: with_schema(type="int", enum=[{"a": i} for i in range(n)]),
    "required of an invalid schema": lambda n: with_schema(required=[{"a": i} for i in range(n)]),
    "service offerings without any field": lambda n: {"services": [{}] * n},
}  # fmt: skip


def count_calls(data: dict[str, Any]) -> int:
    """Number of Python function calls of the rules and of the walk that explains the schema's errors."""
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    previous = sys.getprofile()
    sys.setprofile(counted)
    try:
        run_rules(data, ValidationOptions())
        explain_schema_errors(data, DEFAULT_API_VERSION)
    finally:
        sys.setprofile(previous)
    return count


@pytest.mark.parametrize("kind", GROWING)
def test_cost_grows_in_line(kind: str) -> None:
    count_calls(GROWING[kind](3))  # what is imported and compiled once
    small, middle, large = (count_calls(GROWING[kind](n)) for n in (50, 100, 200))
    assert large - middle <= 2.2 * (middle - small) + 250


def findings_of_rule(*schemas: dict[str, Any], rule: str) -> list[Finding]:
    """The findings of `rule` in a catalog with one plan for each schema."""
    data = catalog({"plans": [with_parameters(schema)["services"][0]["plans"][0] for schema in schemas]})
    return [finding for finding in run_rules(data, ValidationOptions()) if finding.rule == rule]


def test_each_finding_of_equal_schemas_has_its_own_place_and_its_own_fix() -> None:
    slip = {"$schema": "https://json-schema.org/draft-07/schema#", "type": "object"}
    findings = findings_of_rule(slip, {**slip, "title": "a"}, dict(slip), rule="parameters-dialect-unknown")
    assert [(f.path[3], f.fixes[0].path == f.path) for f in findings] == [(0, True), (1, True), (2, True)]


@pytest.mark.parametrize("reference", ["#/title", "#/%74itle"])
def test_schemas_that_differ_in_their_title_are_looked_at_one_by_one(reference: str) -> None:
    without: dict[str, Any] = {"$schema": DRAFT_04, "properties": {"a": {"$ref": reference}}}
    findings = findings_of_rule({**without, "title": "a"}, without, rule="parameters-reference-missing")
    assert [f.path[3] for f in findings] == [1]


@pytest.mark.parametrize("text", ["<%", "{{", "${", "((a", "{{}}", "${}", "%s%"])
def test_a_long_text_is_looked_through_once(text: str) -> None:
    data = catalog(plan={"description": text * 50_000})
    start = time.process_time()
    run_rules(data, ValidationOptions())
    assert time.process_time() - start < 1  # milliseconds; a pattern that looks back takes minutes


@pytest.mark.parametrize("levels", [10, 40])
def test_a_deep_schema_is_explained(levels: int) -> None:
    deep = '{"properties":{"a":' * levels + '{"type":"int"}' + "}}" * levels
    text = json.dumps(with_schema(**{"not": "here"})).replace('"here"', deep)
    document = parse_document(text.encode(), "catalog.json")
    assert [finding.path[-1] for finding in run_rules(document.data, ValidationOptions())] == ["type"]
