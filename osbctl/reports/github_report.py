"""Format `github`: workflow commands of GitHub Actions that annotate lines of a pull request.

The runner requires escapes for `%`, CR and LF, and in properties for `:` and `,`.
"""

from osbctl.findings import Severity, each_place
from osbctl.reports import Report
from osbctl.reports.format_helpers import one_line_message, relative_path
from osbctl.text import escape_line

_ESCAPES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES = {**_ESCAPES, **str.maketrans({":": "%3A", ",": "%2C"})}
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """Render a command for each place of each finding, then a line with the verdicts of each document."""
    lines = []
    for finding in each_place(report.findings()):
        properties = {"title": f"osbctl {finding.rule}"}
        if place := finding.location:
            file = relative_path(place.source, report.root)
            properties = {"file": file, "line": str(place.line), "col": str(place.column), **properties}
        text = ",".join(f"{key}={escape_line(value).translate(_IN_PROPERTIES)}" for key, value in properties.items())
        lines.append(f"::{_COMMANDS[finding.severity]} {text}::{one_line_message(finding).translate(_ESCAPES)}")
    for result in report.results:
        text = ", ".join(f"{platform.label} {verdict.kind.value}" for platform, verdict in result.verdicts.items())
        # The leading blank prevents a name such as "::error::x" from being a command.
        lines += [f" {escape_line(result.name)}: {text}"] if text else []
    return "\n".join(lines) + "\n" if lines else ""
