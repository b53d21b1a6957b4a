"""`osbctl drift`: the broker's catalog against what a platform has stored of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from osbctl.cli import options as common
from osbctl.cli.changes_report import ChangesDisplay
from osbctl.cli.connection import shown
from osbctl.cli.drift_sides import Sides
from osbctl.cli.output import note, put
from osbctl.cli.spread import spread
from osbctl.errors import DocumentError, SourceError, UsageError
from osbctl.platforms import Platform
from osbctl.registry import location
from osbctl.reports.changes import DRIFT

if TYPE_CHECKING:
    from osbctl.tasks.drift import DriftView


_WANTED = "a side is a catalog or a platform's export, whole: JSON or YAML, in one file or several"


@spread
def drift(
    broker: Annotated[
        str | None, Argument(metavar="BROKER", help="The broker: its address, its name in the registry, or a source.")
    ] = None,
    stored: Annotated[
        list[str] | None,
        Argument(
            metavar="STORED...",
            help="What the platform has: the files of its export, a catalog, or a name in the registry.  "
            "[default: what the registry has of BROKER]",
            show_default=False,
        ),
    ] = None,
    all_brokers: Annotated[bool, Option("--all", help="Every registered broker.")] = False,
    jobs: Annotated[int, Option("--jobs", "-j", min=1, max=64, help="Brokers to ask at once, with --all.")] = 8,
    platforms: Annotated[
        list[Platform] | None,
        Option(
            "--platform",
            "-p",
            help="Look at it as this platform does; repeatable.  [default: the one that has it, else all]",
        ),
    ] = None,
    instances: common.Instances = None,
    *,
    display: ChangesDisplay,
    sides: Sides,
) -> int:
    """Compare what a platform has stored of a broker with what the broker says.

    The changes are those that the platform would meet at its next refresh; levels, formats and exit codes are those of
    osbctl diff, and 3 where a side cannot be read: a broker that does not answer, an export that is empty, incomplete
    or another broker's. What the platform does not store is named on standard error, not compared. A file that exists
    wins over a name in the registry.

    \b
    osbctl drift https://broker.example.com services.json plans.json
    osbctl drift catalog.yaml classes-and-plans.yaml --stored-broker my-broker
    osbctl drift data
    osbctl drift --all --format json -o drift.json
    """
    from osbctl.comparison.instances import read_instances
    from osbctl.tasks.drift import DriftView, compare_with_stored

    used = read_instances(instances) if instances else None
    view = DriftView(frozenset(platforms or ()), used, "" if all_brokers else instances or "")
    display = replace(display, words=DRIFT)

    if all_brokers:
        if broker is not None or sides.stored_as or sides.stored_broker:
            raise UsageError("--all covers every registered broker", "leave out names, files, and options about them")
        return _all(sides, view, display, jobs)
    try:
        found = compare_with_stored(*sides.find(broker, stored or []), view)
    except (DocumentError, SourceError) as error:
        old, new = " ".join(map(shown, stored or ())), shown(broker or "")
        display.put_unread(error, old or new, new)
        if isinstance(error, DocumentError):  # nothing was compared: that is no drift
            raise SourceError(error.message, error.advice or _WANTED) from None
        raise
    return display.put(display.report(found))


def _all(sides: Sides, view: DriftView, display: ChangesDisplay, jobs: int) -> int:
    """3 where a broker could not be reached or understood, else 1 where the report of one fails."""
    from osbctl.cli.output import progress
    from osbctl.reports.changes.brokers import BrokerReport, notes_of, render_all, without_problems
    from osbctl.tasks.drift import check_registered

    sides.refuse_user()
    with location.open_registry(sides.database) as registry:
        total = len(registry.names())
        results = check_registered(registry, sides.reach(single=total == 1), view, jobs)
        checked = sorted(progress(results, total, "checking"), key=lambda one: one.name)
    reports = [BrokerReport(one.name, display.report(one.drift) if one.drift else None, one.error) for one in checked]
    reports, problems = without_problems(reports)
    put(render_all(reports, display.effective_format, display.empty("stored", "brokers")), display.output)
    for sentence in (*problems, *(text for one in reports for text in notes_of(one))):
        note(sentence)
    if any(one.error for one in reports):
        return 3
    return int(any(one.report.failed for one in reports if one.report))
