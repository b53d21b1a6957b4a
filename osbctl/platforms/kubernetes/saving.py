"""Storage of an update in Service Catalog: object by object, up to the first faulty one; then it retries.

It saves classes, then flags missing ones, then saves plans, then flags missing ones. Objects are named by their ids: a
plan stays under the class that it was created with. A flagged object is deleted once it has no instances
(service-catalog b37daf589e77, pkg/controller/controller_clusterservicebroker.go and controller_clusterserviceclass.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.paths import Path
from osbctl.platforms import Identity, State
from osbctl.platforms.saving import Update

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
