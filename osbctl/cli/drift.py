"""`osbctl drift`: differences between a broker's catalog and what a platform has stored of it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from osbctl.cli import common
from osbctl.cli.connection import (
    BrokerConnection,
    print_catalog_location,
    read_source_or_broker,
    refuse_options,
    source_name,
)
from osbctl.cli.diff import ChangesDisplay
from osbctl.cli.output import print_failure_count, print_note, show_progress, write_output
from osbctl.containment import run_contained, run_without_faulty
from osbctl.errors import ConfigError, OsbctlError, SourceError, UsageError, error_sentence
from osbctl.findings import DocumentError
from osbctl.platforms import Platform
from osbctl.registry import location
from osbctl.registry.records import UnknownBrokerError
from osbctl.reports.changes import DRIFT, DiffFormat
from osbctl.sources.document import Document
from osbctl.sources.exports import StoredAs, StoredCatalog, find_stored_catalog, read_documents
from osbctl.sources.read_bytes import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTIONS_FOR = {
    "registered brokers": ["credentials"],
    "brokers that are not registered": ["api_version", "at", "env", "stored_as", "stored_broker"],
}
_ADVICE = "name a catalog, or all files of a platform's export, in JSON or YAML"


@dataclass(frozen=True, slots=True)
class DriftSides(BrokerConnection, common.LocationOptions):
    """Options that locate the stored catalog and the broker's."""

    stored_as: Annotated[
        StoredAs | None,
        Option(metavar="KIND", help="catalog, or a platform whose export it is.  [default: by its content]"),
    ] = None
    stored_broker: Annotated[
        str, Option(metavar="NAME", help="Name or id of the broker, if the export holds several.")
    ] = ""

    def read_sides(self, broker: str, stored: list[str]) -> tuple[StoredCatalog, Document]:
        """Read the stored catalog and the broker's."""
        self.check_stdin(broker, *stored)
        if stored:
            limits = Limits(bytes=self.max_bytes)
            documents = [document for word in stored for document in read_documents(word, limits)]
            found = find_stored_catalog(documents, self.stored_as, self.stored_broker, self.at)
            print_catalog_location(found.document)
            return found, read_source_or_broker(self, broker, self)
        from osbctl.tasks.drift import read_registered_sides

        try:
            location.find_registration(broker, self.database)
        except UnknownBrokerError:
            if not ("://" in broker or os.path.exists(broker)):  # noqa: PTH110
                raise
            name = "at an address" if "://" in broker else repr(broker)  # an address may hold a password
            message = f"no registered broker {name}, and no STORED is named"
            raise UsageError(message, "osbctl drift BROKER STORED...") from None
        with location.open_registry(self.database) as registry:
            return read_registered_sides(registry, broker, self.make_client(one_broker=True))


@common.expand_option_groups
def drift(
    broker: Annotated[str | None, Argument(metavar="BROKER", help="Its address, registered name, or source.")] = None,
    stored: Annotated[
        list[str] | None,
        Argument(metavar="STORED...", help="The platform's export, or a catalog.  [default: the one in the registry]"),
    ] = None,
    all_brokers: Annotated[bool, Option("--all", help="Check every registered broker.")] = False,
    jobs: Annotated[int, Option("--jobs", "-j", metavar="N", min=1, max=64, help="With --all: brokers at once.")] = 8,
    platforms: Annotated[
        list[Platform] | None,
        Option(
            "--platform", "-p", help="Judge as this platform does; repeatable.  [default: that of STORED, else all]"
        ),
    ] = None,
    instances: common.Instances = None,
    *,
    display: ChangesDisplay,
    sides: DriftSides,
) -> int:
    """Compare what a platform has stored of a broker with the broker's current catalog.

    Lists the changes that the platform would meet at its next refresh. Levels, formats and exit codes are those of
    osbctl diff. The exit code is 3 if a side cannot be read: the broker does not answer, or not with a catalog, or the
    export is empty, incomplete or that of another broker; with --all, also if none is registered. Fields that the
    platform does not store are not compared; standard error lists them. Without STORED, BROKER is a name in the
    registry.

    \b
    osbctl drift https://broker.example.com services.json plans.json
    osbctl drift catalog.yaml classes-and-plans.yaml --stored-broker my-broker
    osbctl drift data
    osbctl drift --all --format json -o drift.json
    """
    from osbctl.comparison.instances import read_used_plans
    from osbctl.tasks.drift import compare_with_stored
    from osbctl.tasks.options import chosen_platforms, first_config
    from osbctl.tasks.output_checks import check_output

    _check_arguments(broker, stored, all_brokers, sides)
    files = (broker, *(stored or ()), instances, sides.config, sides.env)
    check_output(display.output, [*files, display.allow, *sides.files])
    used_plans = None if instances is None else read_used_plans(instances)
    config = first_config((broker or "-", *(stored or ())), sides.config)
    compared, display = frozenset(platforms or ()), replace(display, words=DRIFT)
    if broker is None:
        return _report_all_brokers(sides, compared, used_plans, instances or "", display, jobs)
    try:
        stored_catalog, current = sides.with_configured_version(config).read_sides(broker, stored or [])
        if stored_catalog.platform is None:
            compared = chosen_platforms(platforms, config)
        comparison = compare_with_stored(stored_catalog, current, compared, used_plans, instances or "")
    except (DocumentError, SourceError) as error:
        raise _report_unreadable(error, broker, stored or [], display) from None
    report = display.make_report(comparison)
    code = display.print_report(report)
    if report.same and display.effective_format is DiffFormat.TEXT:  # the report itself is empty then
        print_note(f"{source_name(broker)}: same")
    return code


