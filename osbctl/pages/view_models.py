"""View models of the templates: service offerings, plans, verdicts, changes and findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from osbctl.changes import Change, Level, grouped_effects
from osbctl.findings import Finding
from osbctl.pages.compare import Row
from osbctl.pages.content import Part, ShownCommand
from osbctl.pages.icons import Monogram
from osbctl.parameter_table import Parameter
from osbctl.paths import pointer
from osbctl.platforms import labels

N = TypeVar("N")


class ChangeNote(NamedTuple):
    """One change; `anchor` leads to its service offering or plan, empty if that was removed."""

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
        """Platforms that refuse the catalog because of the finding."""
        return labels(self.finding.refused_by)


class VerdictView(NamedTuple):
    """Verdict on a service offering: CSS class, label, and the platform's message."""

    platform: str
    label: str
    kind: str
    does: str
    words: tuple[str, ...]


class ParameterView(NamedTuple):
    """One parameter, as the first plan describes it; `anchor` is the last part of its address.

    `differs` names the fields that other plans have with other values: `differences` has these with the plans' titles.
    """

    anchor: str
    row: Parameter
    differs: Sequence[str]
    differences: Sequence[tuple[str, str]]


class ParameterBlock(NamedTuple):
    """The parameters of one place of all plans, with examples; `plans` are the titles if only some have a schema."""

    place: str
    heading: str
    plans: str
    rows: Sequence[ParameterView]
    examples: Sequence[tuple[str, str]]


@dataclass(slots=True)
class PlanView:
    """A service plan; `title` is its heading, `free` as in `ServicePlan`."""

    anchor: str
    name: str
    id: str
    title: str
    price: str
    description: str
    free: bool
    deprecated: str
    bullets: Sequence[str]
    commands: Sequence[tuple[str, Sequence[ShownCommand]]]
    changes: list[ChangeNote] = field(default_factory=list)


@dataclass(slots=True)
class ServiceView:
    """A service offering; fields with names of `ServiceOffering` have their meaning."""

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
    verdicts: list[VerdictView]
    plans: list[PlanView]
    parameters: list[ParameterBlock]
    rows: list[Row]
    free: str
    cheapest: str
    monthly: dict[str, Any]
    findings: list[FindingNote] = field(default_factory=list)
    changes: list[ChangeNote] = field(default_factory=list)

    @property
    def change_count(self) -> int:
        """Number of changes of the service offering and its plans."""
        return len(self.changes) + sum(len(plan.changes) for plan in self.plans)


def place_changes(part: Part, views: Sequence[ServiceView]) -> list[ChangeNote]:
    """Return the changes of a part, strictest first, and attach each to its view."""
    views_by_ids: dict[tuple[str, ...], ServiceView | PlanView] = {(view.id,): view for view in views}
    views_by_ids.update({(view.id, plan.id): plan for view in views for plan in view.plans})
    notes = []
    for change, reason in _by_gravity(part):
        ids = [named.id for named in (change.service, change.plan) if named]
        holder = views_by_ids.get(tuple(ids)) or views_by_ids.get(tuple(ids[:1]))
        note = _change_note(change, reason, holder.anchor if holder else "")
        if holder:
            holder.changes.append(note)
        notes.append(note)
    return notes


def _by_gravity(part: Part) -> list[tuple[Change, str]]:
    reasons = [*((change, "") for change in part.changes), *part.accepted]
    return sorted(reasons, key=lambda one: (bool(one[1]), -one[0].level.rank))


def _change_note(change: Change, reason: str, anchor: str) -> ChangeNote:
    return ChangeNote(
        level="accepted" if reason else change.level.value,
        object=change.object or "catalog",
        message=change.message,
        rule=change.rule,
        anchor=anchor,
        effects=tuple(grouped_effects(change)),
        advice="" if change.level is Level.SAFE else change.advice,
        accepted=reason,
    )


def place_findings(part: Part, views: Sequence[ServiceView]) -> list[FindingNote]:
    """Return the findings of a part in their order, and attach each to its view."""
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
    """Group notes by kind in the order of `kinds`; empty kinds are left out."""
    found: dict[str, list[N]] = defaultdict(list)
    for note in notes:
        found[kind(note)].append(note)
    return [(one, found[one]) for one in kinds if one in found]
