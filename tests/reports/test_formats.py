"""One finding through every format, and what each format's own standard asks for."""

import json
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

import osbctl
from osbctl.findings import FailOn, Finding, Location, Quote, Severity, ValidationResult, Verdict
from osbctl.platforms import Platform
from osbctl.platforms.verdict import VerdictKind
from osbctl.reports import Format, Report, render
from osbctl.rule import Category, Rule
from osbctl.text import escape_line
from tests.case import each
from tests.reports.standards import assert_only_escapes, checked_json, checked_sarif

RULE = Rule(
    "plan-name-duplicate",
    Severity.ERROR,
    Category.SPEC,
    "Two plans of one service share a name.\n\n    Users order a plan by its name.\n    Source: OSB 2.14, Plan Object",
)
FINDING = Finding(
    rule=RULE.id,
    severity=Severity.ERROR,
    sentence="plan name 'small' is already used, 100 % sure",
    path=("services", 0, "plans", 1, "name"),
    location=Location("a dir/cat,alog.yaml", 12, 9, "      - name: small"),
    refused_by=(Platform.CLOUD_FOUNDRY,),
    quotes=(Quote(Platform.CLOUD_FOUNDRY, "Plan names must be unique within a service"),),
    hint="rename one of them",
)
VERDICTS = {
    Platform.CLOUD_FOUNDRY: Verdict(VerdictKind.REFUSES, ("Service x", "  Plan names must be unique"), 1),
    Platform.KUBERNETES: Verdict(VerdictKind.ACCEPTS),
    Platform.SERVICE_MANAGER: Verdict(VerdictKind.CRASHES, (), 1),
    Platform.KORIFI: Verdict(VerdictKind.UNREADABLE),
}


def report(*findings: Finding, fail_on: FailOn = FailOn.ERROR, color: bool = False) -> Report:
    judgement = ValidationResult("a dir/cat,alog.yaml", findings, VERDICTS)
    return Report([judgement], lambda: {RULE.id: RULE}, fail_on, "/repository", color)


EXPECTED = {
    Format.TEXT: """\
a dir/cat,alog.yaml:12:9: error: plan name 'small' is already used, 100 % sure [plan-name-duplicate]
  12 |       - name: small
     |         ^
    refused by Cloud Foundry
    Cloud Foundry: “Plan names must be unique within a service”
    hint: rename one of them

a dir/cat,alog.yaml: 1 error
  Cloud Foundry               refuses (1 reason): plan-name-duplicate
  Kubernetes Service Catalog  accepts
  SAP Service Manager         crashes
""",
    Format.GITHUB: (
        "::error file=a dir/cat%2Calog.yaml,line=12,col=9,title=osbctl plan-name-duplicate::"
        "plan name 'small' is already used, 100 %25 sure. Refused by Cloud Foundry. Hint: rename one of them\n"
        " a dir/cat,alog.yaml: Cloud Foundry refuses, Kubernetes Service Catalog accepts, "
        "SAP Service Manager crashes, Korifi unreadable\n"
    ),
    Format.JUNIT: """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="osbctl">
  <testsuite name="a dir/cat,alog.yaml" tests="1" failures="1" errors="0" skipped="0" time="0">
    <testcase name="plan-name-duplicate a dir/cat,alog.yaml:12:9" classname="a dir/cat,alog.yaml" time="0">
      <failure message="error: plan name 'small' is already used, 100 % sure" type="error">\
plan name 'small' is already used, 100 % sure. Refused by Cloud Foundry. Hint: rename one of them</failure>
    </testcase>
  </testsuite>
</testsuites>
""",
}


@pytest.mark.parametrize("format", EXPECTED)
def test_one_finding_in_each_text_format(format: Format) -> None:
    assert render(report(FINDING), format) == EXPECTED[format]


