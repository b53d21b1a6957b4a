"""Verdict of Korifi: it validates nothing, and refuses only values that it cannot decode.

Service offerings before the one at which it fails stay created.
Source: cloudfoundry/korifi fb0a00b25db6, controllers/controllers/services; measured.
"""

from collections.abc import Iterator
from typing import Any

from osbctl.platforms.golang import Struct, decode, struct_fields
from osbctl.platforms.verdict import Outcome, Refusal, VerdictKind, limit_refusals

_PARAMETERS = {"parameters": "map"}
_PLAN = {
    **struct_fields(
        string="id name description", bool="free bindable binding_rotatable plan_updateable", map="metadata"
    ),
    "schemas": {
        "service_instance": {"create": _PARAMETERS, "update": _PARAMETERS},
        "service_binding": {"create": _PARAMETERS},
    },
    "maintenance_info": {"version": "string"},
}
_SERVICE = {
    **struct_fields(
        string="id name description",
        bool="bindable bindings_retrievable instances_retrievable allow_context_updates plan_updateable",
        map="metadata",
    ),
    "tags": ["string"],
    "requires": ["string"],
    "dashboard_client": struct_fields(string="id secret redirect_url"),
    "plans": [_PLAN],
}
CATALOG_TYPE = {"services": [_SERVICE]}
"""The structs of Go that it reads a catalog into."""


def judge(data: dict[str, Any]) -> Outcome:
    """Verdict of Korifi on the catalog `data`."""
    catalog, read = decode(data, CATALOG_TYPE, "korifi", "Korifi")
    if read.kind is not VerdictKind.ACCEPTS:
        return read
    panics = limit_refusals(_find_panics(catalog["services"] or []))
    return Outcome(VerdictKind.CRASHES if panics else VerdictKind.ACCEPTS, panics)


def _find_panics(services: list[Struct]) -> Iterator[Refusal]:
    for service in services:
        if not isinstance((service["metadata"] or {}).get("documentationUrl", ""), str):
            text = "Korifi's controller crashes on a documentationUrl that is not a string"
            hint = "leave it out, or write a URL"
            path = (*service.field_path("metadata"), "documentationUrl")
            yield Refusal("korifi-crash", path, text, hint, crashes=True)
