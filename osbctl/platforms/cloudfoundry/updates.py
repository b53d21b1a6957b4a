"""Updates in Cloud Foundry: its reactions to changes, and how it saves an update, all of it or nothing.

It saves services, then known plans, then new ones, each in the order of the catalog. It deactivates missing objects,
and deletes those on which nothing depends. If a plan's name is still taken when its new holder is saved, it refuses the
whole update. Names of services are not unique in its database: one clashes if its old owner has instances, in any order
(cloud_controller_ng 3bbba906, lib/services/service_brokers, service_manager.rb, and v2/catalog.rb, `taken_names`).
"""

from osbctl.catalog import ServiceOffering
from osbctl.platforms import Identity, State
from osbctl.platforms.cloudfoundry.ruby import lower, normalize_plan_name, strip
from osbctl.platforms.updates import DependsOnInstances, NameOwners, Reaction, Update, breaking, refused, risky, safe

_SERVICE_NAME_TAKEN = '`Services with names ["{service}"] already exist`'
_PLAN_NAME_TAKEN = refused(
    '"Plan names must be unique within a service. Service {service} already has a plan named {plan}"',
    names_objects=True,
)
_PLAN_ID_TAKEN = refused('"Plan ids must be unique"')
_REMOVES = DependsOnInstances(
    breaking("deactivates it and warns the operator if it has instances, otherwise deletes it with its visibilities"),
    breaking("deactivates it and warns the operator; no new instances can be created"),
    breaking("deletes it with its visibilities and its id on the platform"),
)

NOTES = {
    "Cloud Foundry may have deactivated plans of earlier catalogs, which still hold their ids and names": frozenset(
        {"change-plan-added", "change-plan-renamed", "change-plan-name-taken", "change-service-id"}
    ),
    "Cloud Foundry refuses the id of a dashboard client of another broker, or one left over in UAA; it changes clients "
    "even in an update that it refuses for the name of a plan": frozenset({"change-dashboard-client"}),
}
"""Notes on facts that two catalogs do not show, with the kinds of change that depend on them (none: all)."""

REACTIONS: dict[str, Reaction | DependsOnInstances] = {
    "change-catalog-emptied": refused('"Service broker must provide at least one service"'),
    "change-service-without-plans": refused('"At least one plan is required"'),
    "change-service-removed": _REMOVES,
    "change-plan-removed": _REMOVES,
    "change-service-added": safe("adds it; its plans are private until someone enables access"),
    "change-plan-added": safe("adds it, private until someone enables access"),
    "change-plan-id": _PLAN_NAME_TAKEN,
    "change-service-id": DependsOnInstances(
        refused(f"if it has instances: {_SERVICE_NAME_TAKEN}; otherwise replaces it", names_objects=True),
        refused(_SERVICE_NAME_TAKEN, names_objects=True),
        risky("replaces it; access to its plans must be enabled again"),
    ),
    "change-service-id-plans-kept": _PLAN_ID_TAKEN,
    "change-plan-moved": _PLAN_ID_TAKEN,
    "change-service-name-taken": breaking(
        "refuses the update if the old holder of the name has instances; otherwise overwrites the name"
    ),
    "change-service-renamed": breaking(
        "overwrites the name; scripts, and the keys of VCAP_SERVICES in applications, change with it"
    ),
    "change-shareable-withdrawn": breaking("refuses to share instances"),
    "change-free-to-paid": breaking(
        "refuses to create and update instances in organisations whose quota has no paid plans"
    ),
    "change-requires-removed": breaking("rejects bindings that still use the permission"),
    "change-requires-added": risky("rejects the catalog as incompatible if the operator turned that feature off"),
    "change-field-case": safe("ignores fields that it does not know"),
    "change-dashboard-client": risky(
        "changes the client in its identity service; dashboard sign-ins may fail until the broker follows"
    ),
}


def change_rows(update: Update) -> None:
    """Change the rows of the update as the platform does, or add the clashes for which it refuses all of it."""
    if update.add_first_refusal():
        return
    _add_service_name_clashes(update)
    _add_plan_id_clashes(update)
    _add_dashboard_client_clashes(update)
    for service in update.catalog.services:
        update.store(service.id, service, strip)
    plans = [(service, plan) for service in update.catalog.services for plan in service.plans]
    names = NameOwners(update.rows, normalize_plan_name)
    for service, plan in sorted(plans, key=lambda home: (home[0].id, home[1].id) not in update.before):
        holder = names.claim((service.id, plan.id), plan.name)
        if holder:
            taken = f"Service {service.name} already has a plan named {plan.name}"
            message = f'"Plan names must be unique within a service. {taken}"'
            update.add_clash(plan.path, message, holder, is_of_name=True)
        update.store(service.id, plan, strip)
    _deactivate_or_delete_missing(update)
    if update.clashes:
        update.rows = dict(update.before)


def _add_service_name_clashes(update: Update) -> None:
    """Refuse names as `taken_names` does: it finds old names ignoring case, then seeks them exactly in new ones."""
    by_name: dict[str, ServiceOffering] = {}
    for service in update.catalog.services:
        by_name.setdefault(service.name, service)
    folded = {lower(name): service for name, service in by_name.items() if name}
    used = update.used_keys()
    for row in update.service_rows():
        name = strip(row.name)  # new names are sought with their blanks
        other, new = folded.get(lower(name)), by_name.get(name)
        if other and not new:
            message = 'crashes: the operator reads "An unknown error occurred"'
            update.add_clash(other.path, message, row, is_of_name=True)
        elif new and new.id != row.service and row.key in used:
            update.add_clash(new.path, f'`Services with names ["{name}"] already exist`', row, is_of_name=True)


def _add_plan_id_clashes(update: Update) -> None:
    """Refuse plans that move to another service offering."""
    by_id = {plan.id: (service, plan) for service in update.catalog.services for plan in service.plans}
    for row in update.plan_rows():
        found = by_id.get(row.plan or "")
        if found and found[0].id != row.service:
            update.add_clash(found[1].path, '"Plan ids must be unique"', row)


def _add_dashboard_client_clashes(update: Update) -> None:
    """Refuse clients that another broker has."""
    for service in update.catalog.services:
        client = service.data.get("dashboard_client")
        client_id = client.get("id") if isinstance(client, dict) else None
        if isinstance(client_id, str) and (Identity.CLIENT_ID, client_id) in update.others:
            update.add_clash(service.path, '"Service dashboard client id must be unique"')


def _deactivate_or_delete_missing(update: Update) -> None:
    """Deactivate plans that have instances, and service offerings that have plans; delete the others."""
    used = update.used_keys()
    for row in update.removed_plan_rows():
        update.keep_or_delete(row, State.INACTIVE if row.key in used else None)
    with_plans = {row.service for row in update.plan_rows()}
    for row in update.removed_service_rows():
        update.keep_or_delete(row, State.INACTIVE if row.service in with_plans else None)
