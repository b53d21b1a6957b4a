"""Findings and verdicts: results of every check, input of every report."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from osbctl.errors import InternalError, OsbctlError
from osbctl.messages import Message, SourceName, Value, text_of
from osbctl.platforms import format_platforms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Mapping

    from osbctl.messages import Sentence
    from osbctl.paths import JsonPath
    from osbctl.platforms import Platform
    from osbctl.platforms.verdict import Outcome, VerdictKind


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

    `excerpt` is the raw text of the line; reports shorten and escape it. `end` is the exclusive end column in that
    line; 0 if unknown. `secrets` are the ranges of the excerpt, from 0, that are of values that may be secret. As a
    string: `source:line:column`.
    """

    source: str
    line: int
    column: int
    excerpt: str = ""
    end: int = 0
    secrets: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


class Fix(NamedTuple):
    """An edit of the source that repairs a finding.

    `set` writes `value` to `path` (which may not exist yet), `remove` deletes the entry, `rename` changes its key to
    `value`, `quote` turns a scalar into a string with the same text, `wrap` a single value into a list.
    An empty path means the scalar at the finding's location, which may be a key; its meaning stays. An item of a list
    cannot be removed, nor can a list or an object that is written in several lines be set.
    `safe`: no platform understands the catalog differently, or all refused it and this is the only possible fix.
    """

    action: Literal["set", "remove", "rename", "quote", "wrap"]
    path: JsonPath
    value: Any = None
    safe: bool = False

    def __hash__(self) -> int:
        return hash((self.action, self.path))  # the value may be a list

    def __str__(self) -> str:
        """Description of the fix, with unescaped text of the catalog, without secrets."""
        name = next((step for step in reversed(self.path) if isinstance(step, str)), "")
        value = str(Value(self.value, self.path, lambda value: json.dumps(value, ensure_ascii=False)))
        shown = f"{name}: {value}" if len(value) <= 60 else name
        return {
            "set": f"set `{shown}`",
            "rename": f"rename `{name}` to `{self.value}`",
            "quote": f"put `{name}` in quotes" if name else "put it in quotes",
            "wrap": f"make a list of `{name}`",
            "remove": f"remove `{name}`",
        }[self.action]


class LineNumber(NamedTuple):
    """A line that a sentence refers to, seen from a finding in `source`: `line 7`, or `other.yaml:7`."""

    location: Location
    source: str
    with_column: bool = False

    def __str__(self) -> str:
        source, line, column, *_ = self.location
        column_text = f", column {column}" if self.with_column else ""
        return f"line {line}{column_text}" if source == self.source else f"{source}:{line}{column_text}"


class Quote(NamedTuple):
    """A platform and its own words about a fault."""

    platform: Platform
    sentence: Sentence


class Group(NamedTuple):
    """Findings of one rule that a report shows as one: those with the same `key`.

    `summary` follows their number, so it is plural: `plans are free, but have a price`. The places that single findings
    relate to are not named.
    """

    summary: Sentence
    key: Hashable = ()

    def sentence(self, count: int) -> Message:
        """The sentence about `count` of its findings."""
        return Message("{} {}", f"{count:,}", self.summary)


MAX_LOCATED = 1_000
"""Maximum number of places of a finding that are located: a group may have tens of thousands."""
_MAX_NAMED = 11
"""Maximum number of places that a text for people names."""


