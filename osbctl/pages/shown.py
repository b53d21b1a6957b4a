"""What the templates are given: service offerings, plans, verdicts, changes and findings, each ready to be printed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from osbctl.changes import Level, grouped_effects
from osbctl.findings import Finding
from osbctl.pages.compare import Row
from osbctl.pages.content import Part, ShownCommands
from osbctl.pages.parameters import ParameterBlock
from osbctl.pages.pictures import Monogram
from osbctl.paths import pointer
from osbctl.platforms import labels

N = TypeVar("N")


class ChangeNote(NamedTuple):
    """One change in words; `anchor` leads to what it is about, empty where that is gone."""

    level: str
    object: str
    message: str
    rule: str
    anchor: str
    effects: tuple[tuple[str, str], ...]
    advice: str
    accepted: str


class FindingNote(NamedTuple):
    """One finding; `anchor` as in `ChangeNote`."""

    finding: Finding
    anchor: str

    @property
    def place(self) -> str:
        """Source, line and column, else the JSON pointer."""
        return str(self.finding.location or pointer(self.finding.path))

    @property
    def platforms(self) -> str:
        """Who refuses the catalog for it."""
        return labels(self.finding.refused_by)


class VerdictView(NamedTuple):
    """What a platform does with a service offering: a word for the style, one for people, and the platform's own."""

    platform: str
    label: str
    kind: str
    does: str
    words: tuple[str, ...]


class PlanTexts(NamedTuple):
    """What each plan has of its own to be printed; `service` is the name of its service, `title` what heads it."""

    anchor: str
    service: str
    name: str
    id: str
    title: str
    price: str
    description: str


class PlanShape(NamedTuple):
    """What plans often have in common. `free` is for plans whose price does not say it."""

    free: bool
    deprecated: str
    bullets: tuple[str, ...]
    parameters: tuple[ParameterBlock, ...]
    commands: ShownCommands
    changes: tuple[ChangeNote, ...] = ()


@dataclass(slots=True)
class PlanView:
    """A service plan to be printed; `free` as in `ServicePlan`."""

    texts: PlanTexts
    shape: PlanShape
    free: bool
    changes: list[ChangeNote] = field(default_factory=list)


@dataclass(slots=True)
class ServiceView:
    """A service offering to be printed; what both hold is as in `ServiceOffering`."""

    anchor: str
    broker: str
    id: str
    name: str
    title: str
    provider: str
    description: str
    about: list[str]
    picture: str
    monogram: Monogram
    tags: list[str]
    more_tags: int
    deprecated: str
    links: list[tuple[str, str]]
    facts: list[tuple[str, str]]
    verdicts: tuple[VerdictView, ...]
    plans: list[PlanView]
    rows: list[Row]
    free: str
    cheapest: str
    monthly: dict[str, Any]
    findings: list[FindingNote] = field(default_factory=list)
    changes: list[ChangeNote] = field(default_factory=list)

    @property
    def change_count(self) -> int:
        """The changes of the service offering and its plans."""
        return len(self.changes) + sum(len(plan.changes) for plan in self.plans)


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
