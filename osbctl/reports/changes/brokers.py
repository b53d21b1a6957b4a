"""The drift of every registered broker as one report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from osbctl.changes import Level
from osbctl.reports.changes import DiffFormat, DiffReport, render
from osbctl.reports.changes.json_changes import report_as_json
from osbctl.text import align_columns, escape_line, json_text

FORMATS = (DiffFormat.TEXT, DiffFormat.MARKDOWN, DiffFormat.GITHUB, DiffFormat.ALLOW, DiffFormat.JSON)
"""Formats of a report of all brokers."""

_COLUMNS = ("NAME", "RESULT", *(level.value.upper() for level in Level), "ACCEPTED")


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
    """Render the reports of all brokers in one of `FORMATS`."""
    reports = {broker.name: replace(broker.report, problems=()) for broker in all_brokers}
    if format is DiffFormat.JSON:
        brokers = [
            {
                "name": broker.name,
                "error": broker.error or None,
                "report": None if broker.error else report_as_json(reports[broker.name]),
            }
            for broker in all_brokers
        ]
        return json_text({"version": 1, "brokers": brokers})
    if format is DiffFormat.TEXT:  # the table has the others
        reports = {name: report for name, report in reports.items() if not report.errors}
    texts = [text for report in reports.values() if (text := render(report, format))]
    if format is DiffFormat.TEXT:
        rows = [(escape_line(broker.name), *_summary_cells(broker)) for broker in all_brokers]
        texts.append("\n".join(align_columns([_COLUMNS, *rows])) + "\n")
    return "\n".join(texts) if format in (DiffFormat.TEXT, DiffFormat.MARKDOWN) else "".join(texts)


def _summary_cells(broker: BrokerReport) -> list[str]:
    report = broker.report
    if broker.error:
        return ["failed", *("-" for _ in _COLUMNS[2:])]
    counts = [sum(change.level is level for change in report.changes) for level in Level]
    return ["same" if report.same else "drift", *map(str, counts), str(len(report.accepted))]
