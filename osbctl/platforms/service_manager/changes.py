"""Reactions of Service Manager to changes.

It updates known objects in the catalog's order, then deletes missing ones, then creates new ones. Names are unique in
its database, and it deletes nothing that has instances (service-manager e616ec91f886,
storage/interceptors/broker_update_catalog_interceptor.go, storage/postgres/migrations). Which platforms see a plan
is decided in pkg/types/service_plan.go.
"""

from __future__ import annotations

from osbctl.platforms.reactions import DependsOnInstances, Level, Reaction, breaking, refused, risky, safe

_IN_USE = refused("refuses the whole update (409)")
_NOT_YET_FREE = refused("refuses the whole update (409): it deletes removed ones last, so the name is still taken")
_NAME_TAKEN = refused("refuses the update: the name is taken")

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
        breaking(
            "refuses the whole update (409) if any of its plans has instances, otherwise deletes it",
            expired=Level.RISKY,
        ),
        _IN_USE,
        breaking("deletes it", expired=Level.RISKY),
    ),
    "change-plan-removed": DependsOnInstances(
        breaking("refuses the whole update (409) if the plan has instances, otherwise deletes it", expired=Level.RISKY),
        _IN_USE,
        breaking("deletes it with its visibilities and its id on the platform", expired=Level.RISKY),
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
    "change-plan-name-reused": _NOT_YET_FREE,
    "change-service-name-reused": _NOT_YET_FREE,
    "change-plan-names-swapped": _NAME_TAKEN,
    "change-plan-name-taken": _NAME_TAKEN,
    "change-service-names-swapped": _NAME_TAKEN,
    "change-requires-removed": risky("stores it; the platform behind it may refuse bindings that use the permission"),
    "change-requires-added": risky("stores it; the platform behind it may not have the feature"),
    "change-platforms-withdrawn": breaking("no longer shows the plan to these platforms"),
    "change-instance-sharing-granted": safe(
        "adds a plan `reference-instance` of its own, through which instances are shared"
    ),
    "change-instance-sharing-withdrawn": risky(
        "refuses the update if instances are shared or referenced; otherwise deletes its plan `reference-instance`"
    ),
    "change-plan-updateable-withdrawn": risky("stores it; the platform behind it may refuse to change the plan"),
    "change-context-updates-withdrawn": breaking("refuses to transfer instances to another platform"),
    "change-maintenance-version": risky("stores it; the platform behind it may offer an upgrade"),
    "change-dashboard-client": risky("stores it; the platform behind it may change its client"),
}
