"""`osbctl drift`: differences between a broker's catalog and what a platform has stored of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, NamedTuple

from osbctl.client.catalog_client import parse_catalog_response
from osbctl.commands import options as common
from osbctl.commands.connection import (
    BrokerConnection,
    RegisteredBrokerClient,
    print_catalog_location,
    read_source_or_broker,
    refuse_options,
    source_name,
)
from osbctl.commands.diff import ChangesDisplay, Comparison, add_refusals, plan_ids
from osbctl.commands.options import Argument, Option
from osbctl.commands.output import check_output, print_failure_count, print_note, show_progress, write_output
from osbctl.commands.settings import chosen_platforms, first_config
from osbctl.comparison.collector import add_locations
from osbctl.comparison.drift import find_drift, stored_catalog_notes
from osbctl.comparison.instances import check_plan_ids, read_used_plans
from osbctl.errors import (
    ConfigError,
    OsbctlError,
    SourceError,
    UsageError,
    error_sentence,
    run_contained,
    run_without_faulty,
)
from osbctl.findings import DocumentError
from osbctl.parallel import run_in_parallel
from osbctl.platforms import Platform
from osbctl.registry import open_registry, open_registry_of
from osbctl.registry.records import UnknownBrokerError, mask_client_secrets
from osbctl.reports.changes import DRIFT, DiffFormat
from osbctl.sources.document import ComposedDocument, Document
from osbctl.sources.exports import StoredAs, StoredCatalog, find_stored_catalog, read_documents
from osbctl.sources.read_bytes import Limits

if TYPE_CHECKING:
    from osbctl.registry.records import RegisteredBroker
    from osbctl.registry.store import Registry

_OPTIONS_FOR = {
    "registered brokers": ["credentials"],
    "brokers that are not registered": ["api_version", "at", "env", "stored_as", "stored_broker"],
}
_ADVICE = "name a catalog, or all files of a platform's export, in JSON or YAML"


class DriftSides(NamedTuple):
    """Options that locate the stored catalog and the broker's."""

    where: common.LocationOptions = common.LocationOptions()
    connection: BrokerConnection = BrokerConnection()
    stored_as: Annotated[
        StoredAs | None, Option("catalog, or a platform whose export it is.  [default: by its content]", metavar="KIND")
    ] = None
    stored_broker: Annotated[str, Option("Name or id of the broker, if the export holds several.", metavar="NAME")] = ""

    def read_sides(self, broker: str, stored: Sequence[str]) -> tuple[StoredCatalog, Document]:
        """Read the stored catalog and the broker's."""
        self.connection.check_stdin(broker, *stored)
        if stored:
            limits = Limits.of_option(self.connection.max_bytes)
            documents = [document for word in stored for document in read_documents(word, limits)]
            found = find_stored_catalog(documents, self.stored_as, self.stored_broker, self.where.at)
            print_catalog_location(found.document)
            return found, read_source_or_broker(self.connection, broker, self.where)

        try:
            with open_registry_of(broker, self.connection.database) as registry:
                registered = registry.broker(broker)
                return read_registered_sides(registry, registered, self.connection.make_client(is_only_broker=True))
        except UnknownBrokerError:
            if not ("://" in broker or os.path.exists(broker)):  # noqa: PTH110
                raise
            name = "at an address" if "://" in broker else repr(broker)  # an address may hold a password
            message = f"no registered broker {name}, and no STORED is named"
            raise UsageError(message, "osbctl drift BROKER STORED...") from None


