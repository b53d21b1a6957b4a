"""Storage of an update in Korifi: each service offering with its plans, up to the one at which it panics.

It keeps removed objects, and identifies a plan by broker and id: a plan that moves keeps its instances (korifi
fb0a00b25db6, controllers/controllers/services/brokers/controller.go).
"""

from __future__ import annotations

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.platforms import State
from osbctl.platforms.saving import StoredRow, Update


def save(update: Update) -> None:
    """Save the catalog up to the first service offering at which it panics."""
    stops = [one.path[:2] if one.rule == "korifi-crash" else () for one in update.refusals]
    first = min(stops, default=None)
    if first is not None:
        update.clash(first, next(iter(update.refusals)).message)
    homes = {row.plan: row for row in update.plans()}
    for service in update.catalog.services:
        if first is None or service.path < first:
            update.put(service.id, service)
            for plan in service.plans:
                _put_plan(update, homes, service, plan)
    for row in [*update.gone_services(), *update.gone_plans()] if first is None else ():
        update.leave(row, State.OFFERED)


def _put_plan(update: Update, homes: dict[str | None, StoredRow], service: ServiceOffering, plan: ServicePlan) -> None:
    key = service.id, plan.id
    home = homes.get(plan.id)
    if home and home.key != key:
        update.leave(home, None)
        update.moved[key] = home.key
    update.put(service.id, plan)
    homes[plan.id] = update.rows[key]
