"""What Korifi answers to a catalog: it validates nothing, but what it cannot decode it cannot take.

What stands before the service offering that it fails at stays created.
Source: cloudfoundry/korifi fb0a00b25db6, controllers/controllers/services; measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.platforms.golang import Struct, decode
from osbctl.platforms.outcome import Outcome, Refusal, VerdictKind, bounded

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


def judge(data: dict[str, Any], _plain_schemas: bool = False) -> Outcome:
    """What Korifi does with the catalog `data`."""
    catalog, undecoded = decode(data, _SHAPE, "korifi", "Korifi")
    if undecoded:
        return Outcome(VerdictKind.REFUSES, bounded(undecoded))
    panics = bounded(_panics(catalog["services"] or []))
    return Outcome(VerdictKind.CRASHES if panics else VerdictKind.ACCEPTS, panics)


def _panics(services: list[Struct]) -> Iterator[Refusal]:
    for service in services:
        if not isinstance((service["metadata"] or {}).get("documentationUrl", ""), str):
            text = "Korifi's controller panics on a documentationUrl that is not a string"
            yield Refusal("korifi-crash", (*service.at("metadata"), "documentationUrl"), text)
