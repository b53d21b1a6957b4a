"""A value with a placeholder: one warning, no fix, and a verdict that is unclear where it depends on that value."""

import json
from pathlib import Path
from typing import Any

import pytest

from osbctl.commands.fix import fix_bytes
from osbctl.commands.load_catalog import CatalogSource, load
from osbctl.findings import DocumentError, Severity
from osbctl.paths import JsonPath, value_at
from osbctl.placeholders import fill_placeholders, find_placeholders, holds_placeholder
from osbctl.platforms import Platform
from osbctl.platforms.verdict import Outcome, Refusal, VerdictKind, judge_all
from osbctl.sources.document import parse_document
from osbctl.validation import pipeline
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from tests.cli.program import osbctl
from tests.corpus import EVERY_CASE, catalogs, needs_corpus
from tests.fragments import DRAFT_04, changed, places, validated
from tests.platforms.known import KNOWN, KORIFI, known

SERVICE: dict[str, Any] = {
    "id": "6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4", "name": "pg", "description": "A database.", "bindable": True,
    "tags": ["sql"], "requires": ["syslog_drain"], "metadata": {"displayName": "PG"},
    "dashboard_client": {"id": "client", "secret": "((secret))", "redirect_uri": "https://pg.example.com/"},
    "plans": [{
        "id": "1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4", "name": "small", "description": "One core.", "free": True,
        "metadata": {"bullets": ["a"], "costs": [{"amount": {"usd": 1.5}, "unit": "MONTHLY"}]},
        "maximum_polling_duration": 60, "maintenance_info": {"version": "1.0.0"},
        "schemas": {"service_instance": {"create": {"parameters": {"$schema": DRAFT_04, "properties": {}}}}},
    }],
}  # fmt: skip
CATALOG = {"services": [SERVICE]}
PLACEHOLDERS = ["((x))", "(( grab meta.x ))", "<requires>", "REPLACE_WITH_VALUE", "{{ .Values.x }}", "${X}", "yes-%s"]
PLAN = ("services", 0, "plans", 0)


def with_value(path: JsonPath, value: Any) -> Any:
    return changed(CATALOG, path, value)


@pytest.mark.fuzz
@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_everywhere_only_the_placeholder_is_reported_and_nothing_is_fixed(placeholder: str) -> None:
    for path in places(CATALOG)[1:] if EVERY_CASE else places(CATALOG)[1 + PLACEHOLDERS.index(placeholder) % 3 :: 3]:
        data = with_value(path, placeholder)
        found = validated(data, platforms=frozenset(Platform))
        there = [finding for finding in found.findings if finding.path[: len(path)] == path]
        assert {finding.rule for finding in there} == {"placeholder-unresolved"}, path
        assert not found.errors, path
        assert {verdict.kind for verdict in found.verdicts.values()} <= {VerdictKind.ACCEPTS, VerdictKind.UNCLEAR}, path
        mended = fix_bytes("c.json", json.dumps(data).encode(), ValidationOptions(), unsafe=True)
        assert value_at(json.loads(mended.after["c.json"]), path) == placeholder, path


@pytest.mark.parametrize(("path", "unclear"), [
    (("services", 0, "bindable"), 4),
    ((*PLAN, "free"), 4),
    (("services", 0, "tags"), 4),
    (("services", 0, "description"), 0),
    ((*PLAN, "id"), 0),
    ((*PLAN, "maintenance_info", "version"), 1),
    ((*PLAN, "schemas", "service_instance", "create", "parameters"), 2),
    ((*PLAN, "schemas", "service_instance", "create", "parameters", "$schema"), 1),
    ((*PLAN, "metadata", "costs", 0, "amount", "usd"), 0),
    (("services", 0, "plans"), 4),
    (PLAN, 4),
    (("services",), 4),
])  # fmt: skip
def test_the_verdict_is_unclear_where_it_depends_on_the_value(path: JsonPath, unclear: int) -> None:
    found = validated(with_value(path, "((x))")).verdicts
    verdicts = [found[platform] for platform in KNOWN]
    assert [verdict.kind for verdict in verdicts].count(VerdictKind.UNCLEAR) == unclear
    assert all(verdict.why for verdict in verdicts if verdict.kind is VerdictKind.UNCLEAR)


def test_what_is_wrong_whatever_it_stands_for_is_still_refused() -> None:
    """Go stops at a value of a wrong type: what comes behind it is found all the same."""
    data = with_value((*PLAN, "free"), "((x))")
    del data["services"][0]["plans"][0]["name"]
    found = validated(data)
    kinds = {platform: found.verdicts[platform].kind for platform in KNOWN}
    assert kinds == {**dict.fromkeys(KNOWN, VerdictKind.REFUSES), KORIFI: VerdictKind.UNCLEAR}
    assert [finding.rule for finding in found.errors] == ["schema-required"]
    assert {*known(found.errors[0].refused_by)} == {*KNOWN} - {KORIFI}


