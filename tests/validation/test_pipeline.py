"""Schema, rules and platforms together: each fault is reported once, at its location."""

import json
from typing import Any

import pytest

from osbctl.findings import DocumentError, Finding, Severity
from osbctl.platforms import ApiVersion, Platform, golang, verdict
from osbctl.platforms.cloudfoundry import ruby
from osbctl.platforms.verdict import MAX_REFUSALS, VerdictKind, judge_all
from osbctl.reports import Format, Report, render
from osbctl.sources.document import parse_document
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import unreadable_result, validate_document
from tests.case import each
from tests.folders import catalogs_folder
from tests.fragments import DRAFT_04, changed, validated
from tests.test_examples import RULES, SHOWN, examples

GOOD: dict[str, Any] = json.loads((catalogs_folder() / "interface-example.json").read_text(encoding="utf-8"))
PLANS = ("services", 0, "plans")
GOOD["services"][0]["plans"][0]["schemas"] = {
    "service_instance": {"create": {"parameters": {"$schema": DRAFT_04, "properties": {"a": {"$ref": "#/definitions/b"}},
                                                   "definitions": {"b": {"type": "string", "pattern": "^a"}}}}},
}  # fmt: skip


def findings_of(data: Any, **options: Any) -> tuple[Finding, ...]:
    return validated(data, **options).findings


def test_a_refusal_joins_the_error_at_its_place() -> None:
    (finding,) = findings_of(changed(GOOD, ("services", 0, "bindable"), "yes"))
    assert finding.rule == "schema-type"
    assert finding.refused_by == tuple(Platform)
    assert finding.platform_messages == ('Service "bindable" field must be a boolean, but has value "yes"',)


@each("platforms, severities", [
    ((), [Severity.WARNING]),
    ((Platform.KORIFI,), []),
    ((Platform.CLOUD_FOUNDRY,), [Severity.ERROR]),
])  # fmt: skip
def test_a_lone_refusal_counts_with_its_platform(platforms: tuple[Platform, ...], severities: list[Severity]) -> None:
    found = findings_of({"services": []}, platforms=frozenset(platforms))
    told = [("cloudfoundry-no-service", severity, "add a service offering") for severity in severities]
    assert [(finding.rule, finding.severity, finding.hint) for finding in found] == told


def test_a_selected_rule_fires_also_where_its_refusal_would_join_a_finding() -> None:
    """Over every refusal of the rules' own examples: selected alone, it is there, and the rest is counted."""
    seen = set()
    for name in SHOWN:
        text = examples(RULES[name])[0].text
        try:
            document = parse_document(text if isinstance(text, bytes) else text.encode(), "catalog.yaml")
        except DocumentError:
            continue
        for platforms in (frozenset[Platform](), frozenset({Platform.CLOUD_FOUNDRY})):
            outcomes = judge_all(document.data, platforms or tuple(Platform))
            rules = {refusal.rule for outcome in outcomes.values() for refusal in outcome.refusals}
            whole = validate_document(document, ValidationOptions(platforms=platforms, literal=True))
            assert whole.left_out == 0
            for rule in rules:
                options = ValidationOptions(platforms=platforms, literal=True, select=frozenset({rule}))
                picked = validate_document(document, options)
                assert {finding.rule for finding in picked.findings} == {rule}, (name, platforms)
                assert all(finding.refused_by for finding in picked.findings)
                assert len(picked.findings) + picked.left_out >= len(whole.findings)
            seen |= rules
    assert len(seen) > 20


def test_a_finding_that_is_selected_stays_where_the_one_that_replaces_it_is_not() -> None:
    data = changed(GOOD, ("services", 0, "plans", 0, "maintenance_info"), {"version": 5})
    for select, rules, left_out in (
        (None, ["schema-type"], 0),
        ({"field-too-new"}, ["field-too-new"], 1),
        ({"schema-type"}, ["schema-type"], 0),
        ({"field-too-new", "schema-type"}, ["schema-type"], 0),
        ({"name-characters"}, [], 2),
    ):
        result = validated(data, select=frozenset(select) if select else None)
        assert ([finding.rule for finding in result.findings], result.left_out) == (rules, left_out), select


def test_a_refusal_joins_the_one_of_two_faults_that_is_selected() -> None:
    plan = GOOD["services"][0]["plans"][0]
    data = changed(GOOD, PLANS, [{**plan, "id": " "}, {**plan, "id": " ", "name": "other"}])
    assert {"text-blank", "id-duplicate"} <= {finding.rule for finding in findings_of(data)}
    (finding,) = findings_of(data, select=frozenset({"id-duplicate"}))
    assert Platform.CLOUD_FOUNDRY in finding.refused_by


