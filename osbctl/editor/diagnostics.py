"""Findings as an editor shows them."""

from __future__ import annotations

from lsprotocol import types

from osbctl.editor.texts import Text, Written
from osbctl.findings import Finding, Severity
from osbctl.platforms import labels
from osbctl.text import safe

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostic(finding: Finding, file: Written) -> types.Diagnostic:
    """One finding in the file that it is about; one without a place stands at the file's first character."""
    start, end = file.extent(finding.location) if finding.location else (0, 0)
    said = [
        safe(finding.message),
        f"hint: {safe(finding.hint)}" if finding.hint else "",
        f"refused by {labels(finding.refused_by)}" if finding.refused_by else "",
    ]
    return types.Diagnostic(
        range=range_of(file, start, end),
        message="\n".join(filter(None, said)),
        severity=SEVERITIES[finding.severity],
        code=finding.rule,
        source="osbctl",
    )


def range_of(text: Text, start: int, end: int) -> types.Range:
    """The range between two offsets of a text."""
    return types.Range(text.place(start), text.place(end))
