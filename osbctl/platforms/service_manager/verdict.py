"""Verdict of SAP Service Manager, without the interceptors of SAP's own distribution.

It is transactional: of a catalog that it refuses, nothing is stored.
Source: Peripli/service-manager e616ec91f886, storage/interceptors/broker_create_catalog_interceptor.go, pkg/types
and storage/postgres/migrations; measured.
"""

from collections.abc import Iterator
from typing import Any

from osbctl.paths import JsonPath
from osbctl.platforms.golang import Map, Pointers, Struct, decode, struct_fields
from osbctl.platforms.service_manager import PLATFORM
from osbctl.platforms.verdict import Outcome, Refusal, VerdictKind, limit_refusals

RESERVED_PLAN = "reference-instance"
MAX_TEXT = 255
"""Characters of an id, a name, a label's key or value: `varchar(255)`."""
_TOO_LONG = (
    f"Service Manager stores at most {MAX_TEXT} characters: value too long for type character varying({MAX_TEXT})"
)

_INT_32 = range(-(2**31), 2**31)
_SUPPORT = tuple(PLATFORM.visibility_lists)[::-1]
_BASE = {**struct_fields(string="id", time="created_at updated_at", bool="ready"), "labels": Map(["string"])}
_THING = {
    **_BASE,
    **struct_fields(string="name description catalog_id catalog_name", raw="metadata", unclear="last_operation"),
}
_PLAN = {
    **_THING,
    **struct_fields(
        string="service_offering_id",
        bool="free bindable plan_updateable",
        raw="schemas",
        int="maximum_polling_duration",
    ),
}
_SERVICE = {
    **_THING,
    **struct_fields(
        string="broker_id",
        bool="bindable plan_updateable instances_retrievable bindings_retrievable allow_context_updates",
        raw="tags requires",
    ),
    "plans": Pointers(_PLAN),
}
CATALOG_TYPE = {"services": Pointers(_SERVICE)}
"""The structs of Go that it reads a catalog into."""


def judge(data: dict[str, Any]) -> Outcome:
    """Verdict of Service Manager on the catalog `data`."""
    catalog, read = decode(data, CATALOG_TYPE, "service-manager", "Service Manager")
    refusals = limit_refusals(_find_refusals(catalog["services"] or []))
    if read.kind is not VerdictKind.ACCEPTS or not refusals:
        return read
    # It goes through the catalog in order and stops at the first fault.
    return Outcome(VerdictKind.CRASHES if refusals[0].crashes else VerdictKind.REFUSES, refusals)


def _find_refusals(services: list[Struct | None]) -> Iterator[Refusal]:
    for number, service in enumerate(services):
        if service is None:
            yield _null_refusal(("services", number), "service offering")
        else:
            yield from _service_refusals(service)
    yield from _storage_refusals([service for service in services if service])


def _service_refusals(service: Struct) -> Iterator[Refusal]:
    yield from _missing_field_refusals(service, ("id", "name"))
    yield from _type_refusals(service, {"tags": list, "requires": list, "metadata": dict})
    for number, plan in enumerate(service["plans"] or ()):
        if plan is None:
            yield _null_refusal((*service.field_path("plans"), number), "plan")
        else:
            yield from _plan_refusals(plan, service)


def _null_refusal(path: JsonPath, kind: str) -> Refusal:
    return Refusal("service-manager-crash", path, f"Service Manager crashes on a {kind} that is null", crashes=True)


def _plan_refusals(plan: Struct, service: Struct) -> Iterator[Refusal]:
    for key in ("name", "catalog_name"):
        if plan[key] == RESERVED_PLAN:
            text = f"Service Manager reserves the plan name {RESERVED_PLAN!r}"
            yield Refusal("service-manager-reserved-name", plan.field_path(key), text)
    yield from _missing_field_refusals(plan, ("id", "name", "description"))
    yield from _type_refusals(plan, {"schemas": dict, "metadata": dict})
    yield from _metadata_refusals(plan, service, plan["metadata"] if isinstance(plan["metadata"], dict) else {})


