"""Updates in Service Manager: its reactions to changes, and how it saves an update in one transaction.

It updates known service offerings in the order of the catalog, deletes missing ones, creates new ones; then the same
with the plans of each. Names are unique and compared exactly, and it deletes nothing that has instances
(service-manager e616ec91f886, storage/interceptors/broker_update_catalog_interceptor.go, storage/postgres/migrations).
Which platforms see a plan is decided in pkg/types/service_plan.go.
"""

from collections.abc import Iterable

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.platforms import State
from osbctl.platforms.service_manager.verdict import RESERVED_PLAN
from osbctl.platforms.updates import (
    DependsOnInstances,
    Key,
    NameOwners,
    Reaction,
    StoredRow,
    Update,
    breaking,
    refused,
    risky,
    safe,
)

_IN_USE = refused("refuses the whole update (409)")

NOTES: dict[str, frozenset[str]] = {}

REACTIONS: dict[str, Reaction | DependsOnInstances] = {
    "change-catalog-emptied": DependsOnInstances(
        breaking("refuses the whole update (409) if any plan has instances, otherwise deletes everything"),
        _IN_USE,
        breaking("deletes everything"),
    ),
    "change-service-without-plans": DependsOnInstances(
        breaking("refuses the whole update (409) if any of its plans has instances, otherwise deletes them"),
        _IN_USE,
        breaking("deletes its plans"),
    ),
    "change-service-removed": DependsOnInstances(
        breaking("refuses the whole update (409) if any of its plans has instances, otherwise deletes it"),
        _IN_USE,
        breaking("deletes it"),
    ),
    "change-plan-removed": DependsOnInstances(
        breaking("refuses the whole update (409) if the plan has instances, otherwise deletes it"),
        _IN_USE,
        breaking("deletes it with its visibilities and its id on the platform"),
    ),
    "change-service-added": safe("adds it; its visibilities decide who sees its plans"),
    "change-plan-added": safe("adds it; its visibilities decide who sees it"),
    "change-plan-id": DependsOnInstances(
        refused("refuses the whole update (409) if the plan has instances, otherwise replaces it"),
        _IN_USE,
        risky("deletes the old plan with its visibilities and adds a new one"),
    ),
    "change-service-id": DependsOnInstances(
        refused("refuses the whole update (409) if it has instances, otherwise replaces it"),
        _IN_USE,
        risky("replaces it, unless its own plan `reference-instance` is in use; its visibilities are lost"),
    ),
    "change-service-id-plans-kept": DependsOnInstances(
        refused("refuses the whole update (409) if it has instances, otherwise replaces it"),
        _IN_USE,
        risky("replaces it and its plans, unless its own plan `reference-instance` is in use; visibilities are lost"),
    ),
    "change-plan-moved": DependsOnInstances(
        refused("refuses the whole update (409) if the plan has instances, otherwise replaces it"),
        _IN_USE,
        risky("deletes it with its visibilities and adds it to the other service offering"),
    ),
    "change-requires-removed": risky("stores it; the platform behind it may refuse bindings that use the permission"),
    "change-requires-added": risky("stores it; the platform behind it may not have the feature"),
    "change-platforms-withdrawn": breaking("no longer shows the plan to these platforms"),
    "change-instance-sharing-withdrawn": risky(
        "refuses the update if instances are shared or referenced; otherwise deletes its plan `reference-instance`"
    ),
    "change-plan-updateable-withdrawn": risky("stores it; the platform behind it may refuse to change the plan"),
    "change-context-updates-withdrawn": breaking("refuses to transfer instances to another platform"),
    "change-maintenance-version": risky("stores it; the platform behind it may offer an upgrade"),
    "change-dashboard-client": risky("stores it; the platform behind it may change its client"),
}


def change_rows(update: Update) -> None:
    """Change the rows of the update as the platform does, or add the clashes for which it refuses all of it."""
    if update.add_first_refusal():
        return
    services: dict[Key, ServiceOffering] = {(service.id, None): service for service in update.catalog.services}
    _sync_objects(update, services, update.service_rows())
    plans: dict[Key, ServicePlan] = {
        (service.id, plan.id): plan for service in update.catalog.services for plan in service.plans
    }
    _sync_objects(update, plans, [row for row in update.plan_rows() if row.plan != RESERVED_PLAN])
    for service in update.catalog.services:
        _keep_or_delete_reference_plan(update, service)
    if update.clashes:
        update.rows = dict(update.before)


def _sync_objects(
    update: Update, objects: dict[Key, ServiceOffering] | dict[Key, ServicePlan], stored_rows: list[StoredRow]
) -> None:
    """Save known objects, delete stored ones that are missing, then save new ones."""
    names = NameOwners(update.rows, str)
    known_keys = [key for key in objects if key in update.rows]
    for keys in (known_keys, [key for key in objects if key not in update.rows]):
        for key in keys:
            holder = names.claim(key, objects[key].name)
            if holder:
                update.add_clash(objects[key].path, "refuses the update: the name is taken", holder, is_of_name=True)
            update.store(key[0], objects[key])
        if keys is known_keys:
            _delete_rows(update, [row for row in stored_rows if row.key not in objects])


def _delete_rows(update: Update, rows: Iterable[StoredRow]) -> None:
    """Delete rows, and with a service offering its plans; a row with instances becomes a clash."""
    used = update.used_keys()
    for row in rows:
        if row.key in used:
            update.add_clash((), "refuses the whole update (409)", row)
        update.keep_or_delete(row, None)
    services = {row.service for row in update.service_rows()}
    for row in update.plan_rows():
        if row.service not in services:
            update.keep_or_delete(row, None)


def _keep_or_delete_reference_plan(update: Update, service: ServiceOffering) -> None:
    """Keep or delete the platform's own plan of a service offering, through which shared instances are used."""
    key = service.id, RESERVED_PLAN
    if any(plan.metadata.get("supportsInstanceSharing") is True for plan in service.plans):
        update.rows.setdefault(key, StoredRow(*key, {"id": RESERVED_PLAN, "name": RESERVED_PLAN}, State.OFFERED))
    elif key in update.rows:
        _delete_rows(update, [update.rows[key]])
