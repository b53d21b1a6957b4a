"""The drift of every registered broker as one report."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from osbctl.changes import Level
from osbctl.pages.content import BrokerLine, Overview
from osbctl.reports.changes import DiffFormat, DiffReport, render
from osbctl.reports.changes.json_changes import as_json
from osbctl.text import AnsiStyle, display_width, escape_line, json_text, plural

_MERGED = (DiffFormat.GITLAB, DiffFormat.JUNIT, DiffFormat.SARIF)
"""Formats with one document for all brokers."""

_STYLES = {"failed": "error", "same": "dim", "accepted": "dim"}

COLUMNS = ("NAME", "RESULT", *(level.value.upper() for level in Level), "ACCEPTED")


@dataclass(frozen=True, slots=True)
class BrokerReport:
    """Report of one broker, or the error why there is none."""

    name: str
    report: DiffReport | None
    error: str = ""

    @property
    def exit_code(self) -> int:
        """3 without a report, 1 if a change makes the run fail, else 0."""
        return int(self.report.failed) if self.report else 3

    def notes(self) -> list[str]:
        """Sentences with the broker's name, shown beside the report."""
        return [f"{self.name}: {sentence}" for sentence in (self.report.notes if self.report else [self.error])]


def common_problems(checked: Sequence[BrokerReport]) -> list[str]:
    """Problems of the allow file for all brokers: unused and expired entries."""
    problems = [one.report.problems for one in checked if one.report]
    return [text for text in (problems[0] if problems else ()) if all(text in other for other in problems)]


def render_all(checked: Sequence[BrokerReport], format: DiffFormat, empty: DiffReport) -> str:  # the option's name
    """Render one report of all brokers; `empty` is a report without changes, with common settings."""
    if format in _MERGED:
        return render(_merged(checked, empty), format)
    if format is DiffFormat.HTML:
        return _as_page(checked, empty)
    reports = {one.name: replace(one.report, problems=()) for one in checked if one.report}
    if format is DiffFormat.JSON:
        return _as_json(checked, reports)
    texts = [text for report in reports.values() if (text := render(report, format))]
    if format is DiffFormat.TEXT:
        texts.append("\n".join(_table(checked, AnsiStyle(empty.color))) + "\n")
    return "\n".join(texts) if format in (DiffFormat.TEXT, DiffFormat.MARKDOWN) else "".join(texts)


def _as_page(checked: Sequence[BrokerReport], empty: DiffReport) -> str:
    from osbctl.reports.html_report import render_overview

    ordered = sorted(checked, key=_gravity)
    lines = [_line(one) for one in ordered]
    results = Counter(line.result for line in lines)
    counts = ", ".join(f"{results[word]} {word}" for word in ("failed", "drift", "same") if word in results)
    overview = Overview(COLUMNS, lines, f"{plural(len(lines), 'broker')}: {counts}.")
    return render_overview([(one.name, one.report) for one in ordered if one.report], overview, empty)


def _as_json(checked: Sequence[BrokerReport], reports: Mapping[str, DiffReport]) -> str:
    brokers = [
        {
            "name": one.name,
            "error": one.error or None,
            "report": as_json(reports[one.name]) if one.name in reports else None,
        }
        for one in checked
    ]
    return json_text({"version": 1, "brokers": brokers})


def _merged(checked: Sequence[BrokerReport], empty: DiffReport) -> DiffReport:
    changes = [
        replace(change, message=f"{one.name}: {change.message}")
        for one in checked
        for change in (one.report.changes if one.report else ())
    ]
    return replace(empty, changes=changes)


def _table(checked: Sequence[BrokerReport], paint: AnsiStyle) -> Iterator[str]:
    """The brokers as a table; programs can split its rows at blanks."""
    none = ["-"] * (len(COLUMNS) - 2)
    lines = list(map(_line, checked))
    rows = [COLUMNS, *((one.broker, one.result, *([str(n) for _, n in one.counts] or none)) for one in lines)]
    styles = ["bold", *(_STYLES.get(one.kind, one.kind) for one in lines)]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    for row, style in zip(rows, styles, strict=True):
        padded = [cell + " " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True)]
        padded[1] = paint(padded[1], style)
        yield "  ".join(padded).rstrip()


def _gravity(one: BrokerReport) -> tuple[int, str]:
    """Sort key of a broker in an overview: failures first, then by the most severe change."""
    levels = [change.level.rank for change in one.report.changes] if one.report else [99]
    return -max(levels, default=0 if one.report and one.report.accepted else -1), one.name


def _line(one: BrokerReport) -> BrokerLine:
    name, report = escape_line(one.name), one.report
    if report is None:
        return BrokerLine(name, "failed", "failed", reason=one.error)
    counts = [(level.value, sum(change.level is level for change in report.changes)) for level in Level]
    counts.append(("accepted", len(report.accepted)))
    worst = next((level for level, number in counts if number), "same")
    return BrokerLine(name, "same" if report.same else "drift", worst, counts)
