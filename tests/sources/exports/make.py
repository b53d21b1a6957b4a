"""A catalog as each platform would export it, from the documented shapes. What the platform does not keep is lost."""

import copy
import json
from typing import Any

from osbctl.platforms import Platform
from osbctl.platforms.tools import export_format
from osbctl.sources.document import parse_document
from osbctl.sources.exports import StoredCatalog, find_stored_catalog
from tests.platforms.known import KNOWN

BROKER = "the-broker"


def export_as(platform: Platform, catalog: dict[str, Any]) -> list[dict[str, Any]]:
    """The files of the export: service offerings, and plans; one for Kubernetes.

    One that exports rows of the same shape as a known platform does so in its way.
    """
    catalog = copy.deepcopy(catalog)
    shape = export_format(platform).shape
    platform = platform if platform in KNOWN else next(each for each in KNOWN if export_format(each).shape == shape)
    if platform is Platform.KUBERNETES:
        return [_kubernetes(catalog)]
    if platform is Platform.SERVICE_MANAGER:
        return [{"num_items": len(rows), "items": rows} for rows in _service_manager(catalog)]
    make = {Platform.KORIFI: _korifi, Platform.CLOUD_FOUNDRY: _cloud_foundry}[platform]
    return [page(rows) for rows in make(catalog)]


def read(*files: Any, **options: Any) -> StoredCatalog:
    """The catalog in the files of an export, which are called 0.json and so on."""
    documents = [parse_document(json.dumps(file, indent=1).encode(), f"{n}.json") for n, file in enumerate(files)]
    return find_stored_catalog(documents, **options)


def page(rows: list[dict[str, Any]], total: int | None = None, asked: str = "", **more: Any) -> dict[str, Any]:
    """One page of Cloud Foundry's; `asked` is the query that it answers."""
    total = len(rows) if total is None else total
    kind = "service_plans" if rows and "service_offering" in rows[0]["relationships"] else "service_offerings"
    first = {"href": f"https://api.example.com/v3/{kind}{asked}"}
    pagination = {"total_results": total, "total_pages": 1, "first": first, "next": None, "previous": None}
    return {"pagination": pagination, "resources": rows, **more}


def _value(thing: dict[str, Any], key: str, default: Any) -> Any:
    return default if thing.get(key) is None else thing[key]


def _schema(plan: dict[str, Any], outer: str, inner: str) -> Any:
    value: Any = plan.get("schemas")
    for key in (outer, inner, "parameters"):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _schemas(plan: dict[str, Any], empty: Any) -> dict[str, Any]:
    places = {"service_instance": ("create", "update"), "service_binding": ("create",)}
    return {
        outer: {
            inner: {} if (s := _schema(plan, outer, inner)) is None and empty is None else {"parameters": s or empty}
            for inner in inners
        }
        for outer, inners in places.items()
    }


def _features(service: dict[str, Any]) -> dict[str, bool]:
    names = ("plan_updateable", "bindable", "instances_retrievable", "bindings_retrievable", "allow_context_updates")
    return {name: _value(service, name, False) for name in names}


SHOWN_BESIDE = {
    "available": True,
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
    "metadata": {"labels": {"a": "b"}, "annotations": {}},
    "links": {"self": {"href": "https://api.example.com"}},
}
"""Fields that Cloud Foundry shows beside those of the catalog."""


