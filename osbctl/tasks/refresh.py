"""Register brokers and refresh their catalogs: fetch, validate, reconcile and store, or leave all as it was."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from osbctl.containment import run_contained
from osbctl.errors import OsbctlError, RegistryError, SourceError, UsageError, error_sentence
from osbctl.parallel import run_in_parallel
from osbctl.platforms import DEFAULT_PLATFORM
from osbctl.platforms.updates import notes_on_changes
from osbctl.registry.reconcile import find_registration_refusals, reconcile
from osbctl.registry.records import (
    BrokerCatalog,
    OutdatedError,
    Refresh,
    RefreshOutcome,
    RegisteredBroker,
    Registration,
    Remark,
    UnknownBrokerError,
)
from osbctl.registry.store import Registry, utc_timestamp
from osbctl.tasks.registered_broker_client import RegisteredBrokerClient

_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Policy:
    """Options of a refresh. `used_plans` as in `reconcile`."""

    used_plans: frozenset[str] | None = None
    dry_run: bool = False


def register_broker(registry: Registry, new: Registration, client: RegisteredBrokerClient) -> Refresh:
    """Register a broker with its first catalog. If that is refused, nothing is stored.

    Raises UsageError (the name cannot be used or is taken), SourceError (the broker cannot be reached).
    """
    registry.check_name_available(new.name)
    answer, sent = client.fetch(new)
    catalog = client.validate(answer.body, new, sent)
    refused = catalog.refused or (catalog.errors if catalog.refusals else ())
    refused = refused or find_registration_refusals(
        catalog.data, new.platform, registry.find_taken_ids(new, catalog.data)
    )
    if refused:
        return Refresh(utc_timestamp(), RefreshOutcome.REFUSED, new.platform, remarks=refused)
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
    return {plan.id for plan in broker.document.catalog.plans} | {kept.plan or "" for kept in broker.kept}


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
    """The refresh of a broker that ended with an error; `failure` says what did not happen."""
    remark = Remark(failure, "error", name, error_sentence(error))
    return Refresh(utc_timestamp(), RefreshOutcome.FAILED, DEFAULT_PLATFORM, remarks=(remark,))


def refresh_broker(registry: Registry, name: str, client: RegisteredBrokerClient, policy: Policy) -> Refresh:
    """Fetch the catalog of a registered broker, and store what its platform makes of it, in one transaction.

    If another process changes the broker meanwhile, start again. A broker that cannot be reached is an outcome, too.

    Raises UnknownBrokerError (it may have been removed), OutdatedError (it never rests), RegistryError.
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
        return replace(base, outcome=RefreshOutcome.REFUSED, remarks=refused), {}
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
