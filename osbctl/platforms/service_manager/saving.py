"""Storage of an update in Service Manager, in one transaction.

It updates known service offerings in the order of the catalog, deletes missing ones, creates new ones; then the same
with the plans of each. Names are unique and compared exactly, and it deletes nothing that has instances
(service-manager e616ec91f886, storage/interceptors/broker_update_catalog_interceptor.go, storage/postgres/migrations).
"""

from __future__ import annotations

from collections.abc import Iterable

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.platforms import State
from osbctl.platforms.saving import ClashKind, Key, Names, StoredRow, Update
from osbctl.platforms.service_manager.verdict import RESERVED_PLAN


def save(update: Update) -> None:
    """Save the catalog, or note why it is refused."""
    if update.refuse_invalid():
        return
    before = dict(update.rows)
    services: dict[Key, ServiceOffering] = {(service.id, None): service for service in update.catalog.services}
    _save(update, services, update.services())
    plans: dict[Key, ServicePlan] = {
        (service.id, plan.id): plan for service in update.catalog.services for plan in service.plans
    }
    _save(update, plans, [row for row in update.plans() if row.plan != RESERVED_PLAN])
    for service in update.catalog.services:
        _keep_reference_plan(update, service)
    if update.clashes:
        update.rows = before


def _save(update: Update, things: dict[Key, ServiceOffering] | dict[Key, ServicePlan], before: list[StoredRow]) -> None:
    names = Names(update.rows, str)
    known = [key for key in things if key in update.rows]
    for keys in (known, [key for key in things if key not in update.rows]):
        for key in keys:
            holder = names.take(key, things[key].name)
            if holder:
                update.clash(things[key].path, "refuses the update: the name is taken", holder, ClashKind.NAME)
            update.put(key[0], things[key])
        if keys is known:
            _delete(update, [row for row in before if row.key not in things])


def _delete(update: Update, gone: Iterable[StoredRow]) -> None:
    """Delete rows, and with a service offering its plans."""
    used = update.used_rows()
    for row in gone:
        if row.key in used:
            update.clash((), "refuses the whole update (409)", row)
        update.leave(row, None)
    services = {row.service for row in update.services()}
    for row in update.plans():
        if row.service not in services:
            update.leave(row, None)


def _keep_reference_plan(update: Update, service: ServiceOffering) -> None:
    """Keep or delete its own plan, through which shared instances are used."""
    key = service.id, RESERVED_PLAN
    if any(plan.metadata.get("supportsInstanceSharing") is True for plan in service.plans):
        update.rows[key] = StoredRow(*key, {"id": RESERVED_PLAN, "name": RESERVED_PLAN}, State.OFFERED)
    elif key in update.rows:
        _delete(update, [update.rows[key]])
