"""Formats that CI systems read: GitHub, GitLab, JUnit, SARIF."""

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import osbctl
from osbctl.findings import Finding, Location, Severity, ValidationResult, each_place
from osbctl.paths import pointer
from osbctl.reports import Report, compute_fingerprints, one_line_message, relative_path
from osbctl.rule import Rule
from osbctl.text import escape_line, json_text

_LINE_ESCAPES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY_ESCAPES = {**_LINE_ESCAPES, **str.maketrans({":": "%3A", ",": "%2C"})}
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render_github(report: Report) -> str:
    """Workflow commands of GitHub Actions that annotate lines of a pull request.

    A command for each place of each finding, then a line with the verdicts of each document. The runner requires
    escapes for `%`, CR and LF, and in properties for `:` and `,`.
    """
    lines = []
    for source, finding in report.findings_with_source(by_place=True):
        place = finding.location or Location(source, 1, 1)
        file = relative_path(place.source, report.root)
        title = f"osbctl {finding.rule}"
        properties = {"file": file, "line": str(place.line), "col": str(place.column), "title": title}
        text = ",".join(f"{key}={escape_line(value).translate(_PROPERTY_ESCAPES)}" for key, value in properties.items())
        lines.append(f"::{_COMMANDS[finding.severity]} {text}::{one_line_message(finding).translate(_LINE_ESCAPES)}")
    for result in report.results:
        text = ", ".join(f"{platform.label} {verdict.kind.value}" for platform, verdict in result.verdicts.items())
        # The leading blank prevents a name such as "::error::x" from being a command.
        lines += [f" {escape_line(result.name)}: {text}"] if text else []
    return "\n".join(lines) + "\n" if lines else ""


_GITLAB_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render_gitlab(report: Report) -> str:
    """A Code Quality report (`artifacts:reports:codequality`), a JSON array with every field that GitLab requires."""
    issues = [
        {
            "description": finding.message,
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": _GITLAB_SEVERITIES[finding.severity],
            "location": {
                "path": relative_path(source, report.root),
                "lines": {"begin": finding.location.line if finding.location else 1},
            },
        }
        for source, finding, fingerprint in compute_fingerprints(
            report.findings_with_source(by_place=True), report.root
        )
    ]
    return json_text(issues)


def render_junit(report: Report) -> str:
    """JUnit XML for Jenkins and GitLab, with a suite per document and a case per place of a finding.

    Jenkins' schema (junit-10.xsd of its xUnit plugin) has no file or line of a case, so names contain both. GitLab
    shows the text of a failure, Jenkins its `message`. A finding that makes the run fail is a failure; any other is a
    skipped case with its message, so that warnings are visible in a successful run.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="osbctl">']
    for result in report.results:
        lines += _junit_suite_lines(result, report)
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _junit_suite_lines(result: ValidationResult, report: Report) -> Iterator[str]:
    findings = each_place(result.findings)
    failures = sum(report.is_failure(result, finding) for finding in findings)
    skipped = len(findings) - failures
    tests = max(len(findings), 1)
    name = quoteattr(escape_line(result.name))
    counts = f'tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}"'
    yield f'  <testsuite name={name} {counts} time="0">'
    for finding in findings:
        where = escape_line(str(finding.location or ""))
        file = quoteattr(escape_line(result.source_of(finding)))
        yield f'    <testcase name={quoteattr(f"{finding.rule} {where}".strip())} classname={file} time="0">'
        is_failure = report.is_failure(result, finding)
        element, kind = ("failure", f" type={quoteattr(finding.severity.value)}") if is_failure else ("skipped", "")
        message = quoteattr(f"{finding.severity.value}: {escape_line(finding.message)}")
        yield f"      <{element} message={message}{kind}>{escape(one_line_message(finding))}</{element}>"
        yield "    </testcase>"
    if not result.findings:
        yield f'    <testcase name="valid" classname={name} time="0"/>'
    yield "  </testsuite>"


_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render_sarif(report: Report) -> str:
    """SARIF 2.1.0 (OASIS, 2020) for code scanning: a log with one run, which describes only rules with findings."""
    used = sorted({finding.rule for finding in report.findings()})
    rules = dict(report.load_rules()) if used else {}
    for result in report.results:
        rules.update(result.user_rules)
    index = {rule: number for number, rule in enumerate(used)}
    run = {
        "tool": {
            "driver": {
                "name": "osbctl",
                "semanticVersion": osbctl.__version__,
                **({"informationUri": osbctl.REPOSITORY} if osbctl.REPOSITORY else {}),
                "rules": [_rule_as_sarif(rules[rule]) for rule in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [
            _finding_as_sarif(finding, source, fingerprint, index, report.root)
            for source, finding, fingerprint in compute_fingerprints(report.findings_with_source(), report.root)
        ],
    }
    return json_text({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule_as_sarif(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why or rule.summary},
        **({"helpUri": rule.documentation_url} if rule.documentation_url else {}),
        "help": {"text": f"{rule.why or rule.summary}\n\nSource: {rule.source}"},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
        "properties": {"tags": [rule.category.value]},
    }


def _location_as_sarif(location: Location, root: str) -> dict[str, Any]:
    source = relative_path(location.source, root)
    region = {"startLine": location.line, "startColumn": location.column}
    physical = {
        "artifactLocation": {"uri": source if "://" in source else quote(os.fsencode(source))},
        "region": {**region, "endColumn": location.end} if location.end else region,
    }
    return {"physicalLocation": physical}


def _finding_as_sarif(
    finding: Finding, source: str, fingerprint: str, index: dict[str, int], root: str
) -> dict[str, Any]:
    place = finding.location or Location(source, 1, 1)  # code scanning takes no log with a result without one
    logical = {"fullyQualifiedName": pointer(finding.path) or "/"}
    text = f"{finding.message}\nHint: {finding.advice}" if finding.advice else finding.message
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": text},
        "partialFingerprints": {"osbctl/v2": fingerprint},
        "locations": [{**_location_as_sarif(place, root), "logicalLocations": [logical]}],
    }
    if others := [other.location for other in finding.at_each_place()[1:] if other.location]:
        result["relatedLocations"] = [_location_as_sarif(place, root) for place in others]
    if finding.refused_by:
        result["properties"] = {"refusedBy": [platform.value for platform in finding.refused_by]}
    return result
