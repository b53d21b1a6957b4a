"""Rules of single fields, beyond the example of each rule."""

import json
from typing import Any

import pytest
import yaml

from osbctl.commands.settings import ValidationSettings, validation_options
from osbctl.config import Config
from osbctl.fields import known_fields
from osbctl.findings import Finding
from osbctl.platforms import ApiVersion, Platform
from osbctl.sources.document import parse_document
from osbctl.validation.checks import CatalogNode, load_all
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from osbctl.validation.rules.fields import field_near_miss
from tests.fragments import DRAFT_04, catalog, changed, validated, with_parameters, with_schema

PLAN = ("services", 0, "plans", 0)
CLIENT = {"id": "ui", "secret": "((secret))", "redirect_uri": "https://ui.example.com"}


def told_by_rule(data: dict[str, Any]) -> dict[str, str]:
    """Rule to message, with the hint in brackets."""
    return {one.rule: f"{one.message} ({one.advice})" for one in validated(data).findings}


def with_plan(**fields: Any) -> dict[str, Any]:
    return catalog({"dashboard_client": CLIENT}, fields)


def with_service(**fields: Any) -> dict[str, Any]:
    return catalog({"dashboard_client": CLIENT, **fields})


@pytest.mark.parametrize("name", ["(( grab meta.name ))", '(( concat "a(" name ))', "((!name))", "((vault:path.name))"])
def test_a_placeholder_is_no_wrong_name(name: str) -> None:
    found = told_by_rule(with_plan(name=name))
    assert "placeholder-unresolved" in found
    assert not [rule for rule in found if rule.startswith("name-")]


@pytest.mark.parametrize(("schema", "rules"), [
    ({"type": "int"}, {"parameters-dialect-missing", "parameters-invalid"}),
    ({"$schema": "draft-04", "type": "int"}, {"parameters-dialect-unknown", "parameters-invalid"}),
    ({"$schema": "draft-04", "type": "integer"}, {"parameters-dialect-unknown"}),
    ({"$schema": 4, "required": []}, {"parameters-dialect-unknown", "parameters-invalid"}),
    ({"$schema": DRAFT_04, "$dynamicRef": "https://example.com/a"}, {"parameters-reference-external"}),
])  # fmt: skip
def test_a_schema_of_no_known_draft_is_judged_as_cloud_foundry_does(schema: Any, rules: set[str]) -> None:
    assert {rule for rule in told_by_rule(with_parameters(schema)) if rule.startswith("parameters-")} == rules


def test_what_no_platform_can_have_is_refused_by_none() -> None:
    rules = load_all()
    names = "cannot-open internal-error too-large too-many-nodes recursive-alias pointer-not-found unknown-tag"
    assert {rules[name].refused_by for name in names.split()} == {()}
    assert rules["not-an-object"].refused_by == (Platform.CLOUD_FOUNDRY,)
    assert rules["lone-surrogate"].bad == r'{"name": "\ud83d"}'


def with_dashboard(address: str) -> dict[str, Any]:
    return with_service(dashboard_client={**CLIENT, "redirect_uri": address})


