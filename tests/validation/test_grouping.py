"""Findings with one cause are grouped, with their number; none is lost."""

import json
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from osbctl.catalog import service_and_plan_names as names
from osbctl.findings import DocumentError, Finding, Severity
from osbctl.platforms import ApiVersion, Platform
from osbctl.reports import compute_fingerprints
from osbctl.reports.text_report import format_findings
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.document import parse_document
from osbctl.sources.read import read_source
from osbctl.validation.options import IgnoreAt, ValidationOptions, select_findings
from osbctl.validation.pipeline import validate_document
from tests.corpus import catalogs, needs_corpus


def plan_line(number: int, more: str = "") -> str:
    return f"  - {{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E{number:03}, name: p{number}, description: d{more}}}\n"


def validate_plans(plans: str, options: ValidationOptions | None = None, top: str = "") -> list[Finding]:
    offering = "- id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4\n  name: s\n  description: d\n  bindable: true\n"
    document = parse_document(f"{top}services:\n{offering}  plans:\n{plans}".encode(), "c.yaml")
    return list(validate_document(document, options or ValidationOptions()).findings)


def test_a_file_has_one_word_on_free_and_each_plan_its_message_and_its_fix() -> None:
    (one,) = validate_plans(plan_line(1))
    assert one.message == "plan 'p1' does not set `free`, and platforms disagree on the default"
    (finding,) = validate_plans(plan_line(1) + plan_line(2, ", free: true") + plan_line(3))
    assert finding.message == "2 plans do not set `free`, and platforms disagree on the default"
    assert (finding.path, finding.other_paths) == (("services", 0, "plans", 0), (("services", 0, "plans", 2),))
    assert finding.location and finding.location.line == 7
    first, second = finding.at_each_place()
    assert [first.message.split()[1], second.message.split()[1]] == ["'p1'", "'p3'"]
    assert [(place.path[3], place.location and place.location.line) for place in (first, second)] == [(0, 7), (2, 9)]
    for fixes in (finding.fixes, (*first.fixes, *second.fixes)):
        assert [fix.path[3] for fix in fixes] == [0, 2]
    assert first.identity == finding.identity != second.identity
    assert first.at_each_place() == (first,)


def test_a_report_names_the_first_ten_other_places_of_a_group() -> None:
    for count, places in (
        (1, ""),
        (3, "also at 8:5, 9:5\n"),
        (13, f"{', '.join(f'{n}:5' for n in range(8, 18))} and 2 more\n"),
    ):
        shown = format_findings(validate_plans("".join(map(plan_line, range(count)))))
        assert places in shown
        assert ("also at" in shown) is (count > 1)


def test_an_alias_has_no_place_of_its_own_and_all_fixes() -> None:
    shared = [plan_line(n, f", free: true, metadata: {{bullets: {b}}}") for n, b in ((1, "&b [{}, {}]"), (2, "*b"))]
    (finding,) = validate_plans("".join(shared))
    assert len(finding.other_paths) == 3
    places = finding.at_each_place()
    assert [(place.location.line, len(place.members)) for place in places if place.location] == [(7, 2), (7, 2)]


@pytest.mark.parametrize("shared", [True, False])
def test_a_platform_says_one_sentence_once_of_what_aliases_repeat(shared: bool) -> None:
    values = ["{<<: *b, "] * 40 if shared else [f"{{free: {n % 2}, " for n in range(40)]
    plans = (plan_line(n).replace("{", value) for n, value in enumerate(values))
    findings = validate_plans("".join(plans), top="x: &b {free: 3}\n")
    told = [finding.platform_messages for finding in findings if finding.rule == "schema-type"]
    assert all(len(messages) == 1 for messages in told)
    assert len(told) == (1 if shared else 40)


