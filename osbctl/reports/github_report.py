"""Format `github`: workflow commands of GitHub Actions that annotate lines of a pull request.

The runner requires escapes for `%`, CR and LF, and in properties for `:` and `,`.
"""

from __future__ import annotations

from osbctl.findings import Severity
from osbctl.reports import Report
from osbctl.reports.format_helpers import in_one_line, relative, verdict_lines
from osbctl.text import escape_line

_ESCAPES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES = {**_ESCAPES, **str.maketrans({":": "%3A", ",": "%2C"})}
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """Render a command for each finding, then a line with the verdicts of each document."""
    lines = []
    for finding in report.findings():
        properties = {"title": f"osbctl {finding.rule}"}
        if place := finding.location:
            file = relative(place.source, report.root)
            properties = {"file": file, "line": str(place.line), "col": str(place.column), **properties}
        text = ",".join(f"{key}={escape_line(value).translate(_IN_PROPERTIES)}" for key, value in properties.items())
        lines.append(f"::{_COMMANDS[finding.severity]} {text}::{in_one_line(finding).translate(_ESCAPES)}")
    lines += verdict_lines(report.results)
    return "\n".join(lines) + "\n" if lines else ""
