"""A catalog as each platform would export it, from the documented shapes. What the platform does not keep is lost."""

from __future__ import annotations

import copy
from typing import Any

from osbctl.platforms import Platform

BROKER = "the-broker"


def export_as(platform: Platform, catalog: dict[str, Any]) -> list[dict[str, Any]]:
    """The files of the export: service offerings, and plans; one for Kubernetes."""
    catalog = copy.deepcopy(catalog)
    if platform is Platform.KUBERNETES:
        return [_kubernetes(catalog)]
    make = {
        Platform.CLOUD_FOUNDRY: _cloud_foundry,
        Platform.KORIFI: _korifi,
        Platform.SERVICE_MANAGER: _service_manager,
    }[platform]
    offerings, plans = make(catalog)
    if platform is Platform.SERVICE_MANAGER:
        return [{"num_items": len(rows), "items": rows} for rows in (offerings, plans)]
    return [page(offerings), page(plans)]


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


def _cloud_foundry(catalog: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    offerings, plans = [], []
    for number, service in enumerate(catalog["services"]):
        guid = f"offering-{number}"
        metadata = service.get("metadata") or {}
        offerings.append(
            {
                "guid": guid,
                "name": service["name"],
                "description": service["description"],
                "available": True,
                "tags": service.get("tags") or [],
                "requires": service.get("requires") or [],
                "created_at": "2026-01-01T00:00:00Z",
                "updated_at": "2026-01-01T00:00:00Z",
                "shareable": metadata.get("shareable") is True,
                "documentation_url": metadata.get("documentationUrl"),
                "broker_catalog": {"id": service["id"], "metadata": metadata, "features": _features(service)},
                "relationships": {"service_broker": {"data": {"guid": BROKER}}},
                "metadata": {"labels": {"a": "b"}, "annotations": {}},
                "links": {"self": {"href": "https://api.example.com"}},
            }
        )
        for index, plan in enumerate(service["plans"]):
            plans.append(
                {
                    "guid": f"plan-{number}-{index}",
                    "name": plan["name"],
                    "visibility_type": "admin",
                    "available": True,
                    "free": _value(plan, "free", True),
                    "costs": [],
                    "description": plan["description"],
                    "maintenance_info": plan.get("maintenance_info") or {},
                    "broker_catalog": {
                        "id": plan["id"],
                        "metadata": plan.get("metadata") or {},
                        "maximum_polling_duration": plan.get("maximum_polling_duration"),
                        "features": {
                            name: _value(plan, name, _value(service, name, False))
                            for name in ("bindable", "plan_updateable")
                        },
                    },
                    "schemas": _schemas(plan, {}),
                    "relationships": {"service_offering": {"data": {"guid": guid}}},
                    "metadata": {"labels": {}, "annotations": {}},
                    "links": {},
                }
            )
    return offerings, plans


def _korifi(catalog: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    offerings, plans = _cloud_foundry(catalog)
    for offering in offerings:
        del offering["shareable"]
        offering["required"] = offering.pop("requires")
    by_id = {plan["id"]: plan for service in catalog["services"] for plan in service["plans"]}
    for plan in plans:
        original = by_id[plan["broker_catalog"]["id"]]
        for key in ("costs", "maintenance_info"):
            del plan[key]
        del plan["broker_catalog"]["maximum_polling_duration"]
        plan["available"] = False  # visible to administrators only
        plan["free"] = _value(original, "free", False)
        plan["schemas"] = _schemas(original, None)
        plan["broker_catalog"]["features"] = {
            name: _value(original, name, False) for name in ("bindable", "plan_updateable")
        }
    return offerings, plans


def _present(**fields: Any) -> dict[str, Any]:
    """As Go writes with omitempty."""
    return {key: value for key, value in fields.items() if value not in (None, {}, [], "", 0) or value is False}


def _kubernetes(catalog: dict[str, Any]) -> dict[str, Any]:
    items: list[dict[str, Any]] = []
    for number, service in enumerate(catalog["services"]):
        class_name = f"class-{number}"
        spec = {
            "clusterServiceBrokerName": BROKER,
            "externalID": service["id"],
            "externalName": service["name"],
            "description": service["description"],
            "bindable": _value(service, "bindable", False),
            "bindingRetrievable": _value(service, "bindings_retrievable", False),
            "planUpdatable": _value(service, "plan_updateable", False),
            **_present(
                externalMetadata=service.get("metadata"), tags=service.get("tags"), requires=service.get("requires")
            ),
        }
        items.append(_item("ClusterServiceClass", class_name, spec))
        for index, plan in enumerate(service["plans"]):
            spec = {
                "clusterServiceBrokerName": BROKER,
                "clusterServiceClassRef": {"name": class_name},
                "externalID": plan["id"],
                "externalName": plan["name"],
                "description": plan["description"],
                "free": _value(plan, "free", False),
                **_present(
                    bindable=plan.get("bindable"),
                    externalMetadata=plan.get("metadata"),
                    instanceCreateParameterSchema=_schema(plan, "service_instance", "create"),
                    instanceUpdateParameterSchema=_schema(plan, "service_instance", "update"),
                    serviceBindingCreateParameterSchema=_schema(plan, "service_binding", "create"),
                ),
            }
            items.append(_item("ClusterServicePlan", f"plan-{number}-{index}", spec))
    return {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}


def _item(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "servicecatalog.k8s.io/v1beta1",
        "kind": kind,
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": spec,
        "status": {"removedFromBrokerCatalog": False},
    }


def _service_manager(catalog: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    offerings, plans = [], []
    for number, service in enumerate(catalog["services"]):
        guid = f"offering-{number}"
        offerings.append(
            {
                "id": guid,
                "name": service["name"],
                "description": service.get("description") or "",
                **_features(service),
                **_present(
                    tags=service.get("tags"), requires=service.get("requires"), metadata=service.get("metadata")
                ),
                "broker_id": BROKER,
                "catalog_id": service["id"],
                "catalog_name": service["name"],
                "created_at": "2026-01-01T00:00:00Z",
                "ready": True,
            }
        )
        for index, plan in enumerate(service["plans"]):
            fields = ("free", "bindable", "plan_updateable", "metadata", "schemas", "maximum_polling_duration")
            plans.append(
                {
                    "id": f"plan-{number}-{index}",
                    "name": plan["name"],
                    "description": plan["description"],
                    "catalog_id": plan["id"],
                    "catalog_name": plan["name"],
                    **_present(**{name: plan.get(name) for name in (*fields, "maintenance_info")}),
                    "service_offering_id": guid,
                    "ready": True,
                }
            )
    return offerings, plans
