"""Reactions of Cloud Foundry to changes.

It updates known objects, creates new ones, and deletes missing ones last. If a plan's name is still taken when its new
holder is saved, it refuses the whole update. Names of services are not unique in its database: one clashes if its old
owner has instances, in any order (cloud_controller_ng 3bbba906, lib/services/service_brokers/v2/catalog.rb,
`taken_names`).
"""

from __future__ import annotations

from osbctl.platforms.reactions import DependsOnInstances, Level, Reaction, breaking, refused, risky, safe

_SERVICE_NAME_TAKEN = '`Services with names ["{service}"] already exist`'
_PLAN_NAME_TAKEN = refused(
    '"Plan names must be unique within a service. Service {service} already has a plan named {plan}"'
)
_PLAN_ID_TAKEN = refused('"Plan ids must be unique"')
_OVERWRITES = breaking("overwrites the name; scripts, and the keys of VCAP_SERVICES in applications, change with it")
_NAME_IN_USE = DependsOnInstances(
    breaking("refuses the update if the old holder of the name has instances; otherwise overwrites the name"),
    refused(f"{_SERVICE_NAME_TAKEN}: the old holder of the name has instances"),
    _OVERWRITES,
)
_REMOVES = DependsOnInstances(
    breaking(
        "deactivates it and warns the operator if it has instances, otherwise deletes it with its visibilities",
        expired=Level.RISKY,
    ),
    breaking("deactivates it and warns the operator; no new instances can be created", expired=Level.RISKY),
    breaking("deletes it with its visibilities and its id on the platform", expired=Level.RISKY),
)

NOTES = {
    "Cloud Foundry may have deactivated plans of earlier catalogs, which still hold their ids and names": frozenset(
        {"change-plan-added", "change-plan-renamed", "change-plan-name-passed-on", "change-service-id"}
    ),
    "Cloud Foundry refuses the id of a dashboard client of another broker, or one left over in UAA": frozenset(
        {"change-dashboard-client"}
    ),
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
        refused(f"if it has instances: {_SERVICE_NAME_TAKEN}; otherwise replaces it"),
        refused(_SERVICE_NAME_TAKEN),
        risky("replaces it; access to its plans must be enabled again"),
    ),
    "change-service-id-plans-kept": _PLAN_ID_TAKEN,
    "change-plan-moved": _PLAN_ID_TAKEN,
    "change-plan-name-reused": _PLAN_NAME_TAKEN,
    "change-service-name-reused": _NAME_IN_USE,
    "change-plan-names-swapped": _PLAN_NAME_TAKEN,
    "change-service-names-swapped": _NAME_IN_USE,
    "change-plan-name-taken": _PLAN_NAME_TAKEN,
    "change-service-name-case": refused('crashes: the operator reads "An unknown error occurred"'),
    "change-service-name-passed-on": _NAME_IN_USE,
    "change-service-renamed": _OVERWRITES,
    "change-shareable-withdrawn": breaking("refuses to share instances"),
    "change-free-to-paid": breaking(
        "refuses to create and update instances in organisations whose quota has no paid plans"
    ),
    "change-requires-removed": breaking("rejects bindings that still use the permission"),
    "change-requires-added": risky("rejects the catalog as incompatible if the operator turned that feature off"),
    "change-dashboard-client-left": breaking(
        "has already changed the client in UAA, and does not undo it: with a new id it refuses the corrected catalog "
        "(`Service dashboard client id must be unique`), a changed secret is live, a removed client is gone"
    ),
    "change-dashboard-client": risky(
        "changes the client in its identity service; dashboard sign-ins may fail until the broker follows"
    ),
}
