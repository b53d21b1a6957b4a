"""What SAP Service Manager answers to a catalog (`pkg/types` and `storage` of Peripli's service-manager)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.platforms.golang import field, objects, undecodable
from osbctl.platforms.outcome import Outcome, Refusal, VerdictKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.paths import Path

RESERVED_PLAN = "reference-instance"
_SUPPORT = ("supportedPlatforms", "supportedPlatformNames", "excludedPlatformNames")
_PLAN = {
    "id": "string",
    "name": "string",
    "description": "string",
    "free": "bool",
    "bindable": "bool",
    "plan_updateable": "bool",
    "maximum_polling_duration": "int",
    "metadata": "map",
    "schemas": "map",
}
_SHAPE = {
    "services": [
        {
            "id": "string",
            "name": "string",
            "description": "string",
            "bindable": "bool",
            "plan_updateable": "bool",
            "bindings_retrievable": "bool",
            "instances_retrievable": "bool",
            "allow_context_updates": "bool",
            "tags": ["any"],
            "requires": ["any"],
            "metadata": "map",
            "plans": [_PLAN],
        }
    ]
}


def judge(data: dict[str, Any], well_typed: bool = False) -> Outcome:
    """What Service Manager does with the catalog `data`. `well_typed` says that all types are known to be right."""
    refusals = tuple(() if well_typed else undecodable(data, _SHAPE, "service-manager", "Service Manager")) or tuple(
        _refusals(data)
    )
    return Outcome(VerdictKind.REFUSES if refusals else VerdictKind.ACCEPTS, refusals)


def _refusals(data: dict[str, Any]) -> Iterator[Refusal]:
    services = list(objects(data, "services", ()))
    yield from _repeated(services)
    for service, path in services:
        yield from _missing(service, path, ("id", "name"))
        plans = list(objects(service, "plans", path))
        yield from _repeated(plans)
        for plan, plan_path in plans:
            yield from _missing(plan, plan_path, ("id", "name", "description"))
            yield from _plan(plan, plan_path)


def _missing(thing: dict[str, Any], path: Path, keys: tuple[str, ...]) -> Iterator[Refusal]:
    for key in keys:
        if not field(thing, key):
            yield Refusal("service-manager-required", (*path, key), f"Service Manager wants a {key} here")


def _repeated(things: list[tuple[dict[str, Any], Path]]) -> Iterator[Refusal]:
    seen = set()
    for thing, path in things:
        for key in ("id", "name"):
            value = field(thing, key)
            if value and (key, value) in seen:
                told = f"Service Manager takes each {key} only once"
                yield Refusal("service-manager-unique", (*path, key), told)
            seen.add((key, value))


def _plan(plan: dict[str, Any], path: Path) -> Iterator[Refusal]:
    if field(plan, "name") == RESERVED_PLAN:
        told = f"Service Manager keeps the plan name {RESERVED_PLAN!r} to itself"
        yield Refusal("service-manager-reserved-name", (*path, "name"), told)
    metadata = field(plan, "metadata")
    given = [key for key in _SUPPORT if metadata and isinstance(metadata.get(key), list) and metadata[key]]
    if len(given) > 1:
        told = f"Service Manager takes one of {', '.join(_SUPPORT)}, not {' and '.join(given)}"
        yield Refusal("service-manager-platforms", (*path, "metadata", given[1]), told)
