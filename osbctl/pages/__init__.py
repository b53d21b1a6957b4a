"""HTML pages of catalogs: one file that loads nothing and can be read without a script.

Here is the content of a page: catalogs, additions, and theme. `render` is the output; `offerings` and `compare` turn a
catalog into the view models that the templates in `assets/` print. Nothing of a catalog is trusted: templates escape
text, `safe_content` checks addresses and images, and `messages` removes secrets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from osbctl.catalog import Catalog
from osbctl.changes import Change
from osbctl.findings import Finding
from osbctl.paths import JsonPath
from osbctl.platforms import Platform
from osbctl.platforms.verdict import Outcome

MAX_WITH_REQUESTS = 2_000
"""Pages with more plans have no commands and examples, which would be most of the page."""


class ShownCommand(NamedTuple):
    """A command to copy: label, text, names and texts of the files that it reads; `note` says why there is no text."""

    label: str
    text: str
    files: tuple[tuple[str, str], ...] = ()
    note: str = ""


class PlanRequests(NamedTuple):
    """Requests of one plan: commands by platform, and examples by the place of their schema.

    An example is a heading with JSON text, or a sentence without JSON that says why there is no example.
    """

    commands: Sequence[tuple[str, Sequence[ShownCommand]]] = ()
    examples: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Part:
    """The catalog of one broker with its verdicts, findings and changes.

    The catalog is redacted. `broker` is the broker's name on the page, `outcomes` the verdicts of platforms. `accepted`
    has changes with the reasons for accepting them. `requests` has the path of a plan, `platforms` are those whose
    commands it has. `images` replace `imageUrl`: `data:` URLs by the path of a service offering.
    """

    broker: str
    catalog: Catalog
    outcomes: Mapping[Platform, Outcome] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    changes: Sequence[Change] = ()
    accepted: Sequence[tuple[Change, str]] = ()
    requests: Mapping[JsonPath, PlanRequests] = field(default_factory=dict)
    platforms: Sequence[Platform] = ()
    images: Mapping[JsonPath, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "catalog", self.catalog.redacted)


@dataclass(frozen=True, slots=True)
class Branding:
    """Title, logo (`data:` URL) and accent colour (`#rrggbb`) of the page; logo and accent may be empty."""

    title: str = "Service marketplace"
    logo: str = ""
    accent: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """Content of a page.

    `date` is printed unchanged. `since` describes the earlier catalogs. None if there is no comparison. `findings`
    shows findings. `audience` are the readers: verdicts and the commands of all platforms are for the operator. `notes`
    are sentences at the top. `without_requests`: too many plans for commands and examples.
    """

    parts: Sequence[Part] = ()
    branding: Branding = field(default_factory=Branding)
    date: str = ""
    since: str | None = None
    findings: bool = False
    audience: Literal["customer", "operator"] = "customer"
    notes: Sequence[str] = ()
    without_requests: bool = False
