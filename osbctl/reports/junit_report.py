"""For test reports: JUnit XML as Jenkins and GitLab read it, a suite a document and a case a finding.

Jenkins' schema (junit-10.xsd of its xUnit plugin) knows no file or line of a case: both stand in its names. GitLab
shows the text inside of a failure, Jenkins its `message`.

A finding that makes the run fail is a failure; any other is a skipped case with its message, so that a
warning is seen without turning a green run red.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from osbctl.findings import Finding, ValidationResult
from osbctl.reports import Report
from osbctl.reports.machine_formats import in_one_line
from osbctl.text import escape_line


def render(report: Report) -> str:
    """The report as one `testsuites` element."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="osbctl">']
    for judgement in report.judgements:
        lines += _suite(judgement, report)
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _suite(judgement: ValidationResult, report: Report) -> Iterator[str]:
    failures = sum(report.counts(judgement, finding) for finding in judgement.findings)
    skipped = len(judgement.findings) - failures
    tests = max(len(judgement.findings), 1)
    name = quoteattr(escape_line(judgement.name))
    counts = f'tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}"'
    yield f'  <testsuite name={name} {counts} time="0">'
    for finding in judgement.findings:
        yield from _case(judgement, finding, report)
    if not judgement.findings:
        yield f'    <testcase name="valid" classname={name} time="0"/>'
    yield "  </testsuite>"


def _case(judgement: ValidationResult, finding: Finding, report: Report) -> Iterator[str]:
    where = escape_line(str(finding.location or ""))
    file = quoteattr(escape_line(report.source(finding)))
    name = quoteattr(f"{finding.rule} {where}".strip())
    yield f'    <testcase name={name} classname={file} time="0">'
    element = "failure" if report.counts(judgement, finding) else "skipped"
    message = quoteattr(f"{finding.severity.value}: {escape_line(finding.message)}")
    kind = f" type={quoteattr(finding.severity.value)}" if element == "failure" else ""
    yield f"      <{element} message={message}{kind}>{escape(in_one_line(finding))}</{element}>"
    yield "    </testcase>"
