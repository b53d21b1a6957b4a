"""Findings: results of every check, input of every report."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from osbctl.errors import OsbctlError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from osbctl.paths import Path
    from osbctl.platforms import Platform
    from osbctl.platforms.outcome import Outcome, VerdictKind


class Severity(StrEnum):
    """Severity of a finding. Ordered by `rank`: an error is the highest."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """3 for an error, 2 for a warning, 1 for an info."""
        return {"error": 3, "warning": 2, "info": 1}[self.value]


class Location(NamedTuple):
    """A place in a source: `line` and `column` count from 1, columns in characters (code points).

    `excerpt` is the whole text of that line, as it stands; a report cuts and escapes it. `end` is the column behind the
    last character that is meant, within that line; 0 where only the first is known. As a string: `source:line:column`.
    """

    source: str
    line: int
    column: int
    excerpt: str = ""
    end: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


class Fix(NamedTuple):
    """A change of the source that mends a finding.

    `set` gives the value at `path` (which need not exist yet), `remove` takes that entry away, `rename` gives its key
    another name, `quote` makes a string of a scalar as it is written, `wrap` a list of a single value. `value` is what
    is set, or the new name.
    The empty path means the plain scalar that the finding is placed at, which may be a key, and whose meaning stays.
    `safe`: no platform understands the catalog otherwise than before, or all refused it and this is the only way out.
    """

    action: Literal["set", "remove", "rename", "quote", "wrap"]
    path: Path
    value: Any = None
    safe: bool = False

    def __str__(self) -> str:
        """Description of the fix; text of the catalog in it is not escaped."""
        import json

        name = next((step for step in reversed(self.path) if isinstance(step, str)), "")
        value = json.dumps(self.value, ensure_ascii=False)
        shown = f"{name}: {value}" if len(value) <= 60 else name
        return {
            "set": f"set `{shown}`",
            "rename": f"rename `{name}` to `{self.value}`",
            "quote": f"put `{name}` in quotes" if name else "put it in quotes",
            "wrap": f"make a list of `{name}`",
            "remove": f"remove `{name}`",
        }[self.action]


class Finding(NamedTuple):
    """One thing that is wrong, or worth knowing, at one place.

    `refused_by` names the platforms that refuse (or crash on) the catalog because of it, and
    `platform_messages` holds what they say, in their own words, where these are known.
    `hint` says what to do. `location` is filled in only when a finding is about to be reported. `identity` is what
    tells it from others over time, where that is known better than by rule, source and path. `fixes` are what
    `osbctl fix` does about it; empty where the author has to decide.

    `earlier` is another place that the message speaks of: its line is added once places are known, and is
    then `related`.

    `several` is what is said, behind their number, of several findings of one cause in a document, which are then
    one; empty where each stands alone. `also` are the other places that such a one stands for.
    """

    rule: str
    severity: Severity
    message: str
    path: Path = ()
    location: Location | None = None
    hint: str = ""
    fixes: tuple[Fix, ...] = ()
    several: str = ""
    earlier: Path | None = None
    refused_by: tuple[Platform, ...] = ()
    platform_messages: tuple[str, ...] = ()
    identity: str = ""
    also: tuple[Path, ...] = ()
    related: Location | None = None


class DocumentError(OsbctlError):
    """A source was opened, but its text cannot be read as a JSON or YAML object.

    `findings` (at least one, all with locations) say why and where; the message is the first of them with its place.
    """

    exit_code = 1

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        first = findings[0]
        place = f"{first.location}: " if first.location else ""
        super().__init__(place + first.message, first.hint)
        self.findings = findings


class FailOn(StrEnum):
    """The severity from which on a finding makes a run fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"

    def counts(self, finding: Finding) -> bool:
        """Return whether `finding` makes the run fail."""
        return self is not FailOn.NEVER and finding.severity.rank >= Severity(self.value).rank


class Verdict(NamedTuple):
    """A platform's answer to a whole catalog.

    `messages` are the platform's own lines, in its order and with its indentation, where they are
    known; `reasons` counts the separate refusals behind them. `why` says why it is unclear; empty of any other.
    """

    kind: VerdictKind
    messages: tuple[str, ...] = ()
    reasons: int = 0
    why: str = ""


class ValidationResult(NamedTuple):
    """All that validation says of one source: findings in document order, a verdict for each platform.

    `left_out` counts the findings that were not asked for, or are ignored. `data` is the catalog, None where it could
    not be read, and `outcomes` what each platform does with it. `fail_on` None: as the whole run has it. `read_as` says
    where the catalog was, as that of a `Document`; `unchecked` what a broker that limits requests left unchecked;
    `editable` whether `osbctl fix` can edit the source.
    """

    name: str
    findings: tuple[Finding, ...]
    verdicts: Mapping[Platform, Verdict]
    left_out: int = 0
    data: dict[str, Any] | None = None
    fail_on: FailOn | None = None
    outcomes: Mapping[Platform, Outcome] = {}
    read_as: str = ""
    unchecked: tuple[str, ...] = ()
    editable: bool = False

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)
