"""What Korifi answers to a catalog: it validates nothing, but what it cannot decode it cannot take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.platforms.golang import field, objects, undecodable
from osbctl.platforms.outcome import Outcome, Refusal, VerdictKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARAMETERS = {"parameters": "map"}
_PLAN = {
    "id": "string",
    "name": "string",
    "description": "string",
    "metadata": "map",
    "free": "bool",
    "bindable": "bool",
    "binding_rotatable": "bool",
    "plan_updateable": "bool",
    "schemas": {
        "service_instance": {"create": _PARAMETERS, "update": _PARAMETERS},
        "service_binding": {"create": _PARAMETERS},
    },
    "maintenance_info": {"version": "string"},
}
_SHAPE = {
    "services": [
        {
            "id": "string",
            "name": "string",
            "description": "string",
            "bindable": "bool",
            "bindings_retrievable": "bool",
            "instances_retrievable": "bool",
            "allow_context_updates": "bool",
            "plan_updateable": "bool",
            "tags": ["string"],
            "requires": ["string"],
            "metadata": "map",
            "dashboard_client": {"id": "string", "secret": "string", "redirect_url": "string"},
            "plans": [_PLAN],
        }
    ]
}


def judge(data: dict[str, Any], well_typed: bool = False) -> Outcome:
    """What Korifi does with the catalog `data`. `well_typed` says that all types are known to be right."""
    undecoded = tuple(() if well_typed else undecodable(data, _SHAPE, "korifi", "Korifi"))
    if undecoded:
        return Outcome(VerdictKind.REFUSES, undecoded)
    panics = tuple(_panics(data))
    return Outcome(VerdictKind.CRASHES if panics else VerdictKind.ACCEPTS, panics)


def _panics(data: dict[str, Any]) -> Iterator[Refusal]:
    for service, path in objects(data, "services", ()):
        metadata = field(service, "metadata") or {}
        if not isinstance(metadata.get("documentationUrl", ""), str):
            told = "Korifi's controller panics on a documentationUrl that is no string"
            yield Refusal("korifi-crash", (*path, "metadata", "documentationUrl"), told)