@pytest.mark.parametrize(
    "write", [json.dumps, lambda text: f"'{text}'", lambda text: f">\n {text}", lambda text: f"|\n {text}"]
)
def test_different_faults_of_a_catalog_in_a_string_stay_apart(write: Callable[[str], str]) -> None:
    plans = [{"id": p, "name": p, "description": "d", "free": free} for p, free in (("p1", "maybe"), ("p2", 3))]
    offering = {"id": "s", "name": "s", "description": "d", "bindable": True, "plans": plans}
    document = parse_catalog(f"c: {write(json.dumps({'services': [offering]}))}\n", "c.yaml")
    findings = validate_document(document, ValidationOptions()).findings
    told = [finding.message for finding in findings if finding.rule == "schema-type"]
    assert [("p1" in message, "p2" in message, "alias" in message) for message in told] == [
        (True, False, False), (False, True, False)
    ]  # fmt: skip


def test_places_in_other_files_are_named_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "services").mkdir()
    for name in "ab":
        text = f"id: {name}-1\nname: {name}\ndescription: d\nbindable: true\nplans: []\n"
        (tmp_path / "services" / f"{name}.yaml").write_text(text)
    findings = validate_document(read_source(str(tmp_path)), ValidationOptions()).findings
    assert f"also at {tmp_path}/services/b.yaml:1:1\n" in format_findings(findings)


def test_of_a_plan_with_a_price_its_silence_on_free_is_told_once_and_never_mended_to_free() -> None:
    price = ", metadata: {costs: [{amount: {usd: %s}, unit: MONTHLY}]}"
    (priced,) = validate_plans(plan_line(1, price % 9))
    assert (priced.rule, priced.fixes) == ("cost-of-free-plan", ())
    assert [finding.rule for finding in validate_plans(plan_line(1, price % 0))] == ["default-implicit"]


def test_like_names_ids_and_items_of_metadata_are_told_together() -> None:
    more = ", free: true, metadata: {bullets: [{a: 1}, {b: 2}, x]}"
    plans = "".join(plan_line(n, more).replace("name: p", "name: p_").replace("A90E", "A90Z") for n in (1, 2))
    assert [finding.message for finding in validate_plans(plans)] == [
        "2 ids are almost GUIDs",
        "2 names have characters that API version 2.14 forbids",
        "4 items of bullets must each be a string, not an object",
    ]


def test_a_name_is_reported_once_and_an_underscore_is_a_note() -> None:
    more = ", free: true"
    plans = plan_line(1, more).replace("name: p1", "name: p_1") + plan_line(2, more).replace("name: p2", "name: p 2_")
    assert [(finding.rule, finding.severity, len(finding.other_paths)) for finding in validate_plans(plans)] == [
        ("name-characters", Severity.INFO, 0),
        ("name-not-cli-friendly", Severity.WARNING, 0),
    ]
    newer = ValidationOptions(api_version=ApiVersion.V2_15)
    assert [finding.rule for finding in validate_plans(plans, newer)] == ["name-not-cli-friendly"]


def test_bindable_is_told_where_korifi_counts_or_it_is_asked_for() -> None:
    plans = plan_line(1, ", free: true")
    assert validate_plans(plans) == []
    for asked in ({"platforms": frozenset({Platform.KORIFI})}, {"select": frozenset({"korifi-bindable-implicit"})}):
        (finding,) = validate_plans(plans, ValidationOptions(**asked))
        assert finding.rule == "korifi-bindable-implicit"


def test_what_is_ignored_is_not_counted() -> None:
    options = ValidationOptions(ignore_at=(IgnoreAt("default-implicit", plan="p1"),))
    (finding,) = validate_plans(plan_line(1) + plan_line(2) + plan_line(3), options)
    assert finding.message.startswith("2 plans do not")
    assert finding.path == ("services", 0, "plans", 1)


def test_a_placeholder_is_told_once_a_variable_and_not_where_no_platform_reads() -> None:
    hidden = ', free: true, metadata: {displayName: "((a))"}, brokerSettings: {size: "((b))", x: ["((a))"]}'
    other = hidden.replace("((a))", "${n}", 1)
    findings = validate_plans(plan_line(1, hidden) + plan_line(2, other) + plan_line(3, hidden), top="x: ((c))\n")
    told = ["2 values hold '((a))', which was not replaced", "'${n}' was not replaced"]
    assert [finding.message for finding in findings] == told


