"""`osbctl drift --all`: every registered broker, several at a time; one that is down does not stop the rest."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from osbctl.changes import Level
from osbctl.cli.drift_sides import Found, stored_in_registry
from osbctl.cli.output import note, put
from osbctl.errors import SourceError, UsageError
from osbctl.reports.changes import DiffFormat, render
from osbctl.text import cells, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from osbctl.cli.drift_sides import Sides
    from osbctl.registry.store import Registry
    from osbctl.reports.changes import DiffReport

_MERGED = (DiffFormat.GITLAB, DiffFormat.JUNIT, DiffFormat.SARIF)
"""The formats that are one document, whatever the number of brokers."""

COLUMNS = ("NAME", "RESULT", *(level.value.upper() for level in Level), "ACCEPTED")


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one broker: a report, or the reason why there is none."""

    name: str
    report: DiffReport | None
    error: str = ""


def drift_all(
    sides: Sides,
    report: Callable[[Found], DiffReport],
    broker: str | None,
    format: DiffFormat,  # the option's own name
    output: str | None,
    jobs: int,
) -> int:
    """Check every registered broker, put out one report of all, and return the exit code.

    3 where a broker could not be reached or understood, else 1 where the report of one fails.

    Raises:
        UsageError: a broker is named, too.
        RegistryError: the database cannot be used.
    """
    from osbctl.cli.brokers.options import open_registry

    if broker is not None or sides.stored_as or sides.stored_broker:
        raise UsageError("--all covers every registered broker", "leave out names, files, and what says of them")
    with open_registry(sides.reaching.database) as registry:
        checked = sorted(_check(registry, sides, report, jobs), key=lambda one: one.name)
    checked, problems = _without_problems(checked)
    put(_render(checked, format, report(Found("stored", "brokers", [], []))), output)
    for sentence in (*problems, *(told for one in checked for told in _told(one))):
        note(sentence)
    if any(one.error for one in checked):
        return 3
    return int(any(one.report.failed for one in checked if one.report))


def _check(registry: Registry, sides: Sides, report: Callable[[Found], DiffReport], jobs: int) -> Iterator[Checked]:
    from osbctl.cli.progress import progress
    from osbctl.parallel import in_parallel
    from osbctl.registry.errors import UnknownBrokerError

    names = registry.names()
    reach = sides.reaching.reach(single=len(names) == 1)

    def check(name: str) -> Checked:
        try:
            stored = registry.broker(name)
            answer = sides.reaching.registered(stored.row, reach)
        except (SourceError, UnknownBrokerError) as error:  # the latter: removed since the names were read
            return Checked(name, None, error.message + (f" ({error.advice})" if error.advice else ""))
        return Checked(name, report(sides.compare(stored_in_registry(stored), answer)))

    for _, checked in progress(in_parallel(check, names, jobs), len(names), "checking"):
        yield checked


def _without_problems(checked: Sequence[Checked]) -> tuple[list[Checked], list[str]]:
    """The same without what is wrong with the allow file, and that: an entry that no broker needs, or that expired."""
    reports = [one.report for one in checked if one.report]
    common = [text for text in (reports[0].problems if reports else ()) if all(text in r.problems for r in reports)]
    cleaned = [replace(one, report=replace(one.report, problems=()) if one.report else None) for one in checked]
    return cleaned, common


def _told(one: Checked) -> list[str]:
    sentences = [one.error] if one.error else one.report.notes if one.report else ()
    return [f"{one.name}: {sentence}" for sentence in sentences]


def _render(checked: Sequence[Checked], format: DiffFormat, empty: DiffReport) -> str:
    reports = [one.report for one in checked if one.report]
    if format is DiffFormat.JSON:
        brokers = [{"name": one.name, "error": one.error or None, "report": _as_json(one.report)} for one in checked]
        return json.dumps({"version": 1, "brokers": brokers}, indent=2) + "\n"
    if format in _MERGED:
        return render(_merged(checked, empty), format)
    told = [text for report in reports if (text := render(report, format))]
    if format is DiffFormat.TEXT:
        told.append("\n".join(_table(checked)) + "\n")
    return "\n".join(told) if format in (DiffFormat.TEXT, DiffFormat.MARKDOWN) else "".join(told)


def _as_json(report: DiffReport | None) -> object:
    return json.loads(render(report, DiffFormat.JSON)) if report else None


def _merged(checked: Sequence[Checked], empty: DiffReport) -> DiffReport:
    changes = [
        replace(change, message=f"{one.name}: {change.message}")
        for one in checked
        for change in (one.report.changes if one.report else ())
    ]
    return replace(empty, changes=changes)


def _table(checked: Sequence[Checked]) -> Iterator[str]:
    """The brokers as a table of columns, which a program can split at blanks."""
    rows = [COLUMNS, *map(_row, checked)]
    widths = [max(cells(row[column]) for row in rows) for column in range(len(COLUMNS))]
    for row in rows:
        padded = (cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip()


def _row(one: Checked) -> tuple[str, ...]:
    if one.report is None:
        return (safe(one.name), "failed", *("-" for _ in COLUMNS[2:]))
    counts = (sum(change.level is level for change in one.report.changes) for level in Level)
    result = "same" if one.report.same else "drift"
    return (safe(one.name), result, *(f"{count}" for count in counts), f"{len(one.report.accepted)}")