def test_a_doubt_is_hidden_once() -> None:
    data = changed(GOOD, ("services", 0, "bindable"), "((x))")
    chosen = {"platforms": frozenset(Platform)}
    whole = validated(data, **chosen)
    assert validated(data, select=frozenset({"url-invalid"}), **chosen).left_out == len(whole.findings)


def test_what_cannot_be_read_is_unreadable_to_all() -> None:
    verdicts = unreadable_result("x", ()).verdicts
    assert {each.kind for each in verdicts.values()} == {VerdictKind.UNREADABLE}
    assert list(verdicts) == list(Platform)


LEFT_OUT = "more than 10,000 reasons; the rest is omitted"


def test_millions_of_refusals_are_bounded_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a hundredth of the bound."""
    most = MAX_REFUSALS // 100
    for module in (ruby, golang, verdict):
        monkeypatch.setattr(module, "MAX_REFUSALS", most)
    for data in (
        {"services": [1] * (most + 5)},
        {"services": [{}] * (most + 5)},
        {"services": [{"plans": [{}] * (most + 5)}]},
        {"services": [{"requires": [1] * (most + 5)}]},
    ):
        outcomes = judge_all(data)
        assert max(len(one.refusals) for one in outcomes.values()) == most + 1, data
        for one in outcomes.values():
            left_out = LEFT_OUT.replace("10,000", "100") in [refusal.message for refusal in one.refusals]
            assert (len(one.refusals) > most) == left_out, data
            assert len(one.messages) <= 3 * most, data
    whole = judge_all({"services": [1] * most})[Platform.KORIFI].refusals
    assert (len(whole), whole[-1].path) == (most, ("services", most - 1))


def test_a_report_tells_that_refusals_were_left_out() -> None:
    judgement = validated({"services": [{}] * 2_001})
    assert judgement.verdicts[Platform.CLOUD_FOUNDRY].reasons == MAX_REFUSALS + 1
    assert LEFT_OUT in [words for one in judgement.findings for words in (one.message, *one.platform_messages)]
    text = render(Report([judgement._replace(findings=())], lambda: RULES), Format.TEXT)
    assert "Cloud Foundry               refuses (more than 10,000 reasons)" in text


def test_refusals_of_errors_that_are_left_out_are_left_out_too() -> None:
    good = {"id": "p", "name": "p", "description": "", "free": "no"}  # two errors a plan: at the last, one is named
    plans = [{**good, "id": f"p{n}", "name": f"p{n}"} for n in range(502)]
    plans[501]["name"] = "p0"  # what no schema says is said, however many errors there are
    data = {"services": [{"id": "s", "name": "s", "description": "d", "bindable": True, "plans": plans}]}
    judgement = validated(data, api_version=ApiVersion.V2_14)
    told = [(f.rule, f.path[-1]) for f in judgement.findings if f.path[:4] == ("services", 0, "plans", 501)]
    assert told == [("plan-name-duplicate", "name")]
    assert sum(f.severity is Severity.ERROR and "schema" in f.rule for f in judgement.findings) == 1_001
    assert judgement.verdicts[Platform.KORIFI].reasons == 502


def parameter_findings(*schemas: dict[str, Any]) -> list[set[tuple[str, str, object]]]:
    """The findings on the parameter schema of each plan."""
    plans = [{**GOOD["services"][0]["plans"][0], "id": f"plan-{n}", "name": f"plan-{n}"} for n in range(len(schemas))]
    for plan, schema in zip(plans, schemas, strict=True):
        plan["schemas"] = {"service_instance": {"create": {"parameters": {"$schema": DRAFT_04, **schema}}}}
    findings = [one for one in findings_of(changed(GOOD, PLANS, plans)) if one.rule.startswith("parameters-")]
    return [
        {(one.rule, one.message, one.path[4:]) for one in findings if one.path[3] == n} for n in range(len(schemas))
    ]


NARROW = {"minimum": 9, "maximum": 3}
TITLE = {"properties": {"title": {"enum": ["a"]}}}
DIFFERING: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "titles": (
        {"title": "A", "properties": {"a": {**NARROW, "description": "x"}}},
        {"title": "B", "properties": {"a": {**NARROW, "description": "y"}}},
    ),
    "data with the name of a text": ({**TITLE, "default": {"title": "a"}}, {**TITLE, "default": {"title": "b"}}),
    "property with the name of a text": ({"properties": {"title": "x"}}, {"properties": {"title": "y"}}),
    "a title and what is none": ({"title": "A"}, {"title": 5}),
    "large texts": ({"title": "A" * 80_000}, {"title": "A" * 70_000}),
}


@pytest.mark.parametrize("case", DIFFERING)
def test_parameter_schemas_that_differ_in_a_text_have_the_findings_of_each(case: str) -> None:
    first, second = DIFFERING[case]
    both = parameter_findings(first, second)
    assert both == [*parameter_findings(first), *parameter_findings(second)]
    assert both[1]
