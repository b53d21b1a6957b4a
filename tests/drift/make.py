"""A catalog with every field that a platform may store, and the same with one field changed."""

from typing import Any

from tests.comparison.make import catalog, plan, service
from tests.fragments import changed


def accepts(**properties: Any) -> dict[str, Any]:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": properties}
    return {"parameters": schema}


def full_plan(id: str, name: str) -> dict[str, Any]:
    return plan(
        id,
        name,
        free=True,
        metadata={"displayName": "Plan", "bullets": ["one"], "costs": [{"amount": {"eur": 1}, "unit": "MONTHLY"}]},
        schemas={
            "service_instance": {way: accepts(size={"type": "integer"}) for way in ("create", "update")},
            "service_binding": {"create": accepts(role={"type": "string"})},
        },
        maintenance_info={"version": "1.2.3"},
        maximum_polling_duration=600,
        binding_rotatable=True,
    )


FLAGS = ("plan_updateable", "instances_retrievable", "bindings_retrievable", "allow_context_updates")
CATALOG: dict[str, Any] = catalog(
    service(
        "s1",
        "db",
        full_plan("p1", "small"),
        full_plan("p2", "large"),
        **dict.fromkeys(FLAGS, True),
        tags=["sql", "fast"],
        requires=["syslog_drain"],
        metadata={"displayName": "DB", "shareable": True, "other": {"deep": [1, {"x": None}]}},
        dashboard_client={"id": "c", "secret": "hunter2", "redirect_uri": "https://x.example"},
        **{"x-unknown": 1},
    ),
    service("s2", "queue", full_plan("p3", "only"), bindable=False),
)


def with_field(field: str, value: Any, of_plan: bool) -> Any:
    """The catalog with another value in a field, or without the field for None."""
    above = ("services", 0, "plans", 1) if of_plan else ("services", 0)
    return changed(CATALOG, (*above, *field.split("/")), ... if value is None else value)