def test_two_values_with_one_placeholder_are_no_repetition() -> None:
    second = {**SERVICE["plans"][0], "id": "((id))", "name": "second"}
    found = validated(changed(with_value(PLAN[:-1], [second] * 3), (*PLAN, "id"), "((id))"))
    assert {finding.rule for finding in found.errors} == {"plan-name-duplicate"}
    assert found.verdicts[Platform.SERVICE_MANAGER].reasons == 2, "the names alone"


def test_it_stands_in_the_reports_and_changes_no_exit_code(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(json.dumps(with_value(("services", 0, "bindable"), "((x))")))
    done = osbctl("validate", str(file))
    assert done.returncode == 0
    assert "  every platform  unclear: it depends on '((x))' at /services/0/bindable\n" in done.stdout
    counted = osbctl("validate", str(file), "--platform", "korifi")
    assert counted.returncode == 0
    assert "warning: '((x))' was not replaced" in counted.stdout
    assert osbctl("validate", str(file), "--platform", "korifi", "--fail-on", "warning").returncode == 1
    assert "; unclear on every platform" in osbctl("validate", str(file), "--concise").stdout
    report = json.loads(osbctl("validate", str(file), "--format", "json").stdout)
    told = {"verdict": "unclear", "reasons": 0, "messages": [], "why": "it depends on '((x))' at /services/0/bindable"}
    assert report["documents"][0]["platforms"]["korifi"] == told


def test_another_reason_is_a_warning_for_the_platform_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform may be unclear about what no placeholder is in."""
    doubt = Refusal("parameters-invalid", (*PLAN, "schemas"), "only its own schema library could judge the schema")
    unclear = {Platform.CLOUD_FOUNDRY: Outcome(VerdictKind.UNCLEAR, doubts=(doubt, doubt))}
    monkeypatch.setattr(pipeline, "judge_template", lambda *_: unclear)
    assert not [finding for finding in validated(CATALOG).findings if finding.rule == doubt.rule]
    found = validated(CATALOG, platforms=frozenset({Platform.CLOUD_FOUNDRY}))
    warnings = [finding for finding in found.findings if finding.rule == doubt.rule]
    assert [(one.severity, one.path) for one in warnings] == [(Severity.WARNING, doubt.path)] * 2
    assert found.verdicts[Platform.CLOUD_FOUNDRY].why == f"{doubt.message} at /services/0/plans/0/schemas, and 1 more"


def test_a_catalog_that_a_broker_sends_is_no_template(tmp_path: Path) -> None:
    data = with_value(("services", 0, "bindable"), "((x))")
    assert validated(data, literal=True).verdicts[Platform.KORIFI].kind is VerdictKind.REFUSES
    file = tmp_path / "c.json"
    file.write_text(json.dumps(data))
    with pytest.raises(DocumentError, match="bindable must be a boolean"):
        load(CatalogSource(str(file)))


ALSO = ("<name>", "<plan name>", "https://<host>/dashboard", "<guid>-plan", "REPLACE_WITH_GUID", "REPLACE_ME", "x-${y}")
NONE = (
    "<p>A database.</p>", "a < b > c", "Fast<br>and small", "<a href='x'>y</a>", "<br/>", "100 %", "IRREPLACE_MENT",
    "Send it to <support@example.com>", "<https://example.com>", "<b>Free</b>", "A list<li>of<li>things", "->", "a<b",
)  # fmt: skip


def test_placeholders_are_told_from_markup_and_addresses() -> None:
    assert [text for text in ALSO if not holds_placeholder(text)] == []
    assert [text for text in NONE if holds_placeholder(text)] == []
    pattern = (*PLAN, "schemas", "service_instance", "create", "parameters", "pattern")
    assert find_placeholders(with_value(pattern, "${a}")) == find_placeholders(CATALOG), "a text for the service"


def test_values_that_fit_are_accepted() -> None:
    """Of every field that is described: with a value of its type in the placeholder's place, platforms accept it."""
    for path in places(CATALOG)[1:]:
        data = with_value(path, "((x))")
        for outcome in judge_all(fill_placeholders(data, find_placeholders(data))).values():
            assert all(refusal.path[: len(path)] == path for refusal in outcome.refusals), path


@needs_corpus
def test_no_real_catalog_is_unclear_but_for_its_placeholders() -> None:
    for file in catalogs():
        document = parse_document(file.read_bytes(), file.name)
        for verdict in validate_document(document, ValidationOptions()).verdicts.values():
            assert verdict.kind is not VerdictKind.UNCLEAR or find_placeholders(document.data), file.name
