"""The fields of a catalog in each version of the API, read from the shipped schemas.

Add a field to the table in `tools/make_schemas.py`; a test then requires rules, comparison and platforms to cover it.
"""

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from osbctl.paths import JsonPath, pointer
from osbctl.platforms import ApiVersion
from osbctl.text import plural

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
"""Kinds of the objects in each kind, by field; for a list, the kind of its items."""

CONVENTIONS = frozenset((
    "displayName", "imageUrl", "longDescription", "providerDisplayName", "documentationUrl", "supportUrl", "bullets",
    "costs",
))  # fmt: skip
"""Metadata fields whose types are a convention of the profile, not a rule of the specification."""

BOOLEAN_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
"""Words that users write for booleans, in lower case."""

_SAP = {
    "service_metadata": ("createInstanceDocumentationUrl", "updateInstanceDocumentationUrl"),
    "plan_metadata": ("supportedMinOSBVersion", "supportedMaxOSBVersion"),
}
"""Display information of SAP's brokers and tools, not in a specification."""


def schema_text(version: ApiVersion) -> str:
    """The shipped JSON Schema of catalogs at `version`, from the package of a wheel or the top of the repository."""
    package = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  # pathlib costs its import at every start
    inside = os.path.join(package, "schemas")  # noqa: PTH118
    folder = inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "schemas")  # noqa: PTH112, PTH118, PTH120
    with open(os.path.join(folder, f"catalog-{version}.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        return file.read()


@cache
def load_schema(version: ApiVersion) -> Any:
    """The shipped schema of catalogs at `version`; cached, do not modify it."""
    return json.loads(schema_text(version))


@cache
def known_fields(kind: str, version: ApiVersion = LATEST) -> frozenset[str]:
    """The fields of a kind of object (a key or value of `PARTS`) at a version."""
    return frozenset((*field_schemas(kind, version), *_SAP.get(kind, ())))


@cache
def field_type(kind: str, key: str) -> str:
    """The JSON type of a known field in the newest schema. Empty if it accepts several."""
    found = field_schemas(kind, LATEST).get(key, {}).get("type", "")
    return found if isinstance(found, str) else ""


@cache
def is_boolean_field(key: str) -> bool:
    """Return whether a field of this name is a boolean in any kind of object."""
    kinds = {*PARTS, *(kind for inner in PARTS.values() for kind in inner.values())}
    return any(field_type(kind, key) == "boolean" for kind in kinds)


@cache
def version_introduced(kind: str, key: str) -> ApiVersion:
    """The first version with the field."""
    return next(version for version in ApiVersion if key in known_fields(kind, version))


def is_newer_field(path: JsonPath, version: ApiVersion) -> bool:
    """Return whether the field at `path` of a catalog, or a field that contains it, is newer than `version`."""
    kind = "catalog"
    for step in path:
        if isinstance(step, str):
            if step in known_fields(kind) and version_introduced(kind, step) > version:
                return True
            kind = PARTS.get(kind, {}).get(step, "")
            if not kind:
                return False
    return False


def field_schemas(kind: str, version: ApiVersion) -> dict[str, Any]:
    """The schemas of the fields of a kind of object at a version, in the order of the specification."""
    schema = load_schema(version)
    found: dict[str, Any] = (schema if kind == "catalog" else schema["definitions"][kind])["properties"]
    return found


_READ_AS: dict[str, type] = {"string": str, "array": list, "object": dict}
_NEVER_SHOWN = ("dashboard_client", "maintenance_info")


def describe_left_out(data: Mapping[str, Any]) -> str:
    """A phrase on the values of a catalog that tables and pages leave out. Empty if they show all."""
    found = [*find_left_out(data)]
    if not found:
        return ""
    places = ", ".join(pointer(path) for path in found[:3]) + (", …" if len(found) > 3 else "")
    return f"left out {plural(len(found), 'value')} with a wrong type or in a misspelt field: {places}"


def find_left_out(value: Mapping[str, Any], kind: str = "catalog", path: JsonPath = ()) -> Iterator[JsonPath]:
    """The paths of values that tables and pages leave out, in an object of that kind at `path`.

    They have a wrong type (not null, and not one of a boolean, which is shown as unclear), or stand in a field whose
    name is in another case.
    """
    known = field_schemas(kind, LATEST)
    for key, inner in value.items():
        here, part = (*path, key), PARTS.get(kind, {}).get(key, "")
        if inner is None or key in _NEVER_SHOWN:
            continue
        if key not in known:
            yield from [here] if key.lower() in known else ()
        elif wanted := _READ_AS.get(known[key].get("type", "object" if part else "")):
            yield from _find_in_field(inner, wanted, part, here)


def _find_in_field(value: Any, wanted: type, part: str, path: JsonPath) -> Iterator[JsonPath]:
    """Those paths in a field of the type `wanted`; `part` is the kind of its object, or of the items of its list."""
    if not isinstance(value, wanted):
        yield path
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if not isinstance(item, dict if part else str):
                yield (*path, index)
            elif isinstance(item, dict) and part != "cost":  # a cost is shown, whatever is in it
                yield from find_left_out(item, part, (*path, index))
    elif isinstance(value, dict) and part:
        yield from find_left_out(value, part, path)
