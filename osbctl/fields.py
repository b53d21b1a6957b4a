"""The fields of a catalog by the version of the API that brought them, read from the shipped schemas.

`tools/make_schemas.py` holds the one table: a field that is added there, with the version that brings it, is known
here, and a test asks the rules, the comparison and the platforms for their answer to it.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from osbctl.paths import Path
from osbctl.platforms import ApiVersion
from osbctl.resources import catalog_schema

LATEST = list(ApiVersion)[-1]

PARTS = {
    "catalog": {"services": "service"},
    "service": {"plans": "plan", "metadata": "service_metadata", "dashboard_client": "dashboard_client"},
    "plan": {"metadata": "plan_metadata", "maintenance_info": "maintenance_info", "schemas": "schemas"},
    "schemas": {"service_instance": "service_instance_schemas", "service_binding": "service_binding_schemas"},
    "service_instance_schemas": {"create": "input_parameters", "update": "input_parameters"},
    "service_binding_schemas": {"create": "input_parameters"},
    "plan_metadata": {"costs": "cost"},
}
"""The kinds of objects within each kind, by field; a field that holds a list has objects of that kind in it."""

CONVENTIONS = frozenset((
    "displayName", "imageUrl", "longDescription", "providerDisplayName", "documentationUrl", "supportUrl", "bullets",
    "costs",
))  # fmt: skip
"""Metadata fields whose types are a convention of the profile, not a rule of the specification."""

BOOLEAN_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
"""Words that people write for booleans, in lower case."""

_SAP = {
    "service_metadata": ("createInstanceDocumentationUrl", "updateInstanceDocumentationUrl"),
    "plan_metadata": ("supportedMinOSBVersion", "supportedMaxOSBVersion"),
}
"""Display information that SAP's brokers give and its tools read; no specification names it."""


@cache
def load_schema(version: ApiVersion) -> Any:
    """The shipped schema of catalogs at `version`; not to be changed."""
    return json.loads(catalog_schema(version))


@cache
def known(kind: str, version: ApiVersion = LATEST) -> frozenset[str]:
    """The fields of an object of that kind (a key of `PARTS`, or a value in it) at that version."""
    return frozenset((*properties(kind, version), *_SAP.get(kind, ())))


@cache
def wanted(kind: str, key: str) -> str:
    """The JSON type that the newest schema wants of a known field; empty where it takes several, or any."""
    found = properties(kind, LATEST).get(key, {}).get("type", "")
    return found if isinstance(found, str) else ""


@cache
def is_boolean(key: str) -> bool:
    """Return whether a field of this name, in any of the objects, is true or false."""
    kinds = {*PARTS, *(kind for inner in PARTS.values() for kind in inner.values())}
    return any(wanted(kind, key) == "boolean" for kind in kinds)


@cache
def since(kind: str, key: str) -> ApiVersion:
    """The first version that knows the field."""
    return next(version for version in ApiVersion if key in known(kind, version))


def is_newer(path: Path, version: ApiVersion) -> bool:
    """Return whether the field at `path` of a catalog, or one that it is in, came after `version`."""
    kind = "catalog"
    for step in path:
        if isinstance(step, str):
            if step in known(kind) and since(kind, step) > version:
                return True
            kind = PARTS.get(kind, {}).get(step, "")
            if not kind:
                return False
    return False


def properties(kind: str, version: ApiVersion) -> dict[str, Any]:
    """The schemas of the fields of such an object at that version, in the order of the specification."""
    schema = load_schema(version)
    found: dict[str, Any] = (schema if kind == "catalog" else schema["definitions"][kind])["properties"]
    return found
