"""Reports of changes between two catalogs, and of the drift of every registered broker.

Formats for CI systems get the changes as findings. Machine formats never change shape without a new version;
`schemas/diff-1.json` describes `json`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from typing import Any

from osbctl.catalog import Catalog
from osbctl.changes import (
    READING_ORDER,
    SEVERITIES,
    Change,
    DiffFailOn,
    Level,
    ObjectRef,
    format_objects,
    join_by,
    join_equal,
    platforms_and_effects,
)
from osbctl.findings import FailOn, Finding, Severity, ValidationResult
from osbctl.paths import pointer
from osbctl.reports import JSON_VERSION, Format, Report, format_position, location_as_json, short_source
from osbctl.reports import render as render_findings
from osbctl.rule import Rule
from osbctl.text import align_columns, escape_line, escape_text, join_sentences, json_text, plural


class DiffFormat(StrEnum):
    """Formats of a comparison, as in `--format`."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"
    SARIF = "sarif"
    ALLOW = "allow"
    HTML = "html"


MAX_PLACES = 30
"""Maximum number of places that are listed of equal changes; `json` has all."""


@dataclass(frozen=True, slots=True)
class ComparisonNames:
    """Heading of a comparison, and names of its old and new side."""

    heading: str
    old: str
    new: str


DIFF = ComparisonNames("Catalog changes", "old", "new")
DRIFT = ComparisonNames("Catalog drift", "platform", "broker")


@dataclass(frozen=True, slots=True)
class DiffReport:
    """Report of a comparison.

    `changes` are those not accepted, `accepted` the others with their reasons. `problems` are sentences
    about entries of the allow file, `notes` about the catalogs. `errors` say why a catalog cannot be read: it was not
    compared. `new_catalogs` are sources with nothing to compare them with. `catalog` (the new one) and `date` are for
    html. `load_rules`, `root`, `color` and `width` are as in `osbctl.reports.Report`.
    """

    old: str
    new: str
    changes: Sequence[Change]
    load_rules: Callable[[], Mapping[str, Rule]]
    accepted: Sequence[tuple[Change, str]] = ()
    problems: Sequence[str] = ()
    fail_on: DiffFailOn = DiffFailOn.BREAKING
    root: str = ""
    color: bool = False
    width: int = 0
    names: ComparisonNames = DIFF
    notes: Sequence[str] = ()
    errors: Sequence[Finding] = ()
    new_catalogs: Sequence[str] = ()
    catalog: Mapping[str, Any] | None = None
    date: str = ""

    @property
    def same(self) -> bool:
        """Return whether nothing changed."""
        return not (self.changes or self.accepted or self.errors or self.new_catalogs)

    @property
    def failed(self) -> bool:
        """Return whether the run fails: by `fail_on`, or because nothing could be compared."""
        return bool(self.errors) or any(self.fail_on.is_failure(change) for change in self.changes)

    def changes_by_level(self) -> Iterator[tuple[Level, list[Change]]]:
        """Changes not accepted, by level in the order of reading, without empty levels."""
        for level in READING_ORDER:
            found = [change for change in self.changes if change.level is level]
            if found:
                yield level, found

    def summary(self) -> str:
        """Numbers of changes by level, as text."""
        if self.errors and not (self.changes or self.accepted):
            return "the catalogs could not be compared"
        parts = [f"{len(found):,} {level.value}" for level, found in self.changes_by_level()]
        parts += [f"{len(self.accepted):,} accepted"] if self.accepted else []
        parts += [f"{plural(len(self.new_catalogs), 'new catalog')}"] if self.new_catalogs else []
        counts = ", ".join(parts)
        if self.same:
            return "the catalogs are the same"
        if self.errors:
            return f"{counts}; not all catalogs could be compared"
        if not (self.changes or self.accepted):
            return counts
        if any(level.rank >= Level.BREAKING.rank for level, _ in self.changes_by_level()):
            return counts
        return f"no breaking changes, but the catalogs differ: {counts}"


def group_changes(changes: Iterable[Change]) -> list[list[list[Change]]]:
    """Group changes with the same rule, effects and advice, in the order of the first; equal ones are joined."""
    return join_by(join_equal(changes), lambda equal: (equal[0].rule, equal[0].effects, equal[0].advice))


def format_places(changes: Sequence[Change]) -> Iterator[tuple[str, str, str]]:
    """The object, the old and the new place of each change; an empty place if that side has no such object.

    A file is named only where the change before it has another one on the same side.
    """
    sources = ["", ""]
    for change in changes:
        sides = (
            (change.old_location, change.old_path),
            (None if change.is_removed_object else change.new_location, change.new_path),  # it is that of the list
        )
        places = ["", ""]
        for side, (location, path) in enumerate(sides):
            if location:
                source, position = short_source(location.source), format_position(location, path)
                places[side] = escape_line(position if source == sources[side] else f"{source}:{position}")
                sources[side] = source
        yield escape_line(change.object or "catalog"), places[0], places[1]


