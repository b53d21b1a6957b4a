"""Storage of an update in Cloud Foundry: all of it, or only the dashboard clients.

It saves services, then known plans, then new ones, each in the order of the catalog. It deactivates missing objects,
and deletes those on which nothing depends (cloud_controller_ng 3bbba906, lib/services/service_brokers,
service_manager.rb and v2/catalog.rb).
"""

from __future__ import annotations

from osbctl.catalog import ServiceOffering
from osbctl.platforms import Identity, State
from osbctl.platforms.cloudfoundry.ruby import plan_name, strip
from osbctl.platforms.saving import ClashKind, Names, Update, bare


def save(update: Update) -> None:
    """Save the catalog, or note why it is refused."""
    if update.refuse_invalid():
        return
    before = dict(update.rows)
    _check_service_names(update)
    _check_plan_ids(update)
    _check_clients(update)
    for service in update.catalog.services:
        data = bare(service.data)
        update.put(service.id, service, {**data, "name": strip(service.name)} if service.name else data)
    homes = [(service, plan) for service in update.catalog.services for plan in service.plans]
    names = Names(update.rows, plan_name)
    for service, plan in sorted(homes, key=lambda home: (home[0].id, home[1].id) not in before):
        holder = names.take((service.id, plan.id), plan.name)
        if holder:
            taken = f"Service {service.name} already has a plan named {plan.name}"
            words = f'"Plan names must be unique within a service. {taken}"'
            update.clash(plan.path, words, holder, ClashKind.NAME)
        update.put(service.id, plan, {**plan.data, "name": strip(plan.name)} if plan.name else dict(plan.data))
    _remove_missing(update)
    if update.clashes:
        update.rows = before


def _check_service_names(update: Update) -> None:
    """`taken_names`: finds an old service offering ignoring case, then looks for its very name among the new ones."""
    by_name: dict[str, ServiceOffering] = {}
    for service in update.catalog.services:
        by_name.setdefault(service.name, service)
    folded = {name.lower(): service for name, service in by_name.items() if name}
    used = update.used_rows()
    for row in update.services():
        other = folded.get(row.name.lower())
        new = by_name.get(row.name)
        if other and not new:
            update.clash(other.path, 'crashes: the operator reads "An unknown error occurred"', row, ClashKind.CRASH)
        elif new and new.id != row.service and row.key in used:
            update.clash(new.path, f'`Services with names ["{row.name}"] already exist`', row)


def _check_plan_ids(update: Update) -> None:
    homes = {plan.id: (service, plan) for service in update.catalog.services for plan in service.plans}
    for row in update.plans():
        home = homes.get(row.plan or "")
        if home and home[0].id != row.service:
            update.clash(home[1].path, '"Plan ids must be unique"', row)


def _check_clients(update: Update) -> None:
    for service in update.catalog.services:
        client = service.data.get("dashboard_client")
        client_id = client.get("id") if isinstance(client, dict) else None
        if isinstance(client_id, str) and (Identity.CLIENT_ID, client_id) in update.others:
            update.clash(service.path, '"Service dashboard client id must be unique"')


def _remove_missing(update: Update) -> None:
    used = update.used_rows()
    for row in update.gone_plans():
        update.leave(row, State.INACTIVE if row.key in used else None)
    with_plans = {row.service for row in update.plans()}
    for row in update.gone_services():
        update.leave(row, State.INACTIVE if row.service in with_plans else None)
