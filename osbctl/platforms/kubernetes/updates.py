"""Updates in Service Catalog: its reactions to changes, and how it saves object by object, up to the first faulty one.

It saves classes, then flags missing ones, then saves plans, then flags missing ones; then it retries. Objects are named
by their ids: it never moves a plan to another class. A flagged object is deleted once it has no instances
(service-catalog b37daf589e77, pkg/controller/controller_clusterservicebroker.go and controller_clusterserviceclass.go).
"""

from collections.abc import Sequence
from typing import TypeVar

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.paths import Path
from osbctl.platforms import Identity, State
from osbctl.platforms.reactions import NO_ACT, NOT_STORED, breaking, refused, safe
from osbctl.platforms.saving import Update

_FLAGS = breaking("flags it as removed and refuses new instances; deletes it once the last one is gone")
_ADDS = safe("adds it, visible at once")

NOTES = {
    "Kubernetes Service Catalog refuses an id that another broker has in the cluster": frozenset(
        {"change-service-added", "change-plan-added", "change-service-id", "change-plan-id"}
    )
}

REACTIONS = {
    "change-refused-in-part": refused(
        "stops at the first faulty object and retries; earlier ones are applied: first classes, then flags on missing "
        "classes, then plans"
    ),
    "change-catalog-emptied": breaking("flags every class and plan as removed"),
    "change-service-without-plans": refused("refuses a class without plans"),
    "change-service-removed": _FLAGS,
    "change-plan-removed": _FLAGS,
    "change-service-added": _ADDS,
    "change-plan-added": _ADDS,
    "change-plan-id": breaking("treats it as a new plan and flags the old one as removed"),
    "change-service-id": breaking("treats it as a new class and flags the old one as removed"),
    "change-service-id-plans-kept": breaking(
        "flags the old class as removed but leaves its plans there: the new class gets none"
    ),
    "change-plan-moved": breaking(
        "leaves it under its old class: it cannot be ordered under the new one, nor anywhere once the old one is gone"
    ),
    "change-bindings-retrievable-withdrawn": safe(
        "stores it; uses it only with asynchronous bindings, which are off by default"
    ),
    "change-instances-retrievable-withdrawn": NOT_STORED,
    "change-context-updates-withdrawn": NOT_STORED,
    "change-requires-removed": NO_ACT,
    "change-requires-added": NO_ACT,
    "change-maintenance-version": NOT_STORED,
    "change-polling-lowered": NOT_STORED,
    "change-polling-raised": NOT_STORED,
    "change-dashboard-client": NOT_STORED,
}

T = TypeVar("T", ServiceOffering, ServicePlan)

_OF_THE_WHOLE = ("kubernetes-type", "kubernetes-no-plan")
"""Refused while it reads the catalog, before anything is saved."""


def save(update: Update) -> None:
    """Save the catalog up to the first fault."""
    for refusal in update.refusals:
        if refusal.rule in _OF_THE_WHOLE:
            update.clash(refusal.path, refusal.message)
            return
    if _save_classes(update):
        _save_plans(update)
    _delete_unused(update)


def _save_classes(update: Update) -> bool:
    for service in _sound(update, update.catalog.services, 2):
        if (service.id, None) not in update.rows and _is_taken(update, service, Identity.SERVICE_ID):
            return False
        update.put(service.id, service)
    if update.clashes:
        return False
    for row in update.gone_services():
        update.leave(row, State.FLAGGED)
    return True


def _save_plans(update: Update) -> None:
    homes = {plan.path: service.id for service in update.catalog.services for plan in service.plans}
    rows = {row.plan: row for row in update.plans()}
    for plan in _sound(update, tuple(update.catalog.plans), 4):
        if plan.id not in rows and _is_taken(update, plan, Identity.PLAN_ID):
            return
        update.put(rows[plan.id].service if plan.id in rows else homes[plan.path], plan)
    for row in update.gone_plans() if not update.clashes else ():
        update.leave(row, State.FLAGGED)


def _sound(update: Update, things: Sequence[T], depth: int) -> Sequence[T]:
    """Those of `things` that come before the first that is faulty, which is noted."""
    faults = [one for one in update.refusals if len(_object(one.path)) == depth]
    first = min(faults, key=lambda one: _object(one.path), default=None)
    if first is None:
        return things
    update.clash(_object(first.path), first.message)
    return [thing for thing in things if thing.path < _object(first.path)]


def _object(path: Path) -> Path:
    return path[:4] if path[2:3] == ("plans",) else path[:2]


def _is_taken(update: Update, thing: ServiceOffering | ServicePlan, identity: Identity) -> bool:
    other = update.others.get((identity, thing.id))
    if other is not None:
        update.clash(thing.path, f'already exists for Broker "{other}"')
    return other is not None


def _delete_unused(update: Update) -> None:
    used = update.used_rows()
    for row in [*update.services(), *update.plans()]:
        if row.state is State.FLAGGED and row.key not in used:
            update.leave(row, None)
    offered = {row.service for row in update.services() if not row.state}
    for row in update.plans():
        if not row.state and row.service not in offered:
            update.leave(row, State.ORPHANED)
