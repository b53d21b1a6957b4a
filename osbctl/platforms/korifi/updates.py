"""Updates in Korifi: its reactions to changes, and how it saves each service offering with its plans.

It stops at the one at which it panics. It keeps removed objects, and identifies a plan by broker and id: a plan that
moves keeps its instances (korifi fb0a00b25db6, controllers/controllers/services/brokers/controller.go).
"""

from collections.abc import Sequence

from osbctl.catalog import ServiceOffering
from osbctl.platforms import State
from osbctl.platforms.updates import NO_ACT, NOT_STORED, Update, breaking, refused, risky, safe

_KEEPS = breaking("keeps and still offers it, though the broker no longer knows it")
_TAKES = breaking("accepts it; users of the name get another object, or find two: it keeps a removed one")
_SHOWN = risky("stores and shows it, never enforces it")

NOTES: dict[str, frozenset[str]] = {
    "At each update, Korifi empties the lists of organisations that may see a plan, even if nothing changed: "
    "grant access again": frozenset()
}

REACTIONS = {
    "change-refused-in-part": refused("stops at this service offering and retries; earlier ones are applied"),
    "change-catalog-emptied": _KEEPS,
    "change-service-without-plans": _KEEPS,
    "change-service-removed": _KEEPS,
    "change-plan-removed": _KEEPS,
    "change-service-added": safe("adds it; its plans are visible to administrators only until someone enables access"),
    "change-plan-added": safe("adds it, visible to administrators only until someone enables access"),
    "change-plan-id": breaking("adds a second plan of this name beside the old one, which stays"),
    "change-service-id": breaking("adds a second service offering of this name beside the old one, which stays"),
    "change-service-id-plans-kept": risky("moves the plans to a new service offering of this name; the old one stays"),
    "change-plan-moved": risky("moves the plan to the other service offering, with its instances"),
    "change-plan-name-taken": _TAKES,
    "change-service-name-taken": _TAKES,
    "change-bindable-withdrawn": risky("stores and shows it, never enforces it: it still creates bindings"),
    "change-plan-updateable-withdrawn": risky(
        "stores and shows it, never enforces it: it cannot change the plan of an instance at all"
    ),
    "change-instances-retrievable-withdrawn": _SHOWN,
    "change-bindings-retrievable-withdrawn": _SHOWN,
    "change-context-updates-withdrawn": _SHOWN,
    "change-requires-removed": NO_ACT,
    "change-requires-added": NO_ACT,
    "change-polling-lowered": NOT_STORED,
    "change-polling-raised": NOT_STORED,
    "change-dashboard-client": NOT_STORED,
}


def change_rows(update: Update) -> None:
    """Change the rows of the update as the platform does, up to the service offering at which it panics."""
    crash_path = min((refusal.path[:2] if refusal.crashes else () for refusal in update.refusals), default=None)
    if crash_path is not None:
        update.add_clash(crash_path, next(iter(update.refusals)).message)
    _drop_repeated_plans(update)
    services = [service for service in update.catalog.services if crash_path is None or service.path < crash_path]
    for service in services:
        update.store(service.id, service)
    _save_plans(update, services)
    for row in [*update.removed_service_rows(), *update.removed_plan_rows()] if crash_path is None else ():
        update.keep_or_delete(row, State.OFFERED)


def _drop_repeated_plans(update: Update) -> None:
    """Keep the last of several stored plans of one id: a stored catalog may repeat an id, but Korifi has one plan."""
    last = {row.plan: row.key for row in update.plan_rows()}
    for row in update.plan_rows():
        if row.key != last[row.plan]:
            del update.rows[row.key], update.before[row.key]


def _save_plans(update: Update, services: Sequence[ServiceOffering]) -> None:
    """Save the plans of `services`, the last of several of one id; a plan that moves takes its instances along."""
    stored = {row.plan: row for row in update.plan_rows()}
    plans = {plan.id: (service.id, plan) for service in services for plan in service.plans}
    for plan_id, (service_id, plan) in plans.items():
        old, key = stored.get(plan_id), (service_id, plan_id)
        if old and old.key != key:
            update.keep_or_delete(old, None)
            update.moved[key] = old.key
        update.store(service_id, plan)
