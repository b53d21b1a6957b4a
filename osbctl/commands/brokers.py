"""Register brokers and store their catalogs, as a platform does.

The database is an SQLite file in your data folder, or PostgreSQL for a team. Passwords are never stored.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from osbctl.commands import options as common
from osbctl.commands.connection import NetworkOptions, RegisteredBrokerClient, User
from osbctl.commands.options import Argument, Option
from osbctl.commands.output import (
    print_error,
    print_failure_count,
    print_note,
    show_progress,
    wrap_width,
    write_json,
    write_lines,
    write_output,
)
from osbctl.commands.passwords import PasswordFinder
from osbctl.credentials import check_identity
from osbctl.errors import (
    OsbctlError,
    RegistryError,
    SourceError,
    UsageError,
    error_sentence,
    run_contained,
    run_without_faulty,
)
from osbctl.parallel import run_in_parallel
from osbctl.platforms import DEFAULT_PLATFORM, Platform
from osbctl.platforms.updates import notes_on_changes
from osbctl.registry import open_registry
from osbctl.registry.reconcile import find_registration_refusals, reconcile
from osbctl.registry.records import (
    ActionKind,
    BrokerCatalog,
    BrokerRow,
    OutdatedError,
    Refresh,
    RefreshOutcome,
    RegisteredBroker,
    Registration,
    Remark,
    UnknownBrokerError,
    utc_timestamp,
)
from osbctl.registry.text import broker_lines, broker_table, refresh_lines
from osbctl.text import escape_line, json_text

if TYPE_CHECKING:
    from osbctl.registry.store import Registry


def add(
    name: Annotated[str, Argument("NAME", "The broker's name.")],
    url: Annotated[str, Argument("URL", "Base address of the broker.")],
    platform: Annotated[Platform, Option("Platform to act as.", "--as")] = DEFAULT_PLATFORM,
    user: User = None,
    password_stdin: common.BrokerPasswordStdin = False,
    credentials: common.Credentials = None,
    api_version: Annotated[common.ApiVersion, Option("API version of requests.")] = common.ApiVersion.V2_14,
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

    address, url_user = parse_base_url(url)
    if user or url_user:
        check_identity(user or url_user)
    with open_registry(database, create=True) as registry:
        registration = Registration(name, address, user or url_user, api_version.value, platform)
        registry.check_name_available(name)
        finder = PasswordFinder(stdin=password_stdin, credentials=credentials, is_only_broker=True, address_typed=True)
        client = RegisteredBrokerClient(network.connection_options(), finder.find_password)
        refresh = register_broker(registry, registration, client)
    write_lines(refresh_lines(registration.name, refresh, is_new=True))
    return int(refresh.outcome is RefreshOutcome.REFUSED)


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
    with open_registry(database) as registry:
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


def show(
    name: common.BrokerName,
    format: common.TextOrJson = "text",  # the option's own name
    version: Annotated[int, Option("The catalog before the current one.", min=-1, max=0, metavar="-1")] = 0,
    database: common.Database = None,
) -> int:
    """Show a registered broker in full, or print its stored catalog for a pipe.

    As text: the registration, the catalog, and what the platform keeps although it is gone. As JSON: the catalog.

    \b
    osbctl brokers show data
    osbctl brokers show data --format json | osbctl validate -
    osbctl brokers show data -f json --version -1 | osbctl diff - catalog.yaml
    """
    with open_registry(database) as registry:
        broker = registry.broker(name, previous=version < 0)
    if format == "json":
        write_json(broker.data)
    else:
        write_lines(broker_lines(broker))
    return 0


def refresh(
    names: Annotated[tuple[str, ...], Argument("[NAME...]", "The brokers.  [default: all]", complete="brokers")] = (),
    instances: common.Instances = None,
    dry_run: Annotated[bool, Option("Print what would happen, and store nothing.")] = False,
    quiet: Annotated[bool, Option("Report only brokers refused or not fetched.", "--quiet", "-q")] = False,
    jobs: Annotated[int, Option("Brokers to contact at once.", "--jobs", "-j", metavar="N", min=1, max=64)] = 8,
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

    with open_registry(database) as registry:
        chosen = resolve_broker_names(registry, names)
        used_plans = None if instances is None else read_used_plans(instances)
        print_note(*unknown_plan_notes(registry, used_plans, instances or ""))
        finder = PasswordFinder(stdin=password_stdin, credentials=credentials, is_only_broker=len(chosen) == 1)
        client = RegisteredBrokerClient(network.connection_options(), finder.find_password)
        policy = Policy(used_plans, dry_run)
        results = show_progress(refresh_brokers(registry, chosen, client, policy, jobs), len(chosen), "refreshing")
        return _print_results(results, len(chosen), policy, quiet)


def remove(name: common.BrokerName, database: common.Database = None) -> int:
    """Forget a registered broker.

    Its stored catalogs are deleted. The broker itself is not contacted.

    \b
    osbctl brokers remove data
    """
    with open_registry(database) as registry:
        registry.remove(name)
    write_output(f"{escape_line(name)}: removed\n")
    return 0


brokers = {"add": add, "list": list_brokers, "show": show, "refresh": refresh, "remove": remove}


def _print_results(results: Iterable[tuple[str, Refresh]], total: int, policy: Policy, quiet: bool) -> int:
    """Print the results, and return the exit code."""
    counts: Counter[RefreshOutcome] = Counter()
    deleted = 0

    def format_refresh(name: str, result: Refresh) -> list[str]:
        return [*refresh_lines(name, result, dry_run=policy.dry_run)]

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


_ATTEMPTS = 10


class Policy(NamedTuple):
    """Options of a refresh. `used_plans` as in `reconcile`."""

    used_plans: frozenset[str] | None = None
    dry_run: bool = False


def register_broker(registry: Registry, new: Registration, client: RegisteredBrokerClient) -> Refresh:
    """Register a broker with its first catalog. If that is refused, nothing is stored.

    Raises SourceError (the broker cannot be reached), UsageError (the name is taken by now).
    """
    answer, sent = client.fetch(new)
    catalog = client.validate(answer.body, new, sent)
    refused = catalog.refused or (catalog.errors if catalog.refusals else ())
    refused = refused or find_registration_refusals(
        catalog.data, new.platform, registry.find_taken_ids(new, catalog.data)
    )
    if refused:
        is_storable = not catalog.refused
        return Refresh(utc_timestamp(), RefreshOutcome.REFUSED, new.platform, remarks=refused, is_storable=is_storable)
    added = Refresh(utc_timestamp(), RefreshOutcome.ADDED, new.platform, remarks=_warning_remarks(catalog))
    registry.add(new, catalog.storable, added)
    return added


def resolve_broker_names(registry: Registry, names: Sequence[str]) -> list[str]:
    """The brokers of these names, each once; all if none is named.

    Raises UnknownBrokerError; RegistryError: there is no broker at all, so that a lost registry is not called well.
    """
    known = dict.fromkeys(registry.names())
    if not (names or known):
        advice = "osbctl brokers add registers one; if there were some, restore the database from a backup"
        raise RegistryError("no broker is registered in this database", advice)
    for name in names:
        if name not in known:
            raise UnknownBrokerError(name, known)
    return list(dict.fromkeys(names or known))


def unknown_plan_notes(registry: Registry, used_plans: frozenset[str] | None, instances_file: str) -> list[str]:
    """A sentence if some of the plan ids read from `instances_file` are of no broker. Raises ConfigError: none is."""
    if not used_plans:
        return []
    from osbctl.comparison.instances import check_plan_ids

    plans: set[str] = set()
    for name in registry.names():
        found = run_contained(_plan_ids, registry, name)
        if isinstance(found, OsbctlError):  # it may have the others; its own refresh says what is wrong
            return [f"{instances_file}: not checked for unknown plans, since {name} cannot be read"]
        plans |= found
    return check_plan_ids(used_plans, plans, instances_file, "any registered broker")


def _plan_ids(registry: Registry, name: str) -> set[str]:
    """The ids of all plans of a broker, offered or kept."""
    broker = registry.broker(name)
    return {plan.id for plan in broker.offered.plans} | {kept.plan or "" for kept in broker.kept}


def refresh_brokers(
    registry: Registry, names: Sequence[str], client: RegisteredBrokerClient, policy: Policy, jobs: int
) -> Iterator[tuple[str, Refresh]]:
    """Refresh these brokers, `jobs` at a time; yield each result as soon as it is there."""
    refresh = partial(refresh_broker, registry, client=client, policy=policy)
    # One alone in this thread, because it may prompt for a password: Ctrl-C must restore the terminal.
    one = [(name, run_contained(refresh, name)) for name in names] if len(names) == 1 else None
    for name, result in one or run_in_parallel(refresh, names, jobs):
        yield name, failed_refresh(name, result) if isinstance(result, OsbctlError) else result


def failed_refresh(name: str, error: OsbctlError, failure: str = "not-stored") -> Refresh:
    """Stands for a refresh that raised `error`, and is not stored; `failure` says what did not happen.

    A broker that cannot be reached is an outcome of `refresh_broker` instead.
    """
    remark = Remark(failure, "error", name, error_sentence(error))
    return Refresh(utc_timestamp(), RefreshOutcome.FAILED, DEFAULT_PLATFORM, remarks=(remark,))


def refresh_broker(registry: Registry, name: str, client: RegisteredBrokerClient, policy: Policy) -> Refresh:
    """Fetch the catalog of a registered broker, and store what its platform makes of it, in one transaction.

    If another process changes the broker meanwhile, start again. A broker that cannot be reached is an outcome, too.

    Raises UnknownBrokerError (it may have been removed), OutdatedError (others keep changing it), RegistryError.
    """
    for _ in range(_ATTEMPTS):
        broker = registry.broker(name)
        refresh, changed = _fetch_and_reconcile(registry, broker, client, policy)
        if policy.dry_run:
            return refresh
        try:
            registry.store_refresh(broker.row, refresh, **changed)
        except OutdatedError:
            continue
        return refresh
    raise OutdatedError(name)


def _fetch_and_reconcile(
    registry: Registry, broker: RegisteredBroker, client: RegisteredBrokerClient, policy: Policy
) -> tuple[Refresh, dict[str, Any]]:
    """Fetch the catalog and compute its refresh, with what it changes: `catalog` and `kept` of `store_refresh`."""
    row, platform = broker.row, broker.row.platform
    notes = tuple(Remark("", "", "", sentence) for sentence in notes_on_changes([platform], ()))
    base = Refresh(utc_timestamp(), RefreshOutcome.UNCHANGED, platform, remarks=notes)
    try:
        answer, sent = client.fetch(row)
    except (SourceError, UsageError) as error:  # the latter: an address that osbctl has not written
        failure = Remark("not-fetched", "error", row.name, error_sentence(error))
        return replace(base, outcome=RefreshOutcome.FAILED, remarks=(failure,)), {}
    catalog = client.validate(answer.body, row, sent)
    refused = client.find_password_in_stored_catalog(broker, sent) or catalog.refused
    if refused:
        return replace(base, outcome=RefreshOutcome.REFUSED, remarks=refused, is_storable=False), {}
    return _reconcile_catalog(registry, broker, catalog, policy, base)


def _reconcile_catalog(
    registry: Registry, broker: RegisteredBroker, catalog: BrokerCatalog, policy: Policy, base: Refresh
) -> tuple[Refresh, dict[str, Any]]:
    """The refresh with a catalog that can be stored, and its changes as above; `base` if nothing changes."""
    row, platform = broker.row, broker.row.platform
    fit = catalog.storable
    if fit.body == broker.catalog and not (catalog.refusals or broker.kept):
        return base, {}  # nothing is new, and nothing waits for its last instance
    taken_ids = registry.find_taken_ids(row, catalog.data, broker)
    result = reconcile(
        broker, fit.data, platform, policy.used_plans, base.at, refusals=catalog.refusals, taken_ids=taken_ids
    )
    new = fit.with_data(result.stored)
    if not (result.refused or result.actions) and broker.catalog in (fit.body, new.body):
        return base, {}
    remarks = (*result.remarks, *_warning_remarks(catalog), *base.remarks)
    outcome = RefreshOutcome.CHANGED
    if result.refused:
        remarks = catalog.errors if catalog.refusals else result.remarks
        outcome = RefreshOutcome.REFUSED
    is_new = result.stored is not broker.data and new.body != broker.catalog
    changed = {"catalog": new if is_new else None, "kept": result.kept}
    return replace(base, outcome=outcome, actions=result.actions, remarks=remarks), changed


def _warning_remarks(catalog: BrokerCatalog) -> tuple[Remark, ...]:
    """Violations of the specification that the platform accepts."""
    return tuple(replace(error, level="warning") for error in catalog.errors)
