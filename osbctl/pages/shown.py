"""What the templates are given: service offerings, plans, verdicts, changes and findings, each ready to be printed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from osbctl.findings import Finding
from osbctl.pages.compare import Row
from osbctl.pages.content import ShownCommands
from osbctl.pages.parameters import ParameterBlock
from osbctl.pages.pictures import Monogram
from osbctl.paths import pointer
from osbctl.platforms import labels


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
