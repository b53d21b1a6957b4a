"""For Azure Pipelines: logging commands, which the agent makes issues of the job.

https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands has the command; the escapes are those of
the agent's CommandStringConvertor, which undoes them in properties and in the message alike.
"""

from __future__ import annotations

from osbctl.findings import Finding, Severity
from osbctl.reports import Report
from osbctl.reports.places import in_one_line, relative, verdict_lines
from osbctl.text import safe

_ESCAPES = str.maketrans({"%": "%AZP25", ";": "%3B", "\r": "%0D", "\n": "%0A", "]": "%5D"})


def render(report: Report) -> str:
    """A command for each error and warning; a plain line for what is neither, and for the verdicts of each document."""
    lines = [_line(finding, report) for finding in report.findings()]
    return "".join(f"{line}\n" for line in [*lines, *verdict_lines(report.judgements)])


def _line(finding: Finding, report: Report) -> str:
    place = finding.location
    source = relative(report.source(finding), report.root)
    if finding.severity is Severity.INFO:  # the agent knows errors and warnings alone
        where = f"{safe(source)}:{place.line}:{place.column}" if place else safe(source)
        return f" {where}: info: {in_one_line(finding)} [{finding.rule}]"
    properties = {"type": finding.severity.value, "code": finding.rule}
    if place:
        properties |= {"sourcepath": source, "linenumber": str(place.line), "columnnumber": str(place.column)}
    text = ";".join(f"{key}={safe(value).translate(_ESCAPES)}" for key, value in properties.items())
    return f"##vso[task.logissue {text}]{in_one_line(finding).translate(_ESCAPES)}"
