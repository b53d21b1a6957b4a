"""For GitHub Actions: workflow commands that annotate the lines of a pull request.

Escapes are those of the runner: `%`, CR and LF everywhere, `:` and `,` in properties too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.findings import Finding, Severity
from osbctl.reports.places import in_one_line, relative, verdict_lines
from osbctl.text import safe

if TYPE_CHECKING:
    from osbctl.reports import Report

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
    text = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {text}::{_data(in_one_line(finding))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(safe(text)).replace(":", "%3A").replace(",", "%2C")
