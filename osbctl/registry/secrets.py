"""What a catalog must not carry into a database: the secret of a dashboard client (OSB, Dashboard Client Object)."""

from __future__ import annotations

import json
from typing import Any

PLACEHOLDER = "(not stored)"
"""What is stored in its place: a text, so that the catalog stays valid."""


def without_secrets(data: dict[str, Any]) -> dict[str, Any]:
    """The catalog with each secret replaced; the same object where it holds none."""
    services = data.get("services")
    if not isinstance(services, list) or not any(_holds(service) for service in services):
        return data
    return {**data, "services": [_masked(service) if _holds(service) else service for service in services]}


def body_without_secrets(body: bytes) -> bytes:
    """The same of a catalog as JSON text, to the byte where it holds none."""
    data = json.loads(body)
    kept = without_secrets(data)
    return body if kept is data else json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()


def _holds(service: Any) -> bool:
    client = service.get("dashboard_client") if isinstance(service, dict) else None
    return isinstance(client, dict) and client.get("secret") not in (None, PLACEHOLDER)


def _masked(service: dict[str, Any]) -> dict[str, Any]:
    return {**service, "dashboard_client": {**service["dashboard_client"], "secret": PLACEHOLDER}}
