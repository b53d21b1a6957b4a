"""Format `junit`: JUnit XML for Jenkins and GitLab, with a suite per document and a case per place of a finding.

Jenkins' schema (junit-10.xsd of its xUnit plugin) has no file or line of a case, so names contain both. GitLab
shows the text of a failure, Jenkins its `message`.

A finding that makes the run fail is a failure; any other is a skipped case with its message, so that warnings are
visible in a successful run.
"""

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from osbctl.findings import ValidationResult, each_place
from osbctl.reports import Report
from osbctl.reports.format_helpers import one_line_message
from osbctl.text import escape_line


def render(report: Report) -> str:
    """Render a report as one `testsuites` element."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="osbctl">']
    for result in report.results:
        lines += _suite_lines(result, report)
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _suite_lines(result: ValidationResult, report: Report) -> Iterator[str]:
    findings = each_place(result.findings)
    failures = sum(report.is_failure(result, finding) for finding in findings)
    skipped = len(findings) - failures
    tests = max(len(findings), 1)
    name = quoteattr(escape_line(result.name))
    counts = f'tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}"'
    yield f'  <testsuite name={name} {counts} time="0">'
    for finding in findings:
        where = escape_line(str(finding.location or ""))
        file = quoteattr(escape_line(report.source_name(finding)))
        yield f'    <testcase name={quoteattr(f"{finding.rule} {where}".strip())} classname={file} time="0">'
        is_failure = report.is_failure(result, finding)
        element, kind = ("failure", f" type={quoteattr(finding.severity.value)}") if is_failure else ("skipped", "")
        message = quoteattr(f"{finding.severity.value}: {escape_line(finding.message)}")
        yield f"      <{element} message={message}{kind}>{escape(one_line_message(finding))}</{element}>"
        yield "    </testcase>"
    if not result.findings:
        yield f'    <testcase name="valid" classname={name} time="0"/>'
    yield "  </testsuite>"
