"""What a platform does with a registered broker's new catalog: by its own rules, as `osbctl.comparison` knows them.

Identity is the id alone. It updates what it has, creates what is new, keeps what is gone and has instances, and deletes
the rest; or it refuses the whole update.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.changes import Change, Level
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.values import same
from osbctl.platforms import Platform, State
from osbctl.registry.records import Action, Kept, RegisteredBroker, Remark, What

_NOTES = {
    State.INACTIVE: "deactivated, as it has instances",
    State.FLAGGED: "flagged as removed, as it has instances",
    State.OFFERED: "still offered: {} deletes nothing",
}

MAX_TOLD = 500
"""The most changes of one refresh that are listed one by one."""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What a platform makes of a new catalog. Where it refuses, there are no actions and `kept` is as it was.

    `remarks` holds the changes, or the reasons of the refusal.
    """

    refused: bool
    actions: tuple[Action, ...]
    remarks: tuple[Remark, ...]
    kept: tuple[Kept, ...]


def reconcile(
    stored: RegisteredBroker,
    new: Mapping[str, Any] | Catalog,
    platform: Platform,
    instances: frozenset[str] | None,
    at: str,
) -> Reconciliation:
    """What `platform` does when the broker `stored` comes with the catalog `new` at the time `at`.

    `instances` are the ids of the plans that have instances. None: not known; then those have some that are kept
    already, and no others.
    """
    used = frozenset(one.plan_id for one in stored.kept) if instances is None else instances
    old, new = stored.offered, Catalog.of(new)
    whole = with_kept(old, stored.kept)
    changes = against = compare_catalogs(old, new, platforms=(platform,), instances=used)
    if stored.kept:  # a row that is kept holds its name, too
        against = compare_catalogs(whole, new, platforms=(platform,), instances=used)
    refusals = [change for change in against if change.level is Level.REFUSED]
    if refusals:
        return Reconciliation(True, (), _remarks(refusals), stored.kept)
    work = _Work(stored, whole, new, platform, used, at)
    actions = (*work.present(), *work.gone())
    return Reconciliation(False, actions, _remarks(changes), tuple(work.kept))


def with_kept(catalog: Catalog, kept: Sequence[Kept]) -> Catalog:
    """The catalog together with what the platform keeps beside it; the same one where that is nothing."""
    if not kept:
        return catalog
    services = [{**service.data, "plans": [plan.data for plan in service.plans]} for service in catalog.services]
    by_id = {service.get("id"): service for service in services}
    for one in kept:
        if not one.plan_id and one.service_id not in by_id:
            by_id[one.service_id] = {**one.data, "plans": []}
            services.append(by_id[one.service_id])
    for one in kept:
        if one.plan_id and one.service_id in by_id:
            by_id[one.service_id]["plans"].append(one.data)
    return Catalog.of({**catalog.data, "services": services})


class _Work:
    """One reconciliation: goes over new and old objects, and gathers in `kept` what stays beside them."""

    def __init__(
        self, stored: RegisteredBroker, whole: Catalog, new: Catalog, platform: Platform, used: frozenset[str], at: str
    ) -> None:
        self._stored, self._whole, self._new = stored.offered, whole, new
        self._platform, self._state = platform, platform.record.keeps
        self._used, self._at = used, at
        self._before = {(one.service_id, one.plan_id): one for one in stored.kept}
        self.kept: list[Kept] = []

    def present(self) -> Iterator[Action]:
        services = {service.id: service for service in self._whole.services}
        plans = {plan.id: plan for plan in self._whole.plans}
        active_services = {service.id for service in self._stored.services}
        active_plans = {plan.id for plan in self._stored.plans}
        for service in self._new.services:
            old = services.get(service.id)
            what = _what(_bare(old) if old else None, _bare(service), service.id in active_services)
            if what:
                yield Action(what, service.name)
            for plan in service.plans:
                before = plans.get(plan.id)
                what = _what(before.data if before else None, plan.data, plan.id in active_plans)
                if what:
                    yield Action(what, service.name, plan.name)

    def gone(self) -> Iterator[Action]:
        services = {service.id for service in self._new.services}
        plans = {plan.id for plan in self._new.plans}
        for service in self._whole.services:
            gone = [plan for plan in service.plans if plan.id not in plans]
            offered = self._state is State.OFFERED
            keeps = [plan for plan in gone if offered or (self._state and plan.id in self._used)]
            if service.id not in services:
                yield from self._leave(service, None, bool(keeps) or offered)
            for plan in gone:
                yield from self._leave(service, plan, plan in keeps)

    def _leave(self, service: ServiceOffering, plan: ServicePlan | None, keep: bool) -> Iterator[Action]:
        name = plan.name if plan else ""
        if not keep:
            yield Action(What.DELETED, service.name, name)
            return
        assert self._state
        known = self._before.get((service.id, plan.id if plan else ""))
        if known and known.state is self._state:
            self.kept.append(known)
            return
        data = dict(plan.data) if plan else _bare(service)
        self.kept.append(Kept(service.id, plan.id if plan else "", self._state, self._at, data))
        yield Action(What.KEPT, service.name, name, _NOTES[self._state].format(self._platform.label))


def _what(old: Mapping[str, Any] | None, new: Mapping[str, Any], active: bool) -> What | None:
    if old is None:
        return What.CREATED
    if not active:
        return What.REACTIVATED
    return None if same(dict(old), dict(new)) else What.UPDATED


def _bare(service: ServiceOffering) -> dict[str, Any]:
    return {key: value for key, value in service.data.items() if key != "plans"}


def _remarks(changes: Sequence[Change]) -> tuple[Remark, ...]:
    found = []
    for change in changes[:MAX_TOLD]:
        does = "; ".join(effect.does for effect in change.effects if change.level is not Level.SAFE)
        message = f"{change.message}: {does}" if does else change.message
        found.append(Remark(change.rule, change.level.value, change.object or "catalog", message))
    if len(changes) > MAX_TOLD:
        found.append(Remark("", "", "", f"and {len(changes) - MAX_TOLD:,} more"))
    return tuple(found)
