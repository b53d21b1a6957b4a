"""Registering brokers, and taking over their catalogs again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from osbctl.parallel import in_parallel
from osbctl.platforms.together import sentences, shared
from osbctl.registry.errors import UnknownBrokerError
from osbctl.registry.records import Refresh, RefreshOutcome, Registration
from osbctl.registry.refresh import Policy, refresh_or_tell, register
from osbctl.tasks.compare import doubts_of

if TYPE_CHECKING:
    from osbctl.registry.store import Registry
    from osbctl.tasks.reach import Reach


def register_broker(registry: Registry, new: Registration, reach: Reach) -> Refresh:
    """Register a broker with its first catalog; nothing is stored of one that is refused.

    Raises:
        UsageError: the name cannot be used or is taken.
        SourceError: the broker cannot be reached.
    """
    done = register(registry, new, reach.fetch, reach.judge)
    if done.outcome is RefreshOutcome.ADDED:
        tell_shared(registry, {new.name}, reach)
    return done


def choose(registry: Registry, names: Sequence[str]) -> list[str]:
    """The brokers of these names, each once; all where none is named.

    Raises:
        UnknownBrokerError: one of them is not registered.
    """
    known = dict.fromkeys(registry.names())
    for name in names:
        if name not in known:
            raise UnknownBrokerError(name, known)
    return list(dict.fromkeys(names or known))


def doubted_instances(registry: Registry, used: frozenset[str] | None, file: str) -> list[str]:
    """A sentence where some of the ids `used`, those of `file`, are of no plan of any registered broker.

    Raises ConfigError: none of them is.
    """
    if not used:
        return []
    plans: set[str] = set()
    for name in registry.names():
        broker = registry.broker(name)
        plans.update(plan.id for plan in broker.offered.plans)
        plans.update(kept.plan_id for kept in broker.kept)
    return doubts_of(used, file, plans, "any registered broker")


def refresh_brokers(
    registry: Registry, names: Sequence[str], reach: Reach, policy: Policy, jobs: int
) -> Iterator[tuple[str, Refresh]]:
    """What came of each broker, in the order in which they are done, `jobs` at a time."""

    def work(name: str) -> Refresh:
        return refresh_or_tell(registry, name, reach.fetch, reach.judge, policy)

    changed = set()
    # One alone in this thread: it may ask for a password, and an interrupt must find the terminal as it was.
    for name, done in in_parallel(work, names, jobs) if len(names) != 1 else ((name, work(name)) for name in names):
        if done.outcome is RefreshOutcome.CHANGED and not policy.dry_run:
            changed.add(name)
        yield name, done
    if changed:
        tell_shared(registry, changed, reach)


def tell_shared(registry: Registry, names: set[str], reach: Reach) -> None:
    """Say which ids and names the brokers `names` share with other registered ones, and what comes of it.

    Reads each stored catalog once. Brokers for different platforms do not meet.
    """
    rows = sorted(registry.brokers(), key=lambda row: row.id)  # the first to be registered comes first
    for platform in sorted({row.platform for row in rows if row.name in names}):
        ours = [row.name for row in rows if row.platform is platform]
        if len(ours) > 1:
            catalogs = ((name, registry.broker(name).offered) for name in ours)
            found = [one for one in shared(catalogs) if names & {one.first, one.second}]
            for sentence in sentences(found, (platform,)):
                reach.tell(sentence)