@pytest.mark.parametrize("format", EXPECTED)
def test_a_crash_is_not_called_a_refusal(format: Format) -> None:
    crash = FINDING._replace(rule="cloudfoundry-crash", reaction="crashes", quotes=())
    findings = render(report(crash), format).partition("SAP Service Manager")[0]
    assert re.search("crashes Cloud Foundry", findings, re.IGNORECASE)
    assert "refused by" not in findings.lower()


def test_each_format_has_an_expected_text_or_tests_of_its_own() -> None:
    assert {*EXPECTED} | DOCUMENTS == {*Format}


def test_color_only_adds_escapes() -> None:
    coloured = render(report(FINDING, color=True), Format.TEXT)
    assert_only_escapes(coloured, EXPECTED[Format.TEXT])
    quoted = [line for line in coloured.splitlines() if "“" in line]
    assert quoted and not any("\x1b[2m" in line for line in quoted)  # the most precise line is not the dimmest


def test_json_holds_the_whole_finding_and_meets_its_schema() -> None:
    told = checked_json(render(report(FINDING), Format.JSON), "report-1")
    (document,) = told["documents"]
    assert document["findings"] == [
        {
            "rule": "plan-name-duplicate",
            "severity": "error",
            "message": "plan name 'small' is already used, 100 % sure",
            "path": "/services/0/plans/1/name",
            "also": [],
            "location": {"source": "a dir/cat,alog.yaml", "line": 12, "column": 9},
            "refused_by": ["cloudfoundry"],
            "platform_messages": ["Plan names must be unique within a service"],
            "hint": "rename one of them",
        }
    ]
    told_of = {"verdict": "refuses", "reasons": 1, "messages": ["Service x", "  Plan names must be unique"], "why": ""}
    assert document["platforms"]["cloudfoundry"] == told_of
    assert told["summary"] == {"errors": 1, "warnings": 0, "infos": 0}


@each("severity, shown", [(Severity.ERROR, "major"), (Severity.WARNING, "minor"), (Severity.INFO, "info")])
def test_gitlab_has_every_field(severity: Severity, shown: str) -> None:
    (issue,) = json.loads(render(report(FINDING._replace(severity=severity)), Format.GITLAB))
    assert issue.pop("fingerprint")
    assert issue == {
        "description": "plan name 'small' is already used, 100 % sure",
        "check_name": "plan-name-duplicate",
        "severity": shown,
        "location": {"path": "a dir/cat,alog.yaml", "lines": {"begin": 12}},
    }


def test_sarif_meets_the_standard_and_points_at_the_place() -> None:
    ended = FINDING._replace(location=FINDING.location._replace(end=20))
    ended = ended._replace(members=(ended, FINDING._replace(location=Location("b.yaml", 3, 5))))
    (run,) = checked_sarif(render(report(FINDING, ended, without_place()), Format.SARIF))["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    first, second, third = run["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20dir/cat%2Calog.yaml"},
        "region": {"startLine": 12, "startColumn": 9},
    }
    assert second["locations"][0]["physicalLocation"]["region"]["endColumn"] == 20
    assert second["relatedLocations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "b.yaml"}
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"]
    (place,) = third["locations"]  # GitHub takes no log with a result without one
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "a%20dir/cat%2Calog.yaml"}


def group() -> Finding:
    """A finding for three places, of which an alias repeats the first."""
    one, two = (FINDING._replace(sentence=f"m{line}", identity=f"i{line}", location=Location("c.yaml", line, 5)) for line in (3, 9))  # fmt: skip
    return one._replace(sentence="3 places", members=(one, one._replace(path=("x",)), two))