def test_fields_that_are_too_new_are_told_once_a_version() -> None:
    newer = ", free: true, maintenance_info: {version: 1.2.3}, plan_updateable: true"
    (finding,) = validate_plans(plan_line(1, newer) + plan_line(2, newer))
    assert finding.message.startswith("4 fields came with API version 2.15")
    assert len(finding.other_paths) == 3


def test_null_in_metadata_is_a_note_and_other_types_are_warnings() -> None:
    null = ", free: true, metadata: {displayName: null, bullets: 1}"
    severities = {(finding.rule, finding.severity) for finding in validate_plans(plan_line(1, null))}
    assert severities == {("metadata-type", Severity.INFO), ("metadata-type", Severity.WARNING)}


def test_the_digits_of_a_guid_are_as_unique_as_a_guid() -> None:
    guid = "6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E001"
    plans = plan_line(1, ", free: true").replace(guid, guid.replace("-", ""))
    assert validate_plans(plans) == []
    assert [finding.rule for finding in validate_plans(plans.replace("6C3B", "6C3"))] == ["id-not-guid"]


def test_of_very_many_places_the_first_thousand_are_marked() -> None:
    found = validate_plans("".join(map(plan_line, range(1_003))))
    (finding,) = (finding for finding in found if finding.rule == "default-implicit")
    assert len(finding.at_each_place()) == 1_000
    assert " and 992 more" in format_findings([finding])


def test_the_secrets_of_each_place_are_redacted() -> None:
    (finding,) = validate_plans(plan_line(1) + plan_line(2))
    told = finding._replace(members=tuple(one._replace(sentence="https://u:hunter2@x/") for one in finding.members))
    assert "hunter2" not in f"{told.message} {[one.message for one in told.members]}"


def test_the_fingerprint_of_a_group_is_that_of_its_first_place() -> None:
    first, both, other = (
        [hashed for *_, hashed in compute_fingerprints([("", one) for one in validate_plans(plans)], "")]
        for plans in (
            plan_line(1) + plan_line(2, ", free: true"),
            plan_line(1) + plan_line(2),
            plan_line(1, ", free: true") + plan_line(2),
        )
    )
    assert first == both != other


@needs_corpus
def test_a_real_catalog_has_one_finding_in_the_median() -> None:
    numbers = []
    for file in catalogs():
        try:
            numbers.append(len(validate_document(read_source(str(file)), ValidationOptions()).findings))
        except DocumentError:
            continue
    assert statistics.median(numbers) <= 1
    assert sum(numbers) <= 200


# Selection of findings.


DATA = {"services": [{"name": "s", "plans": [{"name": "p"}, {"name": "q"}]}, 7]}
PLACES = (("a",), ("a", "services", 0, "id"), ("a", "services", 0, "plans", 0, "id"), ("b", "services", 0, "plans", 1))
FINDINGS = [Finding(str(rule), Severity.ERROR, "", tuple(path)) for rule, *path in PLACES]


@pytest.mark.parametrize(("options", "kept"), [
    (ValidationOptions(), [0, 1, 2, 3]),
    (ValidationOptions(select=frozenset({"b"})), [3]),
    (ValidationOptions(ignore=frozenset({"a"})), [3]),
    (ValidationOptions(ignore_at=(IgnoreAt("a", service="s"),)), [0, 3]),
    (ValidationOptions(ignore_at=(IgnoreAt("a", service="s", plan="p"),)), [0, 1, 3]),
    (ValidationOptions(ignore_at=(IgnoreAt("b", plan="q"),)), [0, 1, 2]),
    (ValidationOptions(ignore_at=(IgnoreAt("b", plan="p"),)), [0, 1, 2, 3]),
])  # fmt: skip
def test_selection(options: ValidationOptions, kept: list[int]) -> None:
    assert select_findings(FINDINGS, DATA, options) == [FINDINGS[index] for index in kept]


@pytest.mark.parametrize(("path", "expected"), [
    ((), (None, None)),
    (("services", 0), ("s", None)),
    (("services", 0, "plans", 1, "free"), ("s", "q")),
    (("services", 1, "plans", 0), (None, None)),
    (("services", 9, "plans", 9), (None, None)),
])  # fmt: skip
def test_names(path: tuple[str | int, ...], expected: tuple[str | None, str | None]) -> None:
    assert names(path, DATA) == expected