def _cloud_foundry(catalog: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    offerings, plans = [], []
    for number, service in enumerate(catalog["services"]):
        guid = f"offering-{number}"
        metadata = service.get("metadata") or {}
        offering = {
            "guid": guid,
            **{name: service[name] for name in ("name", "description")},
            **{name: service.get(name) or [] for name in ("tags", "requires")},
            "shareable": metadata.get("shareable") is True,
            "documentation_url": metadata.get("documentationUrl"),
            "broker_catalog": {"id": service["id"], "metadata": metadata, "features": _features(service)},
            "relationships": {"service_broker": {"data": {"guid": BROKER}}},
        }
        offerings.append(SHOWN_BESIDE | offering)
        for index, plan in enumerate(service["plans"]):
            flags = ("bindable", "plan_updateable")
            broker_catalog = {
                "id": plan["id"],
                "metadata": plan.get("metadata") or {},
                "maximum_polling_duration": plan.get("maximum_polling_duration"),
                "features": {name: _value(plan, name, _value(service, name, False)) for name in flags},
            }
            made = {
                "guid": f"plan-{number}-{index}",
                **{name: plan[name] for name in ("name", "description")},
                "visibility_type": "admin",
                "free": _value(plan, "free", True),
                "costs": [],
                "maintenance_info": plan.get("maintenance_info") or {},
                "broker_catalog": broker_catalog,
                "schemas": _schemas(plan, {}),
                "relationships": {"service_offering": {"data": {"guid": guid}}},
            }
            plans.append(SHOWN_BESIDE | made)
    return offerings, plans


def _korifi(catalog: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    offerings, plans = _cloud_foundry(catalog)
    for offering in offerings:
        del offering["shareable"]
        offering["required"] = offering.pop("requires")
    by_id = {plan["id"]: plan for service in catalog["services"] for plan in service["plans"]}
    for plan in plans:
        original = by_id[plan["broker_catalog"]["id"]]
        del plan["costs"], plan["maintenance_info"], plan["broker_catalog"]["maximum_polling_duration"]
        plan["available"] = False  # visible to administrators only
        plan["free"] = _value(original, "free", False)
        plan["schemas"] = _schemas(original, None)
        flags = ("bindable", "plan_updateable")
        plan["broker_catalog"]["features"] = {name: _value(original, name, False) for name in flags}
    return offerings, plans


def _present(**fields: Any) -> dict[str, Any]:
    """As Go writes with omitempty."""
    return {key: value for key, value in fields.items() if value not in (None, {}, [], "", 0) or value is False}


def _shared(thing: dict[str, Any], **fields: str) -> dict[str, Any]:
    """The fields of `thing` that are there, by the names that the platform gives them."""
    return _present(**{name: thing.get(key) for name, key in fields.items()})


def _kubernetes(catalog: dict[str, Any]) -> dict[str, Any]:
    items: list[dict[str, Any]] = []

    def add(kind: str, name: str, thing: dict[str, Any], **more: Any) -> None:
        names = {"externalID": thing["id"], "externalName": thing["name"], "description": thing["description"]}
        item: dict[str, Any] = {"apiVersion": "servicecatalog.k8s.io/v1beta1", "kind": kind}
        item["metadata"] = {"name": name, "uid": f"uid-{name}"}
        item["spec"] = {"clusterServiceBrokerName": BROKER, **names, **more}
        items.append(item | {"status": {"removedFromBrokerCatalog": False}})

    for number, service in enumerate(catalog["services"]):
        add(
            "ClusterServiceClass",
            f"class-{number}",
            service,
            bindable=_value(service, "bindable", False),
            bindingRetrievable=_value(service, "bindings_retrievable", False),
            planUpdatable=_value(service, "plan_updateable", False),
            **_shared(service, externalMetadata="metadata", tags="tags", requires="requires"),
        )
        for index, plan in enumerate(service["plans"]):
            schemas = {
                "instanceCreateParameterSchema": _schema(plan, "service_instance", "create"),
                "instanceUpdateParameterSchema": _schema(plan, "service_instance", "update"),
                "serviceBindingCreateParameterSchema": _schema(plan, "service_binding", "create"),
            }
            add(
                "ClusterServicePlan",
                f"plan-{number}-{index}",
                plan,
                clusterServiceClassRef={"name": f"class-{number}"},
                free=_value(plan, "free", False),
                **_shared(plan, bindable="bindable", externalMetadata="metadata"),
                **_present(**schemas),
            )
    return {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}


def _service_manager(catalog: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    offerings, plans = [], []

    def row(thing: dict[str, Any], guid: str, *fields: str, **more: Any) -> dict[str, Any]:
        texts = {"name": thing["name"], "description": thing.get("description") or ""}
        names = {"id": guid, "catalog_id": thing["id"], "catalog_name": thing["name"], "ready": True}
        return {**texts, **names, **_shared(thing, **{field: field for field in fields}), **more}

    for number, service in enumerate(catalog["services"]):
        guid = f"offering-{number}"
        more = {"broker_id": BROKER, "created_at": "2026-01-01T00:00:00Z", **_features(service)}
        offerings.append(row(service, guid, "tags", "requires", "metadata", **more))
        for index, plan in enumerate(service["plans"]):
            fields = ("free", "bindable", "plan_updateable", "metadata", "schemas", "maximum_polling_duration")
            made = row(plan, f"plan-{number}-{index}", *fields, "maintenance_info", service_offering_id=guid)
            plans.append(made)
    return offerings, plans