@pytest.mark.parametrize(("rule", "data", "message"), [
    ("name-not-cli-friendly", with_plan(name="--help me"), "programs read the name '--help me' as an option"),
    ("name-not-cli-friendly", with_plan(name="."), "programs read the name '.'"),
    ("name-not-cli-friendly", with_plan(name="a.b-"), None),
    ("id-characters", with_plan(id="a b"), "has ' ', which must be encoded"),
    ("id-characters", with_plan(id="a.b_c~d-e"), None),
    ("id-not-guid", with_plan(id="a b"), None),
    ("url-not-https", with_dashboard("http://ui.example.com"), "redirect_uri of 'postgres' is not https"),
    ("url-not-https", with_dashboard("http://localhost:8080/x"), None),
    ("url-invalid", with_dashboard("/callback"), "redirect_uri of 'postgres' is '/callback'"),
    ("url-invalid", with_dashboard("mailto:a@example.com"), "not an absolute URL"),
    ("url-invalid", with_service(metadata={"supportUrl": "mailto:a@example.com"}), None),
    ("url-invalid", with_service(metadata={"supportUrl": "JavaScript:alert(1)"}), "not an absolute URL"),
    ("url-invalid", with_service(metadata={"imageUrl": "data:image/png;base64,AA"}), None),
    ("url-invalid", with_service(metadata={"documentationUrl": "https://"}), "not an absolute URL"),
    ("url-invalid", with_service(metadata={"documentationUrl": ""}), None),
    ("url-invalid", with_service(metadata={"documentationUrl": "https://..."}), "not an absolute URL"),
    ("url-invalid", with_service(metadata={"documentationUrl": "https://foo bar/"}), "not an absolute URL"),
    ("url-invalid", with_service(metadata={"documentationUrl": "https://example.com:8443?a"}), None),
    ("url-invalid", with_service(metadata={"documentationUrl": "https://example.com/a b"}), None),
    ("url-invalid", with_service(metadata={"imageUrl": "data:text/html,hi"}), "not an image"),
    ("url-invalid", with_service(metadata={"imageUrl": "data:application/xml;base64,AA"}), None),
    ("id-almost-guid", with_plan(id="00000000-0000-0000-0000-000000000000"), "the nil GUID stands for none"),
    ("id-almost-guid", with_plan(id="0" * 32), "the nil GUID stands for none"),
    ("id-almost-guid", with_plan(id="00000000-0000-0000-0000-000000000001"), None),
    ("id-almost-guid", with_plan(id="0"), None),
    ("bindable-unused", with_plan(bindable=False), "'postgres' is bindable, but each of its plans is"),
    ("bindable-unused", catalog({"bindable": False}, {"bindable": False}), None),
    ("parameters-impossible", with_schema(properties={"a": {"maxLength": 0}}, required=["a"]), "at most 0 characters"),
    ("parameters-impossible", with_schema(properties={"a": {"maxLength": 0}}), None),
    ("parameters-impossible", with_schema(properties={"a": {"maxLength": 1}}, required=["a"]), None),
    *(("placeholder-unresolved", catalog(plan={"description": text}), f"{text!r} was not replaced")
        for text in ("TODO", "TBD", "FIXME", "XXXXXX", "CHANGE-ME", "CHANGEME", "__NAME__")),
    *(("placeholder-unresolved", catalog(plan={"description": text}), None)
        for text in ("TODO lists.", "XXL", "XX", "todo", "CHANGE", "a __NAME__ b", "____")),
    ("field-misplaced", with_plan(schemas={"parameters": {}}), "'parameters' of schemas belongs below service_inst"),
    ("field-misplaced", with_plan(schemas={"service_binding": {"update": {}}}), "belongs below service_instance"),
    ("field-misplaced", with_plan(schemas={"service_instance": {"create": {"$schema": DRAFT_04, "properties": {}}}}),
        "2 fields of create belong below parameters"),
    ("field-misplaced", with_plan(service_instance={}), "'service_instance' of 'small' belongs below schemas"),
    ("field-misplaced", with_service(service_binding={}), "belongs below schemas of a plan"),
    ("field-misplaced", with_plan(metadata={"requires": []}), "of 'small' does nothing: it belongs to the service"),
    ("field-misplaced", with_plan(metadata={"plan_updateable": True}), "belongs beside the metadata of the plan"),
    ("field-misplaced", with_service(metadata={"schemas": {}}), "does nothing: it belongs to the plan"),
    ("field-misplaced", with_service(metadata={"bindable": True}), None),
    ("field-misplaced", with_service(metadata={"id": "a", "name": "a", "tags": ["a"], "description": "a"}), None),
    ("field-near-miss", with_service(dashboard="https://example.com"), None),
    ("field-near-miss", catalog({"dashboard": CLIENT}), "did you mean dashboard_client?"),
    ("field-near-miss", catalog({"dashboard": "https://example.com"}), "did you mean dashboard_client?"),
    ("field-near-miss", with_plan(guid="a"), None),
    *(("field-near-miss", with_plan(metadata=metadata), hint) for metadata, hint in (
        ({"cost": 0}, "(rename to costs, and make it an array)"),
        ({"Cost": "https://example.com/prices"}, "(rename to costs, and make it an array)"),
        ({"display_name": ["a"]}, "(rename to displayName, and make it a string)"),
        ({"bullat": "a"}, None), ({"bulletsX": {}}, None), ({"coast": 3}, None),
        ({"cost": [{"amount": {"usd": 1}, "unit": "MONTHLY"}]}, "(rename to costs)"),
        ({"bullet": ["a"]}, "(rename to bullets)"),
        ({"costs": [{"amount": {"usd": 1}, "Unit": "MONTHLY"}]}, "(rename to unit)"))),
    ("field-near-miss", changed(with_plan(FREE=True), (*PLAN, "free"), ...), "(rename to free)"),
    ("field-near-miss", changed(with_plan(FREE="no"), (*PLAN, "free"), ...), "(rename to free, and make it a boolean)"),
    ("field-misplaced", with_plan(tags=["a"]), "(move it there)"),
    ("field-misplaced", with_plan(tags={"a": "b"}), "(move it there, and make it an array)"),
    ("field-misplaced", with_service(displayName=None), "(move it there, and make it a string)"),
    *(("parameters-invalid", with_schema(properties={"a": schema}), f"({hint})") for schema, hint in (
        ({"type": "str"}, "did you mean string?"), ({"type": "x"}, ""), ({"minimum": "1"}, "write 1, without quotes"),
        ({"minimum": "-2.5"}, "write -2.5, without quotes"), ({"minimum": "one"}, ""), ({"minimum": True}, ""),
        ({"required": "int"}, "write a list of names, beside `properties`"), ({"required": []}, "leave it out"),
        ({"required": True}, "write a list of names, beside `properties`"))),
    ("parameters-keyword", with_schema(additonalProperties="true"), "did you mean additionalProperties?"),
    ("parameters-keyword", with_schema(properties={"a": {"minimun": "3"}}), "did you mean minimum?"),
    ("parameters-keyword", with_schema(properties={"a": {"minimun": {}}}), None),
    ("parameters-keyword", with_schema(properties={"a": {"minimun": "many"}}), None),
    ("metadata-numbered", with_plan(metadata={"licenses": {"0": "a", "1": {"b": 1}}}), "'licenses' of 'small' is a list"),
    ("metadata-numbered", with_plan(metadata={"features": {"0": "a"}}), "'features' of 'small' is a list"),
    ("metadata-numbered", with_plan(metadata={"levels": {"1": "bronze", "2": "silver"}}), None),
    ("metadata-numbered", with_plan(metadata={"sizes": {"0": "a", "2": "b"}, "features": {}}), None),
    ("metadata-numbered", with_plan(metadata={"bullets": {"0": "a"}}), None),
    ("cost-amount", with_plan(metadata={"costs": [{"amount": {"$": 1}, "unit": "M"}]}), "the currency '$'"),
    ("cost-amount", with_plan(metadata={"costs": [{"amount": {"eur": -1}, "unit": "M"}]}), "is negative"),
    ("cost-amount", with_plan(metadata={"costs": [{"amount": {"Eur": 1}, "unit": "M"}]}), None),
    ("parameters-keyword", with_schema(properties={"a": {"note": "x", "minumum": 1}}), "did you mean minimum?"),
    ("parameters-keyword", with_schema(anyOf=[{"enums": [1]}]), "did you mean enum?"),
    ("parameters-keyword", with_schema(properties={"minumum": {"note": "x"}}), None),
    ("parameters-keyword", with_schema(title="x", minimum=1, minumum=1), None),
    ("parameters-keyword", with_schema(form={"properties": {"a": {"enums": [1]}}}), None),
    ("parameters-required", with_schema(items={"properties": {"a": {}}, "required": ["b"]}), "it requires 'b'"),
    ("parameters-required", with_schema(properties={"a": {}}, required=["b"], additionalProperties=False), "requires 'b'"),
    ("parameters-required", with_schema(required=["b"]), None),
    ("parameters-required", with_schema(properties={"a": {}}, required=["b"], additionalProperties={}), None),
    ("parameters-required", with_schema(properties={"a": {}}, required=["b"], patternProperties={"b": {}}), None),
    ("parameters-required", with_schema(anyOf=[{"properties": {"a": {}}, "required": ["b"]}]), None),
    ("parameters-impossible", with_schema(properties={"a": {"minLength": 2, "maxLength": 1}}), "minLength is above maxL"),
    ("parameters-impossible", with_schema(minimum=2.5, maximum=10**400), None),
    ("parameters-impossible", with_schema(minimum=3, maximum=3, minItems="b", maxItems=None), None),
])  # fmt: skip
def test_a_rule_speaks_of_what_is_wrong_alone(rule: str, data: dict[str, Any], message: str | None) -> None:
    found = told_by_rule(data).get(rule)
    assert (found is not None) == (message is not None)
    assert message is None or (found and message in found)


