"""Verdict of Kubernetes Service Catalog, from its last code before it was archived.

It stores the catalog object by object: those before a refused class or plan stay created.
Source: kubernetes-retired/service-catalog b37daf589e77, pkg/controller/controller.go and
pkg/apis/servicecatalog/validation; measured.
"""

from collections.abc import Iterator
from typing import Any

from osbctl.platforms.golang import Struct, decode, struct_fields
from osbctl.platforms.verdict import Outcome, Refusal, VerdictKind, limit_refusals

MAX_NAME = 63
"""Bytes of UTF-8; up to v0.1.30 (ids) and v0.1.36 (names) only letters, digits, dots and hyphens were taken, too."""

_PLAN = {
    **struct_fields(string="id name description", bool="free bindable", map="metadata"),
    "schemas": {"service_instance": {"create": {}, "update": {}}, "service_binding": {"create": {}}},
}
_SERVICE = {
    **struct_fields(
        string="id name description",
        bool="bindable plan_updateable bindings_retrievable instances_retrievable",
        map="metadata",
    ),
    "tags": ["string"],
    "requires": ["string"],
    "dashboard_client": struct_fields(string="id secret redirect_uri"),
    "plans": [_PLAN],
}
CATALOG_TYPE = {"services": [_SERVICE]}
"""The structs of Go that it reads a catalog into."""


def judge(data: dict[str, Any]) -> Outcome:
    """Verdict of Service Catalog on the catalog `data`."""
    catalog, read = decode(data, CATALOG_TYPE, "kubernetes", "Service Catalog")
    if read.kind is not VerdictKind.ACCEPTS:
        return read
    refusals = limit_refusals(_find_refusals(catalog["services"] or []))
    return Outcome(VerdictKind.REFUSES if refusals else VerdictKind.ACCEPTS, refusals)


def _find_refusals(services: list[Struct]) -> Iterator[Refusal]:
    yield from _repeated_id_refusals(services, "class")
    yield from _repeated_id_refusals([plan for service in services for plan in service["plans"] or ()], "plan")
    for service in services:
        yield from _field_refusals(service, "class")
        if not service["plans"]:
            text = "Service Catalog requires a plan in each class"
            yield Refusal("kubernetes-no-plan", service.field_path("plans"), text)
        for plan in service["plans"] or ():
            yield from _field_refusals(plan, "plan")


def _field_refusals(struct: Struct, kind: str) -> Iterator[Refusal]:
    for key in ("id", "name"):
        if not 0 < len((struct[key] or "").encode("utf-8", "surrogatepass")) <= MAX_NAME:
            text = f"Service Catalog requires 1 to {MAX_NAME} bytes as the {key} of a {kind}"
            yield Refusal("kubernetes-name", struct.field_path(key), text)
    if not struct["description"]:
        text = f"Service Catalog requires a description for each {kind}"
        yield Refusal("kubernetes-description", struct.field_path("description"), text)


def _repeated_id_refusals(structs: list[Struct], kind: str) -> Iterator[Refusal]:
    """Refusals of ids that occur twice: objects are named by their ids. `kind` is a word for messages."""
    seen = set()
    for struct in structs:
        identity = struct["id"]
        if identity in seen:
            text = f"Service Catalog names each {kind} by its id, and this one already exists"
            yield Refusal("kubernetes-unique", struct.field_path("id"), text)
        # Two missing ids are no repetition: `_field_refusals` reports each.
        seen.add(identity or struct)
