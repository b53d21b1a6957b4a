"""Register brokers and refresh their catalogs: fetch, validate, reconcile and store, or leave all as it was."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from osbctl.catalog import Catalog
from osbctl.client.catalog_client import CatalogResponse
from osbctl.errors import SourceError, UsageError
from osbctl.parallel import in_parallel
from osbctl.platforms import DEFAULT_PLATFORM, Identity, Platform
from osbctl.platforms.shared_identities import shared, shared_identity_sentences, unique_ids
from osbctl.registry.errors import OutdatedError, UnknownBrokerError
from osbctl.registry.reconcile import NewCatalog, Reconciliation, first_refusals, reconcile
from osbctl.registry.records import (
    HELD,
    BrokerCatalog,
    BrokerRow,
    Refresh,
    RefreshOutcome,
    RegisteredBroker,
    Registration,
    Remark,
)
from osbctl.registry.store import Registry, now
from osbctl.tasks.registered_broker_client import RegisteredBrokerClient

_ATTEMPTS = 10
_FULL_FETCH = 10
"""Every refresh of this number sends no ETag, because some brokers answer 304 even after changes."""
_STORED = "the password is in the database, too: remove it with `osbctl brokers remove`, then add the broker again"


@dataclass(frozen=True, slots=True)
class Policy:
    """Options of a refresh. `platform` None: that of the broker's row. `instances` as in `reconcile`.

    `strict`: also refuse what the platform accepts but the specification forbids.
    """

    platform: Platform | None = None
    instances: frozenset[str] | None = None
    dry_run: bool = False
    strict: bool = False


def register_broker(
    registry: Registry, new: Registration, client: RegisteredBrokerClient, *, strict: bool = False
) -> Refresh:
    """Register a broker with its first catalog. If that is refused, nothing is stored.

    Raises UsageError (the name cannot be used or is taken), SourceError (the broker cannot be reached).
    """
    registry.check_free(new.name)
    answer = client.fetch(new, "")
    assert answer  # no tag was sent
    catalog = client.validate(answer.body, new)
    refused = catalog.refused or (catalog.errors if strict or catalog.refusals else ())
    refused = refused or first_refusals(catalog.data, new.platform, _others(registry, new, catalog))
    if refused:
        return Refresh(now(), RefreshOutcome.REFUSED, new.platform, answer.etag, remarks=refused)
    added = Refresh(now(), RefreshOutcome.ADDED, new.platform, answer.etag, remarks=_warnings(catalog))
    registry.add(new, catalog.storable, added)
    return added


def choose(registry: Registry, names: Sequence[str]) -> list[str]:
    """The brokers of these names, each once; all if none is named. Raises UnknownBrokerError."""
    known = dict.fromkeys(registry.names())
    for name in names:
        if name not in known:
            raise UnknownBrokerError(name, known)
    return list(dict.fromkeys(names or known))


def doubted_instances(registry: Registry, used: frozenset[str] | None, file: str) -> list[str]:
    """A sentence if some of the plan ids `used`, from `file`, are of no broker. Raises ConfigError: none is."""
    if not used:
        return []
    from osbctl.comparison.instances import doubts

    plans: set[str] = set()
    for name in registry.names():
        broker = registry.broker(name)
        plans.update(plan.id for plan in broker.document.catalog.plans)
        plans.update(kept.plan_id for kept in broker.kept)
    return doubts(used, plans, file, "any registered broker")


def refresh_brokers(
    registry: Registry, names: Sequence[str], client: RegisteredBrokerClient, policy: Policy, jobs: int
) -> Iterator[tuple[str, Refresh]]:
    """Refresh these brokers, `jobs` at a time; yield each result as soon as it is there. Raises RegistryError."""

    def work(name: str) -> Refresh:
        try:
            return refresh_broker(registry, name, client, policy)
        except (UnknownBrokerError, OutdatedError) as error:
            remarks = (Remark("not-stored", "error", name, error.message),)
            return Refresh(now(), RefreshOutcome.FAILED, policy.platform or DEFAULT_PLATFORM, remarks=remarks)

    if len(names) == 1:  # in this thread, because it may prompt for a password: Ctrl-C must restore the terminal
        return ((name, work(name)) for name in names)
    return in_parallel(work, names, jobs)


def refresh_broker(registry: Registry, name: str, client: RegisteredBrokerClient, policy: Policy) -> Refresh:
    """Fetch the catalog of a registered broker, and store what its platform makes of it, in one transaction.

    If another process changes the broker meanwhile, start again. A broker that cannot be reached is an outcome, too.

    Raises UnknownBrokerError (it may have been removed), RegistryError.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return _Attempt(registry, registry.row(name), client, policy).run()
        except OutdatedError:
            continue
    return _Attempt(registry, registry.row(name), client, policy).run()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One attempt at a refresh, on top of the `seen` row of the broker."""

    registry: Registry
    seen: BrokerRow
    client: RegisteredBrokerClient
    policy: Policy

    def run(self) -> Refresh:
        seen, platform = self.seen, self.policy.platform or self.seen.platform
        notes = tuple(Remark("", "", "", sentence) for sentence in platform.record.notes(()))
        base = Refresh(now(), RefreshOutcome.UNCHANGED, platform, seen.etag, remarks=notes)
        try:
            answer = self.client.fetch(seen, "" if seen.revision % _FULL_FETCH == 0 else seen.etag)
        except (SourceError, UsageError) as error:  # the latter: an address that osbctl has not written
            words = error.message + (f" ({error.advice})" if error.advice else "")
            remarks = (Remark("not-fetched", "error", seen.name, words),)
            return self._store(replace(base, outcome=RefreshOutcome.FAILED, remarks=remarks))
        return self._process(answer, base)

    def _process(self, answer: CatalogResponse | None, base: Refresh) -> Refresh:
        """Validate and take over the answer.

        If it says that nothing is new (None), the stored catalog is validated again: the platform, the password or
        osbctl itself may have changed since it was stored.
        """
        seen = self.seen
        stored = self.registry.broker(seen.name)
        if stored.row.revision != seen.revision:
            raise OutdatedError(seen.name)
        body, etag = (answer.body, answer.etag) if answer else (stored.catalog, seen.etag)
        base = replace(base, etag=etag)
        catalog = self.client.validate(body, replace(seen, platform=base.platform))
        refused = catalog.refused or (catalog.errors if self.policy.strict else ())
        if not refused:
            return self._reconcile(base, stored, catalog)
        if answer is None:
            _ = stored.data  # raises if the stored catalog is damaged
        if catalog.storable.body == stored.catalog and any(one.rule == HELD for one in refused):
            refused = (*refused, Remark(HELD, "error", seen.name, _STORED))
        return self._store(replace(base, outcome=RefreshOutcome.REFUSED, remarks=refused))

    def _reconcile(self, base: Refresh, stored: RegisteredBroker, catalog: BrokerCatalog) -> Refresh:
        fit = catalog.storable
        if fit.body == stored.catalog and not (catalog.refusals or stored.kept):
            return self._store(base)  # nothing is new, and nothing waits for its last instance
        others = _others(self.registry, replace(self.seen, platform=base.platform), catalog, stored)
        sent = NewCatalog(fit.data, catalog.refusals, others)
        result = reconcile(stored, sent, base.platform, self.policy.instances, base.at)
        new = fit.with_data(result.stored)
        if not (result.refused or result.actions) and stored.catalog in (fit.body, new.body):
            return self._store(base)
        done = _without(_outcome(base, stored, catalog, result), catalog.secrets)
        is_new = result.stored is not stored.data and new.body != stored.catalog
        return self._store(done, catalog=new if is_new else None, kept=result.kept)

    def _store(self, done: Refresh, **changed: Any) -> Refresh:
        """Store the outcome, and what `changed`, unless this is a dry run."""
        if not self.policy.dry_run:
            self.registry.store_refresh(self.seen, done, **changed)
        return done


def _outcome(base: Refresh, stored: RegisteredBroker, catalog: BrokerCatalog, result: Reconciliation) -> Refresh:
    if result.refused:
        remarks = catalog.errors if catalog.refusals else result.remarks
        return replace(base, outcome=RefreshOutcome.REFUSED, etag="", actions=result.actions, remarks=remarks)
    remarks = (*result.remarks, *_warnings(catalog), *base.remarks)
    if any(secret.encode() in stored.catalog for secret in catalog.secrets):
        remarks = (*remarks, Remark(HELD, "error", stored.row.name, _STORED))
    return replace(base, outcome=RefreshOutcome.CHANGED, actions=result.actions, remarks=remarks)


def _warnings(catalog: BrokerCatalog) -> tuple[Remark, ...]:
    """Violations of the specification that the platform accepts, as warnings; and infos."""
    return (*(replace(one, level="warning") for one in catalog.errors), *catalog.infos)


def _others(
    registry: Registry, ours: Registration, catalog: BrokerCatalog, stored: RegisteredBroker | None = None
) -> dict[tuple[Identity, str], str]:
    """The broker of each new id that another broker of the platform has; empty where brokers may share ids."""
    platform = ours.platform
    known = set(unique_ids(stored.document.catalog, platform)) if stored else set()
    wanted = set(unique_ids(Catalog.of(catalog.data), platform)) - known
    found: dict[tuple[Identity, str], str] = {}
    for row in registry.brokers() if wanted else ():
        if row.platform is platform and row.name != ours.name:
            theirs = unique_ids(registry.broker(row.name).document.catalog, platform)
            found |= dict.fromkeys(wanted.intersection(theirs), row.name)
    return found


def _without(done: Refresh, secrets: tuple[str, ...]) -> Refresh:
    """The refresh without secrets of the previous catalog in names and changes."""

    def hide(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, "***")
        return text

    actions = (replace(a, service=hide(a.service), plan=hide(a.plan), note=hide(a.note)) for a in done.actions)
    remarks = (replace(one, object=hide(one.object), message=hide(one.message)) for one in done.remarks)
    return replace(done, actions=tuple(actions), remarks=tuple(remarks))


def shared_sentences(registry: Registry, names: set[str]) -> list[str]:
    """Sentences on ids and names that the brokers `names` share with others of their platform, and the effects."""
    found: list[str] = []
    rows = sorted(registry.brokers(), key=lambda row: row.id)  # the first registered comes first
    for platform in sorted({row.platform for row in rows if row.name in names}):
        ours = [row.name for row in rows if row.platform is platform]
        if len(ours) > 1:
            catalogs = ((name, registry.broker(name).document.catalog) for name in ours)
            pairs = [one for one in shared(catalogs) if names & {one.first, one.second}]
            found += shared_identity_sentences(pairs, (platform,))
    return found