def _metadata_refusals(plan: Struct, service: Struct, metadata: dict[str, Any]) -> Iterator[Refusal]:
    """Refusals of a plan's lists of platforms, and of instance sharing."""
    present = [key for key in _SUPPORT if isinstance(metadata.get(key), list) and metadata[key]]
    if len(present) > 1:
        text = f"Service Manager accepts only one of {', '.join(_SUPPORT)}, not {' and '.join(present)}"
        yield Refusal("service-manager-platforms", (*plan.field_path("metadata"), present[1]), text)
    bindable = (service if plan["bindable"] is None else plan)["bindable"]
    if metadata.get("supportsInstanceSharing") is True and not bindable:
        text = "Service Manager requires a plan that supports instance sharing to be bindable"
        yield Refusal("service-manager-sharing", (*plan.field_path("metadata"), "supportsInstanceSharing"), text)


def _missing_field_refusals(struct: Struct, keys: tuple[str, ...]) -> Iterator[Refusal]:
    for key in keys:
        if not struct[key]:
            text = f"Service Manager requires the field {key}"
            yield Refusal("service-manager-required", struct.field_path(key), text)


def _type_refusals(struct: Struct, types: dict[str, type]) -> Iterator[Refusal]:
    for key, expected in types.items():
        if struct[key] is not None and not isinstance(struct[key], expected):
            phrase = "an object" if expected is dict else "an array"
            text = f"Service Manager cannot read the catalog: this must be {phrase}"
            yield Refusal("service-manager-type", struct.field_path(key), text, is_wrong_type=True)


def _storage_refusals(services: list[Struct]) -> Iterator[Refusal]:
    """Refusals by PostgreSQL, which stores the catalog."""
    yield from _repeated_identity_refusals(services)
    for service in services:
        yield from _row_refusals(service)
        plans = [plan for plan in service["plans"] or () if plan]
        yield from _repeated_identity_refusals(plans)
        for plan in plans:
            yield from _row_refusals(plan)
            if (plan["maximum_polling_duration"] or 0) not in _INT_32:
                text = "Service Manager stores a polling duration in 32 bits: value is out of range for type integer"
                yield Refusal("service-manager-number", plan.field_path("maximum_polling_duration"), text)


def _repeated_identity_refusals(structs: list[Struct]) -> Iterator[Refusal]:
    seen = set()
    for struct in structs:
        for key in ("id", "name"):
            value = struct[key]
            if value and (key, value) in seen:
                text = f"Service Manager accepts each {key} only once"
                yield Refusal("service-manager-unique", struct.field_path(key), text)
            seen.add((key, value))


def _row_refusals(struct: Struct) -> Iterator[Refusal]:
    """Refusals of texts and labels that do not fit the columns of a row."""
    for key in ("id", "name", "description"):
        text = struct[key] or ""
        if len(text) > MAX_TEXT and key != "description":
            yield Refusal("service-manager-text", struct.field_path(key), _TOO_LONG)
        if "\0" in text:
            message = 'Service Manager stores no NUL: invalid byte sequence for encoding "UTF8": 0x00'
            yield Refusal("service-manager-text", struct.field_path(key), message)
    for key, values in (struct["labels"] or {}).items():
        # A label has a row for each of its values: one without values is not stored, and may have any key.
        if values and not (_fits_label(key) and all(map(_fits_label, values)) and len({*values}) == len(values)):
            message = f"Service Manager requires labels of 1 to {MAX_TEXT} characters without NUL, each once"
            yield Refusal("service-manager-labels", (*struct.field_path("labels"), key), message)


def _fits_label(text: str | None) -> bool:
    """Return whether the database stores a key or a value of a label."""
    return 0 < len(text or "") <= MAX_TEXT and "\0" not in (text or "")
