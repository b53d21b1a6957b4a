"""What changed, and what validation finds, each put to the service offering and plan that it is about."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from osbctl.changes import Change, Level, grouped_effects
from osbctl.findings import Finding, Severity
from osbctl.pages.shown import ChangeNote, FindingNote, ServiceView
from osbctl.paths import pointer
from osbctl.platforms import labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from osbctl.pages.content import Part


def place_changes(part: Part, views: Sequence[ServiceView]) -> list[ChangeNote]:
    """The changes of a part in words, the strictest first; each is also put to its view."""
    services = {view.id: view for view in views}
    plans = {(view.id, plan.texts.id): plan for view in views for plan in view.plans}
    reasons = [("", change) for change in part.changes] + [(reason, change) for change, reason in part.accepted]
    notes = []
    for reason, change in sorted(reasons, key=lambda one: (bool(one[0]), -one[1].level.rank)):
        service = services.get(change.service.id) if change.service else None
        plan = plans.get((change.service.id, change.plan.id)) if change.service and change.plan else None
        note = _change(change, reason, plan.texts.anchor if plan else service.anchor if service else "")
        if holder := plan or service:
            holder.changes.append(note)
        notes.append(note)
    return notes


def _change(change: Change, reason: str, anchor: str) -> ChangeNote:
    hurts = change.level is not Level.SAFE
    level = "accepted" if reason else change.level.value
    return ChangeNote(
        level, change.object or "catalog", change.message, change.rule, anchor,
        tuple(grouped_effects(change)), change.advice if hurts else "", reason,
    )  # fmt: skip


def place_findings(part: Part, views: Sequence[ServiceView]) -> list[FindingNote]:
    """The findings of a part in words, in their order; each is also put to its view."""
    by_path = {service.path: view for service, view in zip(part.catalog.services, views, strict=True)}
    notes = []
    for finding in part.findings:
        view = by_path.get(finding.path[:2])
        note = _finding(finding, view.anchor if view else "")
        if view:
            view.findings.append(note)
        notes.append(note)
    return notes


def _finding(finding: Finding, anchor: str) -> FindingNote:
    at = finding.location
    place = f"{at.source}:{at.line}:{at.column}" if at else pointer(finding.path)
    platforms = labels(finding.refused_by)
    return FindingNote(
        finding.severity.value,
        finding.message,
        finding.rule,
        place,
        anchor,
        platforms,
        finding.platform_messages,
        finding.hint,
    )


def grouped(notes: Iterable[ChangeNote]) -> list[tuple[str, list[ChangeNote]]]:
    """The notes by level, from strict to harmless, what was accepted last; no empty level."""
    found: dict[str, list[ChangeNote]] = defaultdict(list)
    for note in notes:
        found[note.level].append(note)
    return [(level, found[level]) for level in (*Level, "accepted") if level in found]


def by_severity(notes: Iterable[FindingNote]) -> list[tuple[str, list[FindingNote]]]:
    """The notes by severity, the gravest first, each in their order; no empty severity."""
    found: dict[str, list[FindingNote]] = defaultdict(list)
    for note in notes:
        found[note.severity].append(note)
    return [(severity, found[severity]) for severity in Severity if severity in found]
