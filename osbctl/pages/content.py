"""Content of a page: catalogs, additions, and theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from osbctl.catalog import Catalog
from osbctl.changes import Change
from osbctl.findings import Finding
from osbctl.paths import Path
from osbctl.platforms import Platform
from osbctl.platforms.outcome import Outcome

MAX_WITH_REQUESTS = 2_000
"""A page of more plans has no commands and examples: they would be most of it."""


@dataclass(frozen=True, slots=True)
class Part:
    """The catalog of one broker, with what validation and a comparison with an earlier one say of it.

    `broker` is the name that the page calls the broker by, `outcomes` what platforms do with the catalog; `accepted`
    are changes with the reason why they are. `alone` puts the changes of this broker under its own name. `requests`
    are those of the plans, by path.
    """

    broker: str
    catalog: Catalog
    outcomes: Mapping[Platform, Outcome] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    changes: Sequence[Change] = ()
    accepted: Sequence[tuple[Change, str]] = ()
    alone: bool = False
    requests: Mapping[Path, PlanRequests] = field(default_factory=dict)


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


class PlanRequests(NamedTuple):
    """The requests of one plan: commands that order it by platform, and examples by the place of their schema.

    An example is a heading with JSON text, or a sentence without one that says why there is none.
    """

    commands: Sequence[tuple[str, Sequence[ShownCommand]]] = ()
    examples: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Branding:
    """Title and branding of the page. `logo` is a `data:` URL, `accent` a colour `#rrggbb`; both may be empty."""

    title: str = "Service marketplace"
    logo: str = ""
    accent: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """All of a page.

    `date` is printed as it is. `since` says what the catalogs are compared with, None where they are not;
    `findings` whether findings are shown; `notes` are sentences in front of all. `without_requests` says that there
    are too many plans for their commands and examples.
    """

    parts: Sequence[Part]
    look: Branding = field(default_factory=Branding)
    date: str = ""
    since: str | None = None
    findings: bool = False
    notes: Sequence[str] = ()
    overview: Overview | None = None
    without_requests: bool = False