@each("format, find", [
    (Format.GITHUB, lambda text: re.findall(r"::error file=c.yaml,line=(\d+),col=5,.*::(m\d)", text)),
    (Format.JUNIT, lambda text: re.findall(r'c\.yaml:(\d+):5".*\n *<failure message="error: (m\d)', text)),
    (Format.GITLAB, lambda text: [(str(i["location"]["lines"]["begin"]), i["description"]) for i in json.loads(text)]),
    (Format.JSON, lambda text: [(str(place["location"]["line"]), place["message"]) for place in
                                checked_json(text, "report-1")["documents"][0]["findings"][0]["places"]]),
])  # fmt: skip
def test_each_place_of_a_group_is_marked(format: Format, find: Callable[[str], list[tuple[str, str]]]) -> None:
    text = render(report(group()), format)
    assert find(text) == [("3", "m3"), ("9", "m9")]
    if format is Format.GITLAB:
        alone = json.loads(render(report(group().members[2]), format))
        assert [issue["fingerprint"] for issue in json.loads(text)][1] == alone[0]["fingerprint"]
    assert format is not Format.JUNIT or 'tests="2" failures="2"' in text


def without_place() -> Finding:
    return FINDING._replace(location=None, severity=Severity.INFO, refused_by=(), hint="")


@pytest.mark.parametrize("format", Format)
@pytest.mark.parametrize("severity", Severity)
def test_every_format_shows_every_severity_with_and_without_a_place(format: Format, severity: Severity) -> None:
    for finding in (FINDING, without_place()):
        text = render(report(finding._replace(severity=severity)), format)
        assert FINDING.rule in text
        assert "already used" in text
    assert render(report(), format), "without a finding"


FAILING = {
    FailOn.ERROR: {Severity.ERROR},
    FailOn.WARNING: {Severity.ERROR, Severity.WARNING},
    FailOn.INFO: set(Severity),
    FailOn.NEVER: set(),
}


@pytest.mark.parametrize("fail_on", FailOn)
@pytest.mark.parametrize("severity", Severity)
def test_junit_fails_just_what_the_run_fails(fail_on: FailOn, severity: Severity) -> None:
    made = report(FINDING._replace(severity=severity), fail_on=fail_on)
    assert made.failed is (severity in FAILING[fail_on])
    (suite,) = ElementTree.fromstring(render(made, Format.JUNIT)).iter("testsuite")
    assert suite.get("failures") == ("1" if made.failed else "0")
    assert suite.get("tests") == "1"
    assert suite.get("skipped") == str(1 - int(made.failed))
    assert len(suite.findall("testcase/failure")) == int(made.failed)
    assert len(suite.findall("testcase/skipped")) == 1 - int(made.failed)


HOSTILE = "x\x1b[31m\x07\r\n::error::y\u202e]]>&<\u2028##vso[task.x;a=b]##teamcity[x '|n']##[error]%3B;]🐘"

DOCUMENTS = {Format.JSON, Format.SARIF, Format.GITLAB, Format.HTML}
"""They escape in their own way, and have tests of their own."""

LINES = sorted({*Format} - DOCUMENTS)


def hostile_text(format: Format, severity: Severity = Severity.ERROR) -> str:
    place = Location(HOSTILE, 1, 1, HOSTILE)
    texts = {"sentence": HOSTILE, "hint": HOSTILE, "location": place, "quotes": (Quote(Platform.KORIFI, HOSTILE),)}
    judgement = ValidationResult(HOSTILE, (FINDING._replace(severity=severity, **texts),), VERDICTS)
    return render(Report([judgement], lambda: {RULE.id: RULE}), format)


@pytest.mark.parametrize("severity", Severity)
@pytest.mark.parametrize("format", LINES)
def test_text_from_a_catalog_is_escaped(format: Format, severity: Severity) -> None:
    text = hostile_text(format, severity)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e\u2028]", text)
    assert all(not line.startswith("::error::y") for line in text.splitlines())
    # Build agents look for commands anywhere in a line.
    assert not re.search(r"##\w*\[", text)


@pytest.mark.parametrize("format", [Format.JSON, Format.SARIF, Format.GITLAB])
def test_json_holds_what_was_meant_and_no_command(format: Format) -> None:
    text = hostile_text(format)
    assert not re.search(r"##\w*\[|[\x7f\u202e\u2028]", text)
    assert json.dumps(HOSTILE)[1:-1] in json.dumps(json.loads(text))


