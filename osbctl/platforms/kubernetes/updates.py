"""Updates in Service Catalog: its reactions to changes, and how it saves object by object, up to the first faulty one.

It saves classes, then flags missing ones, then saves plans, then flags missing ones; then it retries. Objects are named
by their ids: it never moves a plan to another class. A flagged object is deleted once it has no instances
(service-catalog b37daf589e77, pkg/controller/controller_clusterservicebroker.go and controller_clusterserviceclass.go).
"""

from collections.abc import Sequence
from typing import TypeVar

from osbctl.catalog import ServiceOffering, ServicePlan, object_path
from osbctl.platforms import Identity, State
from osbctl.platforms.updates import NO_ACT, NOT_STORED, Update, breaking, refused, safe

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


def change_rows(update: Update) -> None:
    """Change the rows of the update as the platform does, up to the first clash."""
    if update.add_first_refusal("kubernetes-type", "kubernetes-no-plan"):  # while it reads the catalog
        return
    if _save_classes(update):
        _save_plans(update)
    _delete_or_orphan_rows(update)


def _save_classes(update: Update) -> bool:
    """Save the service offerings; return whether none was refused."""
    for service in _objects_before_fault(update, update.catalog.services, 2):
        if (service.id, None) not in update.rows and _refuse_taken_id(update, service, Identity.SERVICE_ID):
            return False
        update.store(service.id, service)
    if update.clashes:
        return False
    for row in update.removed_service_rows():
        update.keep_or_delete(row, State.FLAGGED)
    return True


def _save_plans(update: Update) -> None:
    service_ids = {plan.path: service.id for service in update.catalog.services for plan in service.plans}
    stored_plans = {row.plan: row for row in update.plan_rows()}
    for plan in _objects_before_fault(update, tuple(update.catalog.plans), 4):
        if plan.id not in stored_plans and _refuse_taken_id(update, plan, Identity.PLAN_ID):
            return
        update.store(stored_plans[plan.id].service if plan.id in stored_plans else service_ids[plan.path], plan)
    for row in update.removed_plan_rows() if not update.clashes else ():
        update.keep_or_delete(row, State.FLAGGED)


def _objects_before_fault(update: Update, objects: Sequence[T], depth: int) -> Sequence[T]:
    """The objects before the first refused one, which becomes a clash; `depth` is the length of their paths."""
    refusals = [refusal for refusal in update.refusals if len(object_path(refusal.path)) == depth]
    first = min(refusals, key=lambda refusal: object_path(refusal.path), default=None)
    if first is None:
        return objects
    update.add_clash(object_path(first.path), first.message)
    return [obj for obj in objects if obj.path < object_path(first.path)]


def _refuse_taken_id(update: Update, obj: ServiceOffering | ServicePlan, identity: Identity) -> bool:
    """Add a clash if another broker has the id of the object; return whether one has."""
    owner = update.others.get((identity, obj.id))
    if owner is not None:
        update.add_clash(obj.path, f'already exists for Broker "{owner}"')
    return owner is not None


def _delete_or_orphan_rows(update: Update) -> None:
    """Delete removed objects without instances; mark plans whose service offering is not offered as orphaned."""
    used = update.used_keys()
    for row in [*update.service_rows(), *update.plan_rows()]:
        if row.state is State.FLAGGED and row.key not in used:
            update.keep_or_delete(row, None)
    offered = {row.service for row in update.service_rows() if not row.state}
    for row in update.plan_rows():
        if not row.state and row.service not in offered:
            update.keep_or_delete(row, State.ORPHANED)
