"""Removal of dashboard client secrets before a catalog is stored (OSB, Dashboard Client Object)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from osbctl.registry.records import BrokerCatalog

PLACEHOLDER = "(not stored)"
"""Replacement of a secret: a text, so that the catalog stays valid."""

HELD = "password-in-catalog"
"""Reason of a refusal: the catalog contains the password of its own broker."""


def without_client_secrets(data: dict[str, Any]) -> dict[str, Any]:
    """The catalog with each secret replaced; the same object if it has none."""
    services = data.get("services")
    if not isinstance(services, list) or not any(_holds(service) for service in services):
        return data
    return {**data, "services": [_masked(service) if _holds(service) else service for service in services]}


def storable(catalog: BrokerCatalog) -> BrokerCatalog:
    """The catalog without secrets; unchanged to the byte if it has none."""
    return with_data(catalog, without_client_secrets(catalog.data))


def with_data(catalog: BrokerCatalog, data: dict[str, Any]) -> BrokerCatalog:
    """The catalog with `data` instead of its own; unchanged to the byte if that is the same object."""
    if data is catalog.data:
        return catalog
    return replace(catalog, body=json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), data=data)


def _holds(service: Any) -> bool:
    client = service.get("dashboard_client") if isinstance(service, dict) else None
    return isinstance(client, dict) and client.get("secret") not in (None, PLACEHOLDER)


def _masked(service: dict[str, Any]) -> dict[str, Any]:
    return {**service, "dashboard_client": {**service["dashboard_client"], "secret": PLACEHOLDER}}
