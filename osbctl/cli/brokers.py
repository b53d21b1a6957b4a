"""`osbctl brokers`: a database of registered brokers with their catalogs, as a platform has one."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from osbctl.cli import common
from osbctl.cli.connection import NetworkOptions, User
from osbctl.cli.output import (
    print_error,
    print_failure_count,
    print_note,
    show_progress,
    wrap_width,
    write_json,
    write_lines,
    write_output,
)
from osbctl.cli.passwords import PasswordFinder
from osbctl.containment import run_contained, run_without_faulty
from osbctl.errors import OsbctlError
from osbctl.platforms import DEFAULT_PLATFORM, Platform
from osbctl.registry import location
from osbctl.registry.records import ActionKind, BrokerRow, Refresh, RefreshOutcome, Registration
from osbctl.registry.text import broker_lines, broker_table, refresh_lines
from osbctl.text import escape_line, json_text

if TYPE_CHECKING:
    from osbctl.tasks.refresh import Policy

brokers = typer.Typer(
    help="""Register brokers and store their catalogs, as a platform does.

The database is an SQLite file in your data folder, or PostgreSQL for a team. Passwords are never stored.""",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@brokers.command("add")
@common.expand_option_groups
def add(
    name: common.BrokerName,
    url: Annotated[str, Argument(metavar="URL", help="Base address of the broker.", show_default=False)],
    platform: Annotated[Platform, Option("--as", help="Platform to act as.")] = DEFAULT_PLATFORM,
    user: User = None,
    password_stdin: common.BrokerPasswordStdin = False,
    credentials: common.Credentials = None,
    api_version: Annotated[common.ApiVersion, Option(help="API version of requests.")] = common.ApiVersion.V2_14,
    database: common.Database = None,
    *,
    network: NetworkOptions,
) -> int:
    """Register a broker, and store its catalog.

    The catalog is fetched and validated. If the platform would refuse it, nothing is stored, and the exit code is 1.
    What the platform accepts but the specification forbids is a warning.

    The password is never stored. It comes from standard input, OSBCTL_BROKER_<NAME>_PASSWORD (the name in capitals,
    other characters as _), credential records, or a prompt.

    \b
    osbctl brokers add data https://broker.example.com --user platform
    osbctl brokers add data https://broker.example.com --as korifi --user platform
    """
    from osbctl.client.catalog_client import parse_base_url
    from osbctl.credentials import check_identity
    from osbctl.tasks.registered_broker_client import RegisteredBrokerClient

    address, url_user = parse_base_url(url)
    if user or url_user:
        check_identity(user or url_user)
    with location.open_registry(database, create=True) as registry:
        from osbctl.tasks.refresh import register_broker

        registration = Registration(name, address, user or url_user, api_version.value, platform)
        registry.check_name_available(name)
        finder = PasswordFinder(stdin=password_stdin, credentials=credentials, one_broker=True, address_typed=True)
        client = RegisteredBrokerClient(network.connection_options(), finder.find_password)
        refresh = register_broker(registry, registration, client)
    write_lines(refresh_lines(registration.name, refresh))
    return int(refresh.outcome is RefreshOutcome.REFUSED)


@brokers.command("list")
def list_brokers(
    format: common.TextOrJson = "text",  # the option's own name
    database: common.Database = None,
) -> int:
    """List the registered brokers, as a table or as JSON.

    RESULT is that of the last refresh. KEPT PLANS counts plans that the platform keeps though the broker no longer
    offers them. At a terminal, addresses are cut to its width; osbctl brokers show has all.

    \b
    osbctl brokers list
    osbctl brokers list --format json | jq -r '.brokers[].name'
    """
    with location.open_registry(database) as registry:
        found = registry.brokers()

    def render(rows: list[BrokerRow]) -> str:
        if format == "json":
            return json_text({"version": 1, "brokers": [row.json for row in rows]})
        return "\n".join(broker_table(rows, wrap_width(sys.stdout))) + "\n"

    text, faulty = run_without_faulty(render, [row for _, row in found if not isinstance(row, OsbctlError)])
    write_output(text)
    errors = [(name, row) for name, row in found if isinstance(row, OsbctlError)]
    errors += [(row.name, error) for row, error in faulty]
    codes = [print_error(error, name) for name, error in errors]
    print_failure_count(len(codes), len(found), "brokers could not be read")
    return max(codes, default=0)


@brokers.command("show")
def show(
    name: common.BrokerName,
    format: common.TextOrJson = "text",  # the option's own name
    version: Annotated[int, Option(min=-1, max=0, metavar="-1", help="The catalog before the current one.")] = 0,
    database: common.Database = None,
) -> int:
    """Show a registered broker in full, or print its stored catalog for a pipe.

    As text: the registration, the catalog, and what the platform keeps although it is gone. As JSON: the catalog.

    \b
    osbctl brokers show data
    osbctl brokers show data --format json | osbctl validate -
    osbctl brokers show data -f json --version -1 | osbctl diff - catalog.yaml
    """
    with location.open_registry(database) as registry:
        broker = registry.broker(name, previous=version < 0)
    if format == "json":
        write_json(broker.data)
    else:
        write_lines(broker_lines(broker))
    return 0


@brokers.command("refresh")
@common.expand_option_groups
def refresh(
    names: Annotated[list[str] | None, Argument(metavar="[NAME...]", help="The brokers.  [default: all]")] = None,
    instances: common.Instances = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Print what would happen, and store nothing.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Report only brokers refused or not fetched.")] = False,
    jobs: Annotated[int, Option("--jobs", "-j", metavar="N", min=1, max=64, help="Brokers to contact at once.")] = 8,
    password_stdin: common.BrokerPasswordStdin = False,
    credentials: common.Credentials = None,
    database: common.Database = None,
    *,
    network: NetworkOptions,
) -> int:
    """Fetch catalogs again, and update the stored ones as the platform would.

    Prints and stores what the platform creates, updates, keeps and deletes. If a catalog is refused, the stored one
    stays, except on a platform that saves everything before the first fault. What the platform accepts but the
    specification forbids is a warning. The exit code is 3 if a broker could not be reached, sent no catalog, or
    none is registered; else 1 if a catalog was refused.

    \b
    osbctl brokers refresh
    osbctl brokers refresh data --instances plans.txt --dry-run
    """
    from osbctl.comparison.instances import read_used_plans

    with location.open_registry(database) as registry:
        from osbctl.tasks.refresh import Policy, refresh_brokers, resolve_broker_names, unknown_plan_notes
        from osbctl.tasks.registered_broker_client import RegisteredBrokerClient

        chosen = resolve_broker_names(registry, names or ())
        used_plans = None if instances is None else read_used_plans(instances)
        print_note(*unknown_plan_notes(registry, used_plans, instances or ""))
        finder = PasswordFinder(stdin=password_stdin, credentials=credentials, one_broker=len(chosen) == 1)
        client = RegisteredBrokerClient(network.connection_options(), finder.find_password)
        policy = Policy(used_plans, dry_run)
        results = show_progress(refresh_brokers(registry, chosen, client, policy, jobs), len(chosen), "refreshing")
        return _print_results(results, len(chosen), policy, quiet)


@brokers.command("remove")
def remove(name: common.BrokerName, database: common.Database = None) -> int:
    """Forget a registered broker.

    Its stored catalogs are deleted. The broker itself is not contacted.

    \b
    osbctl brokers remove data
    """
    with location.open_registry(database) as registry:
        registry.remove(name)
    write_output(f"{escape_line(name)}: removed\n")
    return 0


def _print_results(results: Iterable[tuple[str, Refresh]], total: int, policy: Policy, quiet: bool) -> int:
    """Print the results, and return the exit code."""
    counts: Counter[RefreshOutcome] = Counter()
    deleted = 0
    from osbctl.tasks.refresh import failed_refresh

    def format_refresh(name: str, result: Refresh) -> list[str]:
        return [*refresh_lines(name, result, policy.dry_run)]

    for name, refreshed in results:
        result, lines = refreshed, run_contained(format_refresh, name, refreshed)
        if isinstance(lines, OsbctlError):
            result = failed_refresh(name, lines, "not-shown")
            lines = format_refresh(name, result)
        counts[result.outcome] += 1
        deleted += result.action_counts().get(ActionKind.DELETED, 0)
        if not quiet or result.outcome in (RefreshOutcome.REFUSED, RefreshOutcome.FAILED):
            write_lines(lines)
    if not quiet:
        _print_summary(counts, total, certain=not deleted or policy.used_plans is not None)
    return 3 if counts[RefreshOutcome.FAILED] else int(counts[RefreshOutcome.REFUSED] > 0)


def _print_summary(counts: Counter[RefreshOutcome], total: int, *, certain: bool) -> None:
    """Print how many brokers had each outcome; if not `certain`, that plans were deleted on an assumption."""
    if not certain:
        print_note("plans were deleted as if they had no instances: name those that have some with --instances")
    if total != 1:
        outcomes = [f"{counts[outcome]:,} {outcome}" for outcome in RefreshOutcome if counts[outcome]]
        print_note(f"{total:,} brokers: {', '.join(outcomes)}")
