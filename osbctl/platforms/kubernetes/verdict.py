"""What Kubernetes Service Catalog answers to a catalog (`pkg/apis/servicecatalog/validation`; archived)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from osbctl.platforms.golang import field, objects, undecodable
from osbctl.platforms.outcome import Outcome, Refusal, VerdictKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.paths import Path

MAX_NAME = 63
_NAME = re.compile(r"[-.a-zA-Z0-9]+")
_PLAN = {
    "id": "string",
    "name": "string",
    "description": "string",
    "free": "bool",
    "bindable": "bool",
    "metadata": "map",
    "schemas": {
        "service_instance": {"create": {}, "update": {}},
        "service_binding": {"create": {}},
    },
}
_SHAPE = {
    "services": [
        {
            "id": "string",
            "name": "string",
            "description": "string",
            "tags": ["string"],
            "requires": ["string"],
            "bindable": "bool",
            "plan_updateable": "bool",
            "bindings_retrievable": "bool",
            "instances_retrievable": "bool",
            "metadata": "map",
            "dashboard_client": {"id": "string", "secret": "string", "redirect_uri": "string"},
            "plans": [_PLAN],
        }
    ]
}


def judge(data: dict[str, Any], well_typed: bool = False) -> Outcome:
    """What Service Catalog does with the catalog `data`. `well_typed` says that all types are known to be right."""
    refusals = tuple(() if well_typed else undecodable(data, _SHAPE, "kubernetes", "Service Catalog")) or tuple(
        _refusals(data)
    )
    return Outcome(VerdictKind.REFUSES if refusals else VerdictKind.ACCEPTS, refusals)


def _refusals(data: dict[str, Any]) -> Iterator[Refusal]:
    for service, path in objects(data, "services", ()):
        yield from _named(service, path, "class")
        plans = list(objects(service, "plans", path))
        if not plans:
            told = "Service Catalog wants at least one plan in each class"
            yield Refusal("kubernetes-no-plan", (*path, "plans"), told)
        for plan, plan_path in plans:
            yield from _named(plan, plan_path, "plan")


def _named(thing: dict[str, Any], path: Path, kind: str) -> Iterator[Refusal]:
    for key in ("id", "name"):
        value = field(thing, key) or ""
        if not _NAME.fullmatch(value) or len(value) > MAX_NAME:
            told = f"Service Catalog wants 1 to {MAX_NAME} letters, digits, dots and hyphens as the {key} of a {kind}"
            yield Refusal("kubernetes-name", (*path, key), told)
    if not field(thing, "description"):
        told = f"Service Catalog wants a description for each {kind}"
        yield Refusal("kubernetes-description", (*path, "description"), told)