def join_places(places: Sequence[str]) -> str:
    """The places of equal changes in one line; after the first ones, the number of the others."""
    more = len(places) - MAX_PLACES
    return ", ".join(places[:MAX_PLACES]) + (f" and {more:,} more" if more > 0 else "")


def render(report: DiffReport, format: DiffFormat) -> str:  # the option's own name
    """Render `report` in `format`.

    Without changes the text is empty, except for documents (html, json, gitlab, junit, sarif).
    """
    if format is DiffFormat.ALLOW:
        return _render_allow(report)
    if format is DiffFormat.JSON:
        return json_text(_report_as_json(report))
    if format is DiffFormat.HTML:
        return _render_html(report)
    if format not in (DiffFormat.TEXT, DiffFormat.MARKDOWN):
        return _render_as_findings(report, Format(format.value))
    text: str = getattr(import_module("osbctl.reports.text_changes"), f"render_{format.value}")(report)
    return text


_FAIL_ON = {
    DiffFailOn.REFUSED: FailOn.ERROR,
    DiffFailOn.BREAKING: FailOn.ERROR,
    DiffFailOn.RISKY: FailOn.WARNING,
    DiffFailOn.ANY: FailOn.INFO,
    DiffFailOn.NEVER: FailOn.NEVER,
}


def _render_as_findings(report: DiffReport, format: Format) -> str:
    """Changes not accepted, as findings in `format`; or the reason why nothing was compared."""
    changes = [change for _, found in report.changes_by_level() for change in found]
    # GitHub shows ten annotations of a kind; the other formats keep each change, with its own fingerprint.
    entries = join_equal(changes) if format is Format.GITHUB else [[change] for change in changes]
    findings = (*report.errors, *(_changes_to_finding(equal, report) for equal in entries))
    if not findings and format is Format.GITHUB:
        return ""
    result = ValidationResult(f"{report.old}..{report.new}", findings, {})
    fail_on = FailOn.ERROR if report.errors else _FAIL_ON[report.fail_on]
    return render_findings(Report([result], report.load_rules, fail_on, report.root, report.color), format)


def _changes_to_finding(equal: Sequence[Change], report: DiffReport) -> Finding:
    """The finding for equal changes, at the place of the first."""
    change = equal[0]
    # If only refusals make the run fail, a breaking change must not look like a failure.
    is_lenient = report.fail_on is DiffFailOn.REFUSED and change.level is Level.BREAKING
    refused_by = tuple(effect.platform for effect in change.effects if effect.level is Level.REFUSED)
    effects = (f"{platforms}: {does}" for platforms, does in platforms_and_effects(change))
    names = f" ({join_places([each.object for each in equal])})" if len(equal) > 1 else ""
    message = f"{change.level.value}: {format_objects(equal)}{names}: {change.message}"
    return Finding(
        rule=change.rule,
        severity=Severity.WARNING if is_lenient else SEVERITIES[change.level],
        sentence=escape_line(join_sentences((message, *effects))),
        path=change.new_path,
        location=change.new_location or change.old_location,
        refused_by=refused_by,
        hint=escape_line(change.advice),
        identity=change.fingerprint,
    )


def _render_allow(report: DiffReport) -> str:
    """An entry of the allow file, as TOML, for each change that makes the run fail; the user adds the reason.

    Empty without such changes.
    """
    return "\n".join(
        f"# {change.level.value}: {escape_line(change.message)}\n"
        "[[allow]]\n"
        f"rule = {_toml_string(change.rule)}\n"
        f"object = {_toml_string(change.object)}\n"
        f"field = {_toml_string(change.field)}\n"
        f"level = {_toml_string(change.level)}\n"
        'reason = "say why this is accepted"\n'
        for change in report.changes
        if report.fail_on.is_failure(change)
    )


def _toml_string(text: str) -> str:
    # JSON strings are TOML strings, except that TOML requires DEL to be escaped and has no lone surrogates.
    return escape_text(json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False))


def _report_as_json(report: DiffReport) -> dict[str, Any]:
    """The JSON object of a report of changes (`schemas/diff-1.json`); that of many brokers has one for each."""
    ordered = sorted(report.changes, key=lambda change: -change.level.rank)
    changes = [_change_as_json(change, None) for change in ordered]
    whole: dict[str, Any] = {
        "version": JSON_VERSION,
        "old": report.old,
        "new": report.new,
        "same": report.same,
        "changes": changes + [_change_as_json(change, reason) for change, reason in report.accepted],
        "allow_problems": list(report.problems),
        "notes": list(report.notes),
        "summary": {
            **{level.value: sum(change.level is level for change in report.changes) for level in Level},
            "accepted": len(report.accepted),
        },
    }
    if report.new_catalogs:
        whole["new_catalogs"] = list(report.new_catalogs)
    if report.errors:
        whole["errors"] = [
            {
                "rule": finding.rule,
                "message": finding.message,
                "location": location_as_json(finding.location),
                "hint": finding.advice,
            }
            for finding in report.errors
        ]
    return whole