def findings_of(data: dict[str, Any], rule: str, syntax: str = "json", **options: Any) -> list[Finding]:
    document = parse_document((yaml.safe_dump if syntax == "yaml" else json.dumps)(data).encode(), f"c.{syntax}")
    found = validate_document(document, ValidationOptions(**options)).findings
    return [finding for finding in found if finding.rule == rule]


def test_a_near_miss_with_a_value_of_another_type_or_another_name_has_no_fix() -> None:
    dashboards = (catalog({"dashboard": CLIENT}), catalog({"dashboard": "https://example.com"}))
    for data in (with_plan(metadata={"cost": 3}), *dashboards):
        (finding,) = findings_of(data, "field-near-miss")
        assert finding.fixes == ()
    (keyword,) = findings_of(with_schema(additonalProperties="true"), "parameters-keyword")
    assert (keyword.fixes, keyword.hint) == ((), "rename to additionalProperties, and correct its value")
    data = with_plan(guid="a")
    del data["services"][0]["plans"][0]["id"]
    (finding,) = findings_of(data, "field-near-miss")
    assert (finding.fixes, finding.hint) == ((), "rename to id")


def test_go_spells_fields_in_yaml_without_separators() -> None:
    data = catalog({"planupdatable": True, "bindingsretrievable": True}, {"maintenanceinfo": {"version": "1.0.0"}})
    assert len(findings_of(data, "field-near-miss")) == 3
    assert findings_of(data, "field-near-miss", "yaml") == []
    assert len(findings_of(catalog({"planUpdatable": True}), "field-near-miss", "yaml")) == 1
    assert len(findings_of(catalog(plan={"metadata": {"displayname": "a"}}), "field-near-miss", "yaml")) == 1