class Finding(NamedTuple):
    """A fault or remark at one place of a document.

    `sentence` says what is wrong (`message` is its text), `hint` how to repair it (`advice`). `refused_by` are the
    platforms that refuse the catalog because of it, `quotes` what they say if that is known, `reaction` the words for
    what they do (empty: `refused by`). `location` is set only for a report. `identity` identifies the finding over
    time, within its source; empty if rule and path do. `fixes` are edits of `osbctl fix`; empty if the author must
    decide. `related_path` is the path of another place, whose line a report adds to the message. `group` is None if
    each such finding is reported alone. `members` are all findings of a group, or those that aliases repeat, as they
    were alone; the first of them have locations. Empty without a group.
    """

    rule: str
    severity: Severity
    sentence: Sentence
    path: JsonPath = ()
    location: Location | None = None
    hint: Sentence = ""
    fixes: tuple[Fix, ...] = ()
    group: Group | None = None
    related_path: JsonPath | None = None
    refused_by: tuple[Platform, ...] = ()
    quotes: tuple[Quote, ...] = ()
    identity: str = ""
    members: tuple[Finding, ...] = ()
    reaction: str = ""

    def __hash__(self) -> int:
        return hash((self.rule, self.path))  # not of the members, of which there may be thousands

    def moved(self, move: Callable[[Location], Location]) -> Self:
        """The finding with `move` applied to its location, to those of its members, and to places in its sentences."""

        def move_place(value: Any) -> Any:
            if isinstance(value, SourceName):
                return SourceName(move(Location(value.name, 1, 1)).source)
            if isinstance(value, LineNumber):
                own = value.location._replace(source=value.source)
                return value._replace(location=move(value.location), source=move(own).source)
            return value

        sentence, hint = (
            text if isinstance(text, str) else text.with_values(move_place) for text in (self.sentence, self.hint)
        )
        members = tuple(member.moved(move) for member in self.members)
        location = self.location and move(self.location)
        return self._replace(location=location, sentence=sentence, hint=hint, members=members)

    @property
    def message(self) -> str:
        """The text of `sentence`, without secrets."""
        return text_of(self.sentence)

    @property
    def advice(self) -> str:
        """The text of `hint`, without secrets; may be empty."""
        return text_of(self.hint)

    @property
    def platform_messages(self) -> tuple[str, ...]:
        """The texts of `quotes`, without secrets."""
        return tuple(text_of(quote.sentence) for quote in self.quotes)

    @property
    def other_paths(self) -> tuple[JsonPath, ...]:
        """The paths of the members after the first."""
        return tuple(member.path for member in self.members[1:])

    def at_each_place(self) -> tuple[Finding, ...]:
        """The finding of each located place of a group, with its own message; the finding itself for a single place."""
        by_location: dict[Location | None, list[Finding]] = {}
        for member in self.members:
            by_location.setdefault(member.location, []).append(member)
        by_location.pop(None, None)
        if len(by_location) < 2:
            return (self,)
        return tuple(
            members[0]._replace(fixes=fixes_of(members), members=tuple(members) if len(members) > 1 else ())
            for members in by_location.values()
        )

    def places_to_name(self) -> tuple[tuple[Finding, ...], int]:
        """The finding of each place that a text names, as `at_each_place`, and the number of further places."""
        each = self.at_each_place()
        return each[:_MAX_NAMED], len(each[_MAX_NAMED:]) + len(self.members[MAX_LOCATED:])

    @property
    def refused_by_text(self) -> str:
        """The platforms of `refused_by` in words: `refused by Korifi`, `crashes Korifi`; empty without any."""
        return f"{self.reaction or 'refused by'} {format_platforms(self.refused_by)}" if self.refused_by else ""

    def of_platforms(self, platforms: Collection[Platform]) -> Self:
        """The finding without the names of other platforms that refuse the catalog because of it."""
        return self._replace(
            refused_by=tuple(platform for platform in self.refused_by if platform in platforms),
            members=tuple(member.of_platforms(platforms) for member in self.members),
        )


def each_place(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, each place of a group apart."""
    return [place for finding in findings for place in finding.at_each_place()]


def fixes_of(findings: Iterable[Finding]) -> tuple[Fix, ...]:
    """The fixes of all findings."""
    return tuple(fix for finding in findings for fix in finding.fixes)


class DocumentError(OsbctlError):
    """A document has errors: it cannot be parsed or composed, or is not valid where a valid one is needed.

    `findings` (at least one, all with locations) are the reasons; the message is that of the first.
    """

    exit_code = 1

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        first = findings[0]
        place = f"{first.location}: " if first.location else ""
        super().__init__(place + first.message, first.advice)
        self.findings = findings


def error_findings(error: OsbctlError, name: str) -> tuple[Finding, ...]:
    """The error of the source `name` that cannot be opened, read or checked, as findings."""
    if isinstance(error, DocumentError):
        return error.findings
    if isinstance(error, InternalError):
        place = Location(name, 1, 1)
        return (Finding("internal-error", Severity.ERROR, error.message, location=place, hint=error.advice),)
    return (Finding("cannot-open", Severity.ERROR, error.message, hint=error.advice),)


class FailOn(StrEnum):
    """Minimum severity of a finding that makes a run fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"

    def is_failure(self, finding: Finding) -> bool:
        """Return whether `finding` makes the run fail."""
        return self is not FailOn.NEVER and finding.severity.rank >= Severity(self.value).rank


class Verdict(NamedTuple):
    """A platform's decision on a whole catalog.

    `messages` are the platform's own lines, in its order and with its indentation, if known; `reasons` is the number of
    refusals. `why` says why a verdict is unclear; else empty.
    """

    kind: VerdictKind
    messages: tuple[str, ...] = ()
    reasons: int = 0
    why: str = ""


class ValidationResult(NamedTuple):
    """Result of validating one source: findings in document order, a verdict for each platform.

    `left_out` is the number of findings that were not selected, are ignored or known; those of one cause count as one.
    `data` is the catalog, None if it could not be read; `outcomes` are the platforms' decisions in detail. `fail_on`
    None: the run's. `read_as` is as in `Document`; `editable`: `osbctl fix` can edit it. `known` are the fingerprints
    of the options that were found, `user_rules` the rules of the user.
    """

    name: str
    findings: tuple[Finding, ...]
    verdicts: Mapping[Platform, Verdict]
    left_out: int = 0
    data: dict[str, Any] | None = None
    fail_on: FailOn | None = None
    outcomes: Mapping[Platform, Outcome] = {}
    read_as: str = ""
    editable: bool = False
    known: frozenset[str] = frozenset()
    user_rules: Mapping[str, Any] = {}

    def source_of(self, finding: Finding) -> str:
        """The name of the source of a finding: without a location it is about the whole of it."""
        return finding.location.source if finding.location else self.name

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)