def _change_as_json(change: Change, accepted_reason: str | None) -> dict[str, Any]:
    return {
        "rule": change.rule,
        "level": change.level.value,
        "message": change.message,
        "object": change.object,
        "service": _object_as_json(change.service),
        "plan": _object_as_json(change.plan),
        "field": change.field,
        "old": change.old,
        "new": change.new,
        "old_path": pointer(change.old_path),
        "new_path": pointer(change.new_path),
        "old_location": location_as_json(change.old_location),
        "new_location": location_as_json(change.new_location),
        "effects": [
            {
                "platform": effect.platform.value,
                "level": effect.level.value,
                "does": effect.reaction,
                **({"reason": effect.reason} if effect.reason else {}),
            }
            for effect in change.effects
        ],
        "advice": change.advice,
        "fingerprint": change.fingerprint,
        "accepted": accepted_reason,
    }


def _object_as_json(ref: ObjectRef | None) -> dict[str, str] | None:
    return {"id": ref.id, "name": ref.name} if ref else None


def _render_html(report: DiffReport) -> str:
    """A page of changes with the new catalog; deterministic."""
    from osbctl.pages import Branding, Content, Part
    from osbctl.pages.render import render_page  # loads Jinja

    catalog = Catalog.of(report.catalog or {})
    part = Part(report.new, catalog, findings=report.errors, changes=report.changes, accepted=report.accepted)
    summary = f"{report.old} → {report.new}: {report.summary()}."
    return render_page(
        Content(
            [part],
            branding=Branding(report.names.heading),
            date=report.date,
            since=None if report.errors else summary,
            findings=bool(report.errors),
            notes=[summary, *report.notes] if report.errors else report.notes,
        )
    )


BROKER_FORMATS = (DiffFormat.TEXT, DiffFormat.MARKDOWN, DiffFormat.GITHUB, DiffFormat.ALLOW, DiffFormat.JSON)
"""Formats of a report of all brokers."""

_BROKER_COLUMNS = ("NAME", "RESULT", *(level.value.upper() for level in Level), "ACCEPTED")


@dataclass(frozen=True, slots=True)
class BrokerReport:
    """Report of one broker; `error` says why nothing was compared."""

    name: str
    report: DiffReport
    error: str = ""

    @property
    def exit_code(self) -> int:
        """3 with an error, 1 if a change makes the run fail, else 0."""
        return 3 if self.error else int(self.report.failed)

    def notes(self) -> list[str]:
        """Sentences with the broker's name, shown beside the report."""
        return [f"{self.name}: {sentence}" for sentence in ([self.error] if self.error else self.report.notes)]


def common_problems(all_brokers: Sequence[BrokerReport]) -> list[str]:
    """Problems of the allow file for all brokers: unused and expired entries.

    Empty if a broker was not compared (its report has no problems): an entry may be for its changes.
    """
    problems = [broker.report.problems for broker in all_brokers]
    return [text for text in (problems[0] if problems else ()) if all(text in other for other in problems)]


def render_all(all_brokers: Sequence[BrokerReport], format: DiffFormat) -> str:  # the option's name
    """Render the reports of all brokers in one of `BROKER_FORMATS`."""
    reports = {broker.name: replace(broker.report, problems=()) for broker in all_brokers}
    if format is DiffFormat.JSON:
        brokers = [
            {
                "name": broker.name,
                "error": broker.error or None,
                "report": None if broker.error else _report_as_json(reports[broker.name]),
            }
            for broker in all_brokers
        ]
        return json_text({"version": JSON_VERSION, "brokers": brokers})
    if format is DiffFormat.TEXT:  # the table has the others
        reports = {name: report for name, report in reports.items() if not report.errors}
    texts = [text for report in reports.values() if (text := render(report, format))]
    if format is DiffFormat.TEXT:
        rows = [(escape_line(broker.name), *_summary_cells(broker)) for broker in all_brokers]
        texts.append("\n".join(align_columns([_BROKER_COLUMNS, *rows])) + "\n")
    return "\n".join(texts) if format in (DiffFormat.TEXT, DiffFormat.MARKDOWN) else "".join(texts)


def _summary_cells(broker: BrokerReport) -> list[str]:
    report = broker.report
    if broker.error:
        return ["failed", *("-" for _ in _BROKER_COLUMNS[2:])]
    counts = [sum(change.level is level for change in report.changes) for level in Level]
    return ["same" if report.same else "drift", *map(str, counts), str(len(report.accepted))]