@pytest.mark.parametrize(("platforms", "told"), [
    ((), True), ((Platform.KUBERNETES,), True), ((Platform.CLOUD_FOUNDRY,), False), ((Platform.KORIFI,), False),
    ((Platform.KORIFI, Platform.SERVICE_MANAGER), True),
])  # fmt: skip
def test_a_field_is_too_new_for_the_platforms_that_are_chosen(platforms: tuple[Platform, ...], told: bool) -> None:
    data = with_plan(maintenance_info={"version": "1.0.0"})
    for version in (None, ApiVersion.V2_14, ApiVersion.V2_17):
        request = ValidationSettings(("c.json",), platforms=platforms, api_version=version)
        options = validation_options(request, Config())
        document = parse_document(json.dumps(data).encode(), "c.json")
        rules = [finding.rule for finding in validate_document(document, options).findings]
        assert ("field-too-new" in rules) is {None: told, ApiVersion.V2_14: True, ApiVersion.V2_17: False}[version]


@pytest.mark.parametrize(("fields", "fixed"), [
    ({}, True), ({"name": "premium"}, False), ({"name": "small-Premium"}, False), ({"name": "premiumless"}, True),
    ({"metadata": {"displayName": "Enterprise plan"}}, False), ({"name": "free"}, True),
    ({"metadata": {"costs": [{"amount": {"usd": "9.5"}, "unit": "M"}]}}, False),
    ({"metadata": {"costs": [{"amount": "9.5", "unit": "M"}]}}, False), ({"metadata": {"costs": {"usd": 3}}}, False),
    ({"metadata": {"costs": [{"amount": {"usd": 0.0}, "unit": "M"}]}}, True), ({"metadata": {"costs": []}}, True),
])  # fmt: skip
def test_no_fix_calls_a_plan_free_that_may_cost_something(fields: dict[str, Any], fixed: bool) -> None:
    data = with_plan(**{"metadata": {}, **fields})
    del data["services"][0]["plans"][0]["free"]
    (finding,) = findings_of(data, "default-implicit")
    assert bool(finding.fixes) is fixed
    assert finding.hint == "set `free: true` or `free: false`"


