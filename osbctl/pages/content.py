"""What a page is made of: the catalogs, what stands beside them, and how the page looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.changes import Change
from osbctl.findings import Finding
from osbctl.platforms import Platform
from osbctl.platforms.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Part:
    """The catalog of one broker, with what validation and a comparison with an earlier one say of it.

    `broker` is the name that the page calls the broker by, `outcomes` what platforms do with the catalog; `accepted`
    are changes with the reason why they are. `alone` puts the changes of this broker under its own name.
    """

    broker: str
    catalog: Catalog
    outcomes: Mapping[Platform, Outcome] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    changes: Sequence[Change] = ()
    accepted: Sequence[tuple[Change, str]] = ()
    alone: bool = False


class BrokerLine(NamedTuple):
    """One broker of an overview: how it stands, the numbers of its changes by level, and why there are none to tell.

    `kind` is the word for the style: a level, `same` or `failed`.
    """

    broker: str
    result: str
    kind: str
    counts: Sequence[tuple[str, int]] = ()
    reason: str = ""


class Overview(NamedTuple):
    """Many brokers, the gravest first, under `head`; `summary` says how many there are of each kind."""

    head: Sequence[str]
    lines: Sequence[BrokerLine]
    summary: str


class ShownCommand(NamedTuple):
    """A command to copy: what it is for, its text, and the files that it reads, each a name and its text.

    Without a text, `note` says why there is no command.
    """

    label: str
    text: str
    files: tuple[tuple[str, str], ...] = ()
    note: str = ""


class ShownCommands(NamedTuple):
    """The commands for one plan; where `marked`, `MARKS` stand in them for the names of its service and its own.

    Plans often have the same commands but for their names, which then need no quotes or escapes anywhere.
    """

    shown: tuple[ShownCommand, ...] = ()
    marked: bool = False


MARKS = {"service": "osbctl-0-service", "name": "osbctl-0-plan"}
"""What stands for names in commands that many plans share, by the field of `PlanTexts` that goes there."""


class Sample(NamedTuple):
    """Requests that a schema takes: `examples` are headings with JSON text, or without one why there is none.

    `content` is the JSON that commands send, empty where they send nothing.
    """

    examples: tuple[tuple[str, str], ...] = ()
    content: str = ""


class OrderedPlan(NamedTuple):
    """A plan to be ordered; `ambiguous` where two brokers of the page offer the service under one name."""

    broker: str
    service: ServiceOffering
    plan: ServicePlan
    ambiguous: bool = False
    sample: Sample = Sample()


@dataclass(frozen=True, slots=True)
class Requests:
    """What is known of the requests that a developer sends: the commands for a plan, samples that a schema takes."""

    commands: Callable[[OrderedPlan], ShownCommands] = lambda _: ShownCommands()
    sample: Callable[[Mapping[str, object]], Sample] = lambda _: Sample()


@dataclass(frozen=True, slots=True)
class Look:
    """The name and the looks of the house. `logo` is a `data:` URL, `accent` a colour `#rrggbb`; both may be empty."""

    title: str = "Service marketplace"
    logo: str = ""
    accent: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """All of a page.

    `date` is printed as it is. `since` says what the catalogs are compared with, None where they are not;
    `findings` whether findings are shown; `notes` are sentences in front of all.
    """

    parts: Sequence[Part]
    look: Look = field(default_factory=Look)
    date: str = ""
    requests: Requests = field(default_factory=Requests)
    since: str | None = None
    findings: bool = False
    notes: Sequence[str] = ()
    overview: Overview | None = None