JENKINS = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time", "file", "package"}, {"testcase"}),
    "testcase": ({"name", "classname", "time", "group"}, {"failure", "skipped"}),
    "failure": ({"type", "message"}, set()),
    "skipped": ({"type", "message"}, set()),
}
"""The rules of junit-10.xsd (Jenkins' xUnit plugin, which refuses whatever else) for what we write: attributes, children."""


@pytest.mark.parametrize("severity", Severity)
def test_junit_is_what_jenkins_and_gitlab_take(severity: Severity) -> None:
    root = ElementTree.fromstring(hostile_text(Format.JUNIT, severity).encode())
    for element in root.iter():
        attributes, children = JENKINS[element.tag]
        assert set(element.attrib) <= attributes
        assert {child.tag for child in element} <= children
    for suite in root:
        assert {"name", "tests", "failures", "errors"} <= set(suite.attrib)
        assert re.fullmatch(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?", suite.get("time", "0"))
    # GitLab's parser takes the text of the element, not its message.
    (told,) = (one for case in root.iter("testcase") for one in case)
    assert (told.text or "").startswith(escape_line(HOSTILE))


@pytest.mark.parametrize("address", ["", "https://git.example.com/acme/osbctl"])
def test_sarif_says_where_osbctl_is_where_that_is_known(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(osbctl, "REPOSITORY", address)
    driver = checked_sarif(render(report(FINDING), Format.SARIF))["runs"][0]["tool"]["driver"]
    assert driver.get("informationUri", "") == address
    page = f"{address}/blob/HEAD/docs/reference/rules/spec.md#{FINDING.rule}" if address else ""
    assert driver["rules"][0].get("helpUri", "") == page


def test_fingerprints_outlive_edits_elsewhere() -> None:
    def prints(*findings: Finding) -> list[str]:
        return [issue["fingerprint"] for issue in json.loads(render(report(*findings), Format.GITLAB))]

    moved = FINDING._replace(location=Location("a dir/cat,alog.yaml", 99, 1), sentence="other words")
    assert prints(moved) == prints(FINDING)
    assert len(set(prints(FINDING, FINDING, FINDING))) == 3
    assert prints(FINDING._replace(rule="other")) != prints(FINDING)


def test_a_finding_without_a_place_is_of_the_source_that_has_it() -> None:
    lost = without_place()
    several = report()._replace(results=[ValidationResult(name, (lost,), {}) for name in ("good.yaml", "lost.yaml")])
    issues = json.loads(render(several, Format.GITLAB))
    assert [issue["location"]["path"] for issue in issues] == ["good.yaml", "lost.yaml"]
    alone = json.loads(render(several._replace(results=several.results[1:]), Format.GITLAB))
    assert alone == issues[1:], "the fingerprint depends on the source, and on no other"
    files = re.findall("file=([^,]*),line=1,", render(several, Format.GITHUB))
    logged = checked_sarif(render(several, Format.SARIF))["runs"][0]["results"]
    uris = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in logged]
    assert files == uris == ["good.yaml", "lost.yaml"]
    suites = [*ElementTree.fromstring(render(several, Format.JUNIT)).iter("testsuite")]
    assert [suite[0].get("classname") for suite in suites] == [suite.get("name") for suite in suites]


@each("source, shown", [
    ("/repository/a/b.yaml", "a/b.yaml"),
    ("./b.yaml", "b.yaml"),
    ("/elsewhere/b.yaml", "/elsewhere/b.yaml"),
])  # fmt: skip
def test_paths_are_relative_to_the_repository(source: str, shown: str) -> None:
    finding = FINDING._replace(location=Location(source, 1, 1))
    assert json.loads(render(report(finding), Format.GITLAB))[0]["location"]["path"] == shown