def drift(
    broker: Annotated[
        str | None, Argument("BROKER", "Its address, registered name, or source.", complete="brokers")
    ] = None,
    stored: Annotated[
        tuple[str, ...],
        Argument("STORED...", "The platform's export, or a catalog.  [default: the one in the registry]"),
    ] = (),
    all_brokers: Annotated[bool, Option("Check every registered broker.", "--all")] = False,
    jobs: Annotated[int, Option("With --all: brokers at once.", "--jobs", "-j", metavar="N", min=1, max=64)] = 8,
    platforms: Annotated[
        tuple[Platform, ...],
        Option("Judge as this platform does; repeatable.  [default: that of STORED, else all]", "--platform", "-p"),
    ] = (),
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
    _check_arguments(broker, stored, all_brokers, sides)
    files = (broker, *stored, instances, sides.where.config, sides.where.env)
    check_output(display.output, [*files, display.allow, *sides.connection.files])
    used_plans = None if instances is None else read_used_plans(instances)
    config = first_config((broker or "-", *stored), sides.where.config)
    compared, display = frozenset(platforms), display._replace(names=DRIFT)
    if broker is None:
        return _report_all_brokers(sides, compared, used_plans, instances or "", display, jobs)
    try:
        stored_catalog, current = sides._replace(
            connection=sides.connection.with_configured_version(config)
        ).read_sides(broker, stored)
        if stored_catalog.platform is None:
            compared = chosen_platforms(platforms, config)
        comparison = compare_with_stored(stored_catalog, current, compared, used_plans, instances or "")
    except (DocumentError, SourceError) as error:
        raise _report_unreadable(error, broker, stored, display) from None
    report = display.make_report(comparison)
    code = display.print_report(report)
    if report.same and display.effective_format is DiffFormat.TEXT:  # the report itself is empty then
        print_note(f"{source_name(broker)}: same")
    return code


def _report_unreadable(error: OsbctlError, broker: str, stored: Sequence[str], display: ChangesDisplay) -> OsbctlError:
    """Report that a side cannot be read; return the error to raise, with exit code 3: nothing was compared."""
    new = source_name(broker)
    display.print_error_report(error, " ".join(map(source_name, stored)) or new, new)
    return SourceError(error.message, error.advice or _ADVICE) if isinstance(error, DocumentError) else error


def _check_arguments(broker: str | None, stored: Sequence[str], all_brokers: bool, sides: DriftSides) -> None:
    if broker is None and not all_brokers:
        raise UsageError("name a broker, or --all", "osbctl drift BROKER STORED...")
    if all_brokers and (broker is not None or sides.stored_as or sides.stored_broker):
        raise UsageError("--all covers every registered broker", "leave out names, files, and options about them")
    if sides.connection.user and not stored:
        raise UsageError("a registered broker has a user of its own", "leave --user out")
    kind = "registered brokers" if stored else "brokers that are not registered"
    refuse_options({**sides.where._asdict(), **sides.connection._asdict(), **sides._asdict()}, _OPTIONS_FOR[kind], kind)
    if broker is not None and stored:
        sides.connection.check_used(sides.where, broker, *stored)


def _report_all_brokers(
    sides: DriftSides,
    platforms: frozenset[Platform],
    used_plans: frozenset[str] | None,
    instances_file: str,
    display: ChangesDisplay,
    jobs: int,
) -> int:
    """Report the drift of all registered brokers; 3 if one could not be checked, else 1 if one report fails."""
    from osbctl.commands.brokers import resolve_broker_names, unknown_plan_notes
    from osbctl.reports.changes import BROKER_FORMATS, BrokerReport, common_problems, render_all

    if display.effective_format not in BROKER_FORMATS:
        raise UsageError(
            f"--all has no format {display.effective_format}", f"choose one of {', '.join(BROKER_FORMATS)}"
        )
    with open_registry(sides.connection.database) as registry:
        total = len(resolve_broker_names(registry, ()))
        print_note(*unknown_plan_notes(registry, used_plans, instances_file))
        client = sides.connection.make_client(is_only_broker=total == 1)
        compare = partial(compare_with_stored, platforms=platforms, used_plans=used_plans)
        results = run_in_parallel(
            lambda name: compare(*read_registered_sides(registry, registry.broker(name), client)),
            registry.names(),
            jobs,
        )
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


def compare_with_stored(
    stored: StoredCatalog,
    current: Document,
    platforms: frozenset[Platform],
    used_plans: frozenset[str] | None = None,
    instances_file: str = "",
) -> Comparison:
    """Compare a stored catalog with the current one of the broker.

    `platforms` empty: the one that stores it, else all. `used_plans` are the plans with instances, None if unknown;
    `instances_file` is where they are from, empty if it may list plans of other brokers.

    Raises UsageError (an export of another platform), SourceError (of another broker), ConfigError (other instances).
    """
    compared = _select_platforms(stored, platforms)
    sentences = stored_catalog_notes(stored, current.catalog)
    if used_plans and instances_file:
        plans = plan_ids(stored.document, current) | {row.plan or "" for row in stored.kept}
        sentences += check_plan_ids(used_plans, plans, instances_file)
    if stored.without_secrets:
        data = mask_client_secrets(current.data)
        if data is not current.data:
            sentences.append("secrets of dashboard clients are not stored, so they are not compared")
            current = ComposedDocument.of_part(current, (), data)
    changes = find_drift(stored, current.catalog, platforms=compared, used_plans=used_plans)
    if compared != {stored.platform}:
        stored = replace(stored, kept=(), taken_ids={})
    used = {row.plan or "" for row in stored.kept} if used_plans is None else used_plans
    old, kept = stored.document, stored.kept
    # The platform may refuse a field that it does not store, which no change shows.
    changes = add_refusals(
        old.data, current.data, changes, compared, is_stored=True, used=used, kept=kept, others=stored.taken_ids
    )
    return Comparison(old.name, current.name, add_locations(changes, old, current), sentences)


def read_registered_sides(
    registry: Registry, broker: RegisteredBroker, client: RegisteredBrokerClient
) -> tuple[StoredCatalog, Document]:
    """The stored catalog of a registered broker, as its platform keeps it, and its catalog now.

    Raises SourceError (also if a catalog has the password).
    """
    answer, sent = client.fetch(broker.row)
    document = parse_catalog_response(answer, client.options.max_bytes)
    client.check_no_password(answer.body, document.data, sent)
    client.check_no_password(broker.catalog, broker.data, sent)
    taken = registry.find_taken_ids(broker.row, document.data, broker)
    platform = broker.row.platform
    return StoredCatalog(broker.document, platform, kept=broker.kept, without_secrets=True, taken_ids=taken), document


def _select_platforms(stored: StoredCatalog, platforms: frozenset[Platform]) -> frozenset[Platform]:
    """The platforms to compare for. Raises UsageError: the export is of a platform that was not asked for."""
    if stored.shape and stored.platform and platforms and platforms != {stored.platform}:
        raise UsageError(f"this is an export of {stored.platform.label}", "leave --platform out")
    return platforms or frozenset(Platform if stored.platform is None else {stored.platform})
