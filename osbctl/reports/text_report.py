"""For people: a line a finding, the line of the source with a caret, and a verdict a platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.findings import Severity
from osbctl.platforms import Platform
from osbctl.platforms.outcome import VerdictKind
from osbctl.text import excerpt, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from osbctl.findings import Finding, Judgement, Location, Verdict
    from osbctl.reports import Report

_CODES = {
    "error": "1;31",
    "warning": "33",
    "info": "36",
    "accepts": "32",
    "refuses": "1;31",
    "crashes": "1;31",
    "unreadable": "1;31",
    "bold": "1",
    "dim": "2",
}


class _Paint:
    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self._color else text


def render(report: Report) -> str:
    """The report as text, `path:line:column: severity: message [rule]` first in each entry."""
    paint = _Paint(report.color)
    lines: list[str] = []
    for judgement in report.judgements:
        for finding in judgement.findings:
            lines += _finding(finding, paint)
        lines += _summary(judgement, paint)
    if len(report.judgements) > 1:
        lines.append(_total(report))
    return "\n".join(lines).rstrip("\n") + "\n" if lines else ""


def finding_lines(findings: Iterable[Finding]) -> str:
    """The entries of some findings, without colour: what a command says that cannot go on because of them."""
    return "\n".join(line for finding in findings for line in _finding(finding, _Paint(False)))


def _finding(finding: Finding, paint: _Paint) -> Iterator[str]:
    place = finding.location
    where = f"{safe(place.source)}:{place.line}:{place.column}: " if place else ""
    severity = paint(finding.severity.value, finding.severity.value)
    rule = paint(f"[{finding.rule}]", "dim")
    yield f"{paint(where, 'bold')}{severity}: {safe(finding.message)} {rule}"
    if place:
        yield from _excerpt(place, paint)
    if len(finding.refused_by) > 1 or (finding.refused_by and not finding.platform_messages):
        yield f"    refused by {', '.join(platform.label for platform in finding.refused_by)}"
    for message in finding.platform_messages:
        # Only Cloud Foundry's words are known, and it stands first.
        yield f"    {Platform.CLOUD_FOUNDRY.label}: {safe(message)}"
    if finding.hint:
        yield f"    hint: {safe(finding.hint)}"
    yield ""


def _excerpt(place: Location, paint: _Paint) -> Iterator[str]:
    if not place.excerpt.strip():
        return
    shown, caret = excerpt(place.excerpt, place.column)
    number = str(place.line)
    yield f"  {paint(number + ' |', 'dim')} {shown}"
    yield f"  {paint(' ' * len(number) + ' |', 'dim')} {' ' * caret}{paint('^', 'bold')}"


def _summary(judgement: Judgement, paint: _Paint) -> Iterator[str]:
    yield f"{paint(safe(judgement.name), 'bold')}: {_counted(judgement.findings, judgement.left_out)}"
    width = max(len(platform.label) for platform in Platform)
    for platform, verdict in judgement.verdicts.items():
        yield f"  {platform.label:<{width}}  {paint(_verdict(verdict), verdict.kind.value)}"
    yield ""


def _verdict(verdict: Verdict) -> str:
    if verdict.kind is VerdictKind.REFUSES:
        return f"refuses ({_plural(verdict.reasons, 'reason')})"
    return verdict.kind.value


def _counted(findings: Sequence[Finding], left_out: int) -> str:
    numbers = {severity: sum(f.severity is severity for f in findings) for severity in Severity}
    words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    parts = [_plural(number, words[severity]) for severity, number in numbers.items() if number]
    if left_out:
        parts = [*(parts or ["nothing shown"]), f"{left_out:,} not selected or ignored"]
    return ", ".join(parts) or "nothing to complain about"


def _total(report: Report) -> str:
    left_out = sum(judgement.left_out for judgement in report.judgements)
    return f"{_plural(len(report.judgements), 'document')}: {_counted(list(report.findings()), left_out)}"


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
