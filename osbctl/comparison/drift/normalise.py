"""Both sides of drift as one platform sees them: what it stores, with what it takes for what a catalog leaves out.

Absent, null and empty are one. Lists keep their length, so that a path leads to the same object as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.paths import found_at

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from osbctl.platforms.export import Fields, Shape

_SERVICE_FLAGS = (
    "bindable",
    "plan_updateable",
    "instances_retrievable",
    "bindings_retrievable",
    "allow_context_updates",
)
_INHERITED = ("bindable", "plan_updateable")


def normalised(data: Mapping[str, Any], shape: Shape, false: Collection[str]) -> dict[str, Any]:
    """The catalog `data` as a platform keeps it that exports `shape`, every boolean written out.

    `false` are the booleans of a plan that it takes for false where a catalog leaves them out.
    """
    return {"services": _each(data.get("services"), lambda service: _service(service, shape, false))}


def silence(stored: dict[str, Any], broker: dict[str, Any], said: Mapping[str, Any], false: Collection[str]) -> None:
    """Take out of both sides what plans have from their service offering alone.

    The platform shows inherited values as the plans' own. Where the broker's plan is silent and the stored one has
    what it would inherit, it is taken to have been silent, too: one change of the service offering is one change.
    `said` is the broker's catalog as it was written, before it became `broker`.
    """
    for old, new, original in _pairs(stored, broker, said, "services"):
        for before, after, plan in _pairs(old, new, original, "plans"):
            for name in _INHERITED:
                if name not in false and plan.get(name) is None and before.get(name) == old.get(name):
                    before.pop(name, None)
                    after.pop(name, None)


def _pairs(
    old: dict[str, Any], new: dict[str, Any], original: Mapping[str, Any], key: str
) -> list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Objects of one id on both sides, with the broker's as it was written."""
    stored: dict[Any, dict[str, Any]] = {}
    for thing in old[key]:
        if isinstance(thing, dict) and isinstance(thing.get("id"), str):
            stored.setdefault(thing["id"], thing)
    values = original.get(key)
    written = values if isinstance(values, list) else []
    return [
        (stored.pop(thing["id"]), thing, source)
        for thing, source in zip(new[key], written, strict=True)
        if isinstance(thing, dict) and isinstance(thing.get("id"), str) and thing["id"] in stored
    ]


def _each(values: Any, take: Callable[[dict[str, Any]], dict[str, Any]]) -> list[Any]:
    return [take(value) if isinstance(value, dict) else None for value in (values if isinstance(values, list) else ())]


def _service(data: dict[str, Any], shape: Shape, false: Collection[str]) -> dict[str, Any]:
    kept = _stored_part(data, shape.service, shape)
    for name in _SERVICE_FLAGS:
        if (name,) in shape.service:
            kept.setdefault(name, False)
    kept["plans"] = _each(data.get("plans"), lambda plan: _plan(plan, kept, shape, false))
    return kept


def _plan(data: dict[str, Any], service: dict[str, Any], shape: Shape, false: Collection[str]) -> dict[str, Any]:
    kept = _stored_part(data, shape.plan, shape)
    kept.setdefault("free", "free" not in false)
    for name in _INHERITED:
        if (name,) in shape.plan:
            kept.setdefault(name, name not in false and service[name])
    return kept


def _stored_part(data: dict[str, Any], fields: Fields, shape: Shape) -> dict[str, Any]:
    kept: dict[str, Any] = {"description": ""}
    for field in fields:
        value = found_at(data, field)
        if value is None or value in ({}, []) or (field in shape.as_absent and value == shape.as_absent[field]):
            continue
        here = kept
        for key in field[:-1]:
            here = here.setdefault(str(key), {})
        here[str(field[-1])] = value
    return kept
