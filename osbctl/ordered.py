"""The fields of a catalog in the order of the specification, so that the same catalog gives the same bytes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from osbctl.platforms import ApiVersion
from osbctl.resources import catalog_schema


def ordered(catalog: dict[str, Any]) -> dict[str, Any]:
    """`catalog` with known fields first, in the order of the specification, then the others as they stand.

    Services and plans keep their order; what has a wrong shape is left as it is.
    """
    whole = _in_order(catalog, ("services",))
    if isinstance(whole.get("services"), list):
        whole["services"] = [_service(service) for service in whole["services"]]
    return whole


def _service(service: Any) -> Any:
    if not isinstance(service, dict):
        return service
    service = _in_order(service, _fields("service"))
    if isinstance(service.get("plans"), list):
        fields = _fields("plan")
        service["plans"] = [_in_order(plan, fields) if isinstance(plan, dict) else plan for plan in service["plans"]]
    return service


def _in_order(thing: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    known = {key: thing[key] for key in fields if key in thing}
    return {**known, **thing}


@cache
def _fields(kind: str) -> tuple[str, ...]:
    """The fields of an object in the order of the newest shipped schema, which is the specification's."""
    return tuple(json.loads(catalog_schema(max(ApiVersion)))["definitions"][kind]["properties"])
