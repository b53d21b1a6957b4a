"""For GitHub Actions: workflow commands that annotate the lines of a pull request.

Escapes are those of the runner: `%`, CR and LF everywhere, `:` and `,` in properties too.
"""

from __future__ import annotations

from osbctl.findings import Finding, Severity
from osbctl.reports import Report
from osbctl.reports.machine_formats import in_one_line, relative, verdict_lines
from osbctl.text import escape_line

_ESCAPES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES = {**_ESCAPES, **str.maketrans({":": "%3A", ",": "%2C"})}
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """A command a finding, then a plain line a document with its verdicts."""
    lines = [_command(finding, report.root) for finding in report.findings()]
    lines += verdict_lines(report.judgements)
    return "\n".join(lines) + "\n" if lines else ""


def _command(finding: Finding, root: str) -> str:
    properties = {"title": f"osbctl {finding.rule}"}
    if place := finding.location:
        file = relative(place.source, root)
        properties = {"file": file, "line": str(place.line), "col": str(place.column), **properties}
    text = ",".join(f"{key}={escape_line(value).translate(_IN_PROPERTIES)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {text}::{in_one_line(finding).translate(_ESCAPES)}"