def test_a_refusal_below_a_value_of_the_wrong_type_joins_its_fault() -> None:
    told = told_by_rule(with_plan(maintenance_info="x")).keys()
    assert told - told_by_rule(with_plan()).keys() == {"schema-type"}


def test_plans_of_one_name_and_id_are_named_with_their_service_offerings() -> None:
    data = with_service()
    (service,) = data["services"]
    data["services"].append({**service, "name": "other"})
    plan = service["plans"][0]["name"]
    told = f"plan 'other/{plan}' reuses the id of plan '{service['name']}/{plan}' (line 17)"
    assert told_by_rule(data)["id-duplicate"].startswith(told)


def test_dashboard_secrets_are_one_finding() -> None:
    data = with_service(dashboard_client={**CLIENT, "secret": "a"})
    data["services"].append(data["services"][0] | {"name": "other", "id": "B1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13"})
    assert told_by_rule(data)["dashboard-secret-literal"].startswith("2 dashboard secrets are written out")


def node(service: dict[str, Any], plan: dict[str, Any]) -> CatalogNode:
    return CatalogNode({"services": [{**service, "plans": [plan]}]}, ApiVersion.V2_17)


def test_metadata_that_sap_knows_is_known_and_a_slip_of_it_is_told() -> None:
    addresses = dict.fromkeys(("createInstanceDocumentationUrl", "updateInstanceDocumentationUrl"), "https://a.b")
    versions = dict.fromkeys(("supportedMinOSBVersion", "supportedMaxOSBVersion"), "2.14")
    assert list(field_near_miss(node({"metadata": addresses}, {"metadata": versions}))) == []
    assert "supportedMinOSBVersion" in known_fields("plan_metadata")
    (slip,) = field_near_miss(node({}, {"metadata": {"supportedMinOsbVersion": "2.14"}}))
    assert slip.message.endswith("did you mean supportedMinOSBVersion?")


@pytest.mark.parametrize(("rule", "data"), [
    ("parameters-reference-external", with_schema(properties={"api_key": {"$ref": "https://u:hunter2@host/x"}})),
    ("parameters-reference-missing", with_schema(properties={"size": {"$ref": "#/ssh://u:hunter2@host"}})),
    ("parameters-dialect-unknown", with_schema(**{"$schema": "ldap://u:hunter2@host/schema"})),
    ("url-invalid", with_service(metadata={"documentationUrl": "ftp://u:hunter2@host/x"})),
])  # fmt: skip
def test_the_password_of_a_url_is_left_out_of_messages(rule: str, data: dict[str, Any]) -> None:
    """The platforms' words about it, too."""
    found = validated(data)
    assert rule in {finding.rule for finding in found.findings}
    assert "hunter2" not in f"{[(one.message, one.hint, one.platform_messages) for one in found.findings]}"
    assert "hunter2" not in f"{found.verdicts}"
