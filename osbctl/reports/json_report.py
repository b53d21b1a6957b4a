"""For programs: osbctl's own JSON, whose shape is `schemas/report-1.json`."""

from __future__ import annotations

from typing import Any

from osbctl.findings import Finding, Severity, ValidationResult, Verdict
from osbctl.paths import pointer
from osbctl.reports import Report
from osbctl.reports.machine_formats import place_as_json
from osbctl.text import json_text

VERSION = 1
"""The version of the report's shape; a field may be added without a new one, nothing else."""


def render(report: Report) -> str:
    """The report as one JSON object."""
    findings = list(report.findings())
    whole = {
        "version": VERSION,
        "documents": [_document(judgement) for judgement in report.judgements],
        "summary": {f"{s.value}s": sum(f.severity is s for f in findings) for s in Severity},
    }
    return json_text(whole)


def _document(judgement: ValidationResult) -> dict[str, Any]:
    return {
        "name": judgement.name,
        "findings": [_finding(finding) for finding in judgement.findings],
        "left_out": judgement.left_out,
        "platforms": {platform.value: _verdict(v) for platform, v in judgement.verdicts.items()},
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "path": pointer(finding.path),
        "also": [pointer(path) for path in finding.also],
        "location": place_as_json(finding.location),
        "refused_by": [platform.value for platform in finding.refused_by],
        "platform_messages": list(finding.platform_messages),
        "hint": finding.hint,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.kind.value,
        "reasons": verdict.reasons,
        "messages": list(verdict.messages),
        "why": verdict.why,
    }
