"""Changes as findings, for the formats that know these alone."""

from __future__ import annotations

from osbctl.changes import SEVERITIES, Change, DiffFailOn, Level, grouped_effects
from osbctl.findings import FailOn, Finding, Severity, ValidationResult
from osbctl.reports import Format, Report
from osbctl.reports import render as render_findings
from osbctl.reports.changes import DiffReport
from osbctl.text import safe, sentences

_FAIL_ON = {
    DiffFailOn.REFUSED: FailOn.ERROR,
    DiffFailOn.BREAKING: FailOn.ERROR,
    DiffFailOn.RISKY: FailOn.WARNING,
    DiffFailOn.ANY: FailOn.INFO,
    DiffFailOn.NEVER: FailOn.NEVER,
}


def render(report: DiffReport, format: str) -> str:
    """The changes that nobody accepted, as findings in `format`; or why there was nothing to compare."""
    changes = [change for _, found in report.by_level() for change in found]
    findings = (*report.errors, *(_finding(change, report) for change in changes))
    if not findings and format == Format.GITHUB:
        return ""
    judgement = ValidationResult(f"{report.old}..{report.new}", findings, {})
    fail_on = FailOn.ERROR if report.errors else _FAIL_ON[report.fail_on]
    whole = Report([judgement], report.rules, fail_on, report.root, report.color)
    return render_findings(whole, Format(format))


def _finding(change: Change, report: DiffReport) -> Finding:
    refused_by = tuple(effect.platform for effect in change.effects if effect.level is Level.REFUSED)
    effects = (f"{platforms}: {does}" for platforms, does in grouped_effects(change))
    message = f"{change.level.value}: {change.object or 'catalog'}: {change.message}"
    return Finding(
        rule=change.rule,
        severity=_severity(change, report.fail_on),
        message=safe(sentences((message, *effects))),
        path=change.new_path,
        location=change.new_location or change.old_location,
        refused_by=refused_by,
        hint=safe(change.advice),
        identity=change.fingerprint,
    )


def _severity(change: Change, fail_on: DiffFailOn) -> Severity:
    # Where only refusals fail the run, what is merely breaking must not look like a failure.
    lenient = fail_on is DiffFailOn.REFUSED and change.level is Level.BREAKING
    return Severity.WARNING if lenient else SEVERITIES[change.level]