def _report_unreadable(error: OsbctlError, broker: str, stored: list[str], display: ChangesDisplay) -> OsbctlError:
    """Report that a side cannot be read; return the error to raise, with exit code 3: nothing was compared."""
    new = source_name(broker)
    display.print_error_report(error, " ".join(map(source_name, stored)) or new, new)
    return SourceError(error.message, error.advice or _ADVICE) if isinstance(error, DocumentError) else error


def _check_arguments(broker: str | None, stored: list[str] | None, all_brokers: bool, sides: DriftSides) -> None:
    if broker is None and not all_brokers:
        raise UsageError("name a broker, or --all", "osbctl drift BROKER STORED...")
    if all_brokers and (broker is not None or sides.stored_as or sides.stored_broker):
        raise UsageError("--all covers every registered broker", "leave out names, files, and options about them")
    if sides.user and not stored:
        raise UsageError("a registered broker has a user of its own", "leave --user out")
    kind = "registered brokers" if stored else "brokers that are not registered"
    refuse_options(sides, _OPTIONS_FOR[kind], kind)
    if broker is not None and stored:
        sides.check_used(sides, broker, *stored)


def _report_all_brokers(
    sides: DriftSides,
    platforms: frozenset[Platform],
    used_plans: frozenset[str] | None,
    instances_file: str,
    display: ChangesDisplay,
    jobs: int,
) -> int:
    """Report the drift of all registered brokers; 3 if one could not be checked, else 1 if one report fails."""
    from osbctl.reports.changes import BROKER_FORMATS, BrokerReport, common_problems, render_all
    from osbctl.tasks.drift import compare_registered_brokers
    from osbctl.tasks.refresh import resolve_broker_names, unknown_plan_notes

    if display.effective_format not in BROKER_FORMATS:
        raise UsageError(
            f"--all has no format {display.effective_format}", f"choose one of {', '.join(BROKER_FORMATS)}"
        )
    with location.open_registry(sides.database) as registry:
        total = len(resolve_broker_names(registry, ()))
        print_note(*unknown_plan_notes(registry, used_plans, instances_file))
        client = sides.make_client(one_broker=total == 1)
        results = compare_registered_brokers(registry, client, platforms, used_plans, jobs)
        checked = sorted(show_progress(results, total, "checking"), key=itemgetter(0))

    def report_failure(name: str, found: OsbctlError) -> BrokerReport:
        error = error_sentence(found)
        return BrokerReport(name, display.make_error_report(SourceError(f"{name}: {error}"), name, name), error)

    def render(some: Sequence[BrokerReport]) -> tuple[str, list[str], int]:
        """The report, notes beside it, and the exit code."""
        notes = [text for report in some for text in report.notes()]
        return render_all(some, display.effective_format), notes, max((one.exit_code for one in some), default=0)

    reports = []
    for name, found in checked:
        report = found if isinstance(found, OsbctlError) else run_contained(display.make_report, found)
        if isinstance(report, ConfigError):
            raise report
        reports.append(report_failure(name, report) if isinstance(report, OsbctlError) else BrokerReport(name, report))
    (text, notes, code), faulty = run_without_faulty(render, reports)
    if faulty:
        errors = {report.name: report_failure(report.name, error) for report, error in faulty}
        reports = [errors.get(report.name, report) for report in reports]
        text, notes, code = render(reports)
    write_output(text, display.output)
    print_note(*common_problems(reports), *notes)
    print_failure_count(sum(bool(report.error) for report in reports), total, "brokers could not be checked")
    return code
