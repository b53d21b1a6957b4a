"""Findings as an editor shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from osbctl.findings import Finding, Severity
from osbctl.platforms import labels
from osbctl.text import safe

if TYPE_CHECKING:
    from osbctl.editor.texts import Text
    from osbctl.editor.written import Written

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostic(finding: Finding, file: Written) -> types.Diagnostic:
    """One finding in the file that it is about; one without a place stands at the file's first character."""
    start, end = file.extent(finding.location) if finding.location else (0, 0)
    return types.Diagnostic(
        range=range_of(file, start, end),
        message="\n".join(lines(finding)),
        severity=SEVERITIES[finding.severity],
        code=finding.rule,
        source="osbctl",
    )


def lines(finding: Finding) -> list[str]:
    """What a finding says: the message, what to do, and who refuses the catalog because of it."""
    told = [safe(finding.message)]
    if finding.hint:
        told.append(f"hint: {safe(finding.hint)}")
    if finding.refused_by:
        told.append(f"refused by {labels(finding.refused_by)}")
    return told


def range_of(text: Text, start: int, end: int) -> types.Range:
    """The range between two offsets of a text."""
    return types.Range(types.Position(*text.place(start)), types.Position(*text.place(end)))
