"""For GitHub Actions: workflow commands that annotate the lines of a pull request.

Escapes are those of the runner: `%`, CR and LF everywhere, `:` and `,` in properties too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.findings import Severity
from osbctl.platforms import labels
from osbctl.reports.places import relative
from osbctl.text import safe, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.findings import Finding, Judgement
    from osbctl.reports import Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """A command a finding, then a plain line a document with its verdicts."""
    lines = [_command(finding, report.root) for finding in report.findings()]
    for judgement in report.judgements:
        lines += _verdicts(judgement) if judgement.verdicts else ()
    return "\n".join(lines) + "\n" if lines else ""


def _command(finding: Finding, root: str) -> str:
    properties = {"title": f"osbctl {finding.rule}"}
    if place := finding.location:
        file = relative(place.source, root)
        properties = {"file": file, "line": str(place.line), "col": str(place.column), **properties}
    text = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {text}::{_data(sentences(_sentences(finding)))}"


def _sentences(finding: Finding) -> Iterator[str]:
    yield safe(finding.message)
    if finding.refused_by:
        yield "Refused by " + labels(finding.refused_by)
    if finding.hint:
        yield "Hint: " + safe(finding.hint)


def _verdicts(judgement: Judgement) -> Iterator[str]:
    # The leading blank keeps a name such as "::error::x" from being taken for a command.
    text = ", ".join(f"{platform.label} {verdict.kind.value}" for platform, verdict in judgement.verdicts.items())
    yield f" {safe(judgement.name)}: {text}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(safe(text)).replace(":", "%3A").replace(",", "%2C")
