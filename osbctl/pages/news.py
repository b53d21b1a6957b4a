"""What changed, and what validation finds, each put to the service offering and plan that it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from osbctl.changes import Level, grouped_effects
from osbctl.pages.content import Part
from osbctl.pages.shown import ChangeNote, FindingNote, ServiceView

N = TypeVar("N")


def place_changes(part: Part, views: Sequence[ServiceView]) -> list[ChangeNote]:
    """The changes of a part in words, the strictest first; each is also put to its view."""
    services = {view.id: view for view in views}
    plans = {(view.id, plan.texts.id): plan for view in views for plan in view.plans}
    reasons = [("", change) for change in part.changes] + [(reason, change) for change, reason in part.accepted]
    notes = []
    for reason, change in sorted(reasons, key=lambda one: (bool(one[0]), -one[1].level.rank)):
        service = services.get(change.service.id) if change.service else None
        plan = plans.get((change.service.id, change.plan.id)) if change.service and change.plan else None
        note = ChangeNote(
            level="accepted" if reason else change.level.value,
            object=change.object or "catalog",
            message=change.message,
            rule=change.rule,
            anchor=plan.texts.anchor if plan else service.anchor if service else "",
            effects=tuple(grouped_effects(change)),
            advice="" if change.level is Level.SAFE else change.advice,
            accepted=reason,
        )
        if holder := plan or service:
            holder.changes.append(note)
        notes.append(note)
    return notes


def place_findings(part: Part, views: Sequence[ServiceView]) -> list[FindingNote]:
    """The findings of a part in words, in their order; each is also put to its view."""
    by_path = {service.path: view for service, view in zip(part.catalog.services, views, strict=True)}
    notes = []
    for finding in part.findings:
        view = by_path.get(finding.path[:2])
        note = FindingNote(finding, view.anchor if view else "")
        if view:
            view.findings.append(note)
        notes.append(note)
    return notes


def by_kind(notes: Iterable[N], kind: Callable[[N], str], kinds: Iterable[str]) -> list[tuple[str, list[N]]]:
    """The notes by their kind, in the order of `kinds`, each in their own order; no empty kind."""
    found: dict[str, list[N]] = defaultdict(list)
    for note in notes:
        found[kind(note)].append(note)
    return [(one, found[one]) for one in kinds if one in found]
