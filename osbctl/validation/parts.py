"""The shipped schema of a catalog, taken apart: for the catalog, a service offering, and a plan, each by itself."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from osbctl.fields import load_schema
from osbctl.jsonschemas.decider import decider

if TYPE_CHECKING:
    from collections.abc import Callable

    from osbctl.platforms import ApiVersion


class CatalogPart(Enum):
    """A part of a catalog that has a schema of its own."""

    WHOLE = "the catalog with all in it"
    CATALOG = "the catalog without its service offerings"
    SERVICE = "a service offering without its plans"
    PLAN = "a plan"


def part_schema(api_version: ApiVersion, kind: CatalogPart) -> dict[str, Any]:
    """The schema of one part of a catalog."""
    whole: dict[str, Any] = load_schema(api_version)
    definitions = whole["definitions"]
    schemas: dict[CatalogPart, dict[str, Any]] = {
        CatalogPart.WHOLE: whole,
        CatalogPart.CATALOG: _without_items(whole, "services"),
        CatalogPart.SERVICE: _without_items({**definitions["service"], "definitions": definitions}, "plans"),
        CatalogPart.PLAN: {**definitions["plan"], "definitions": definitions},
    }
    return schemas[kind]


def _without_items(schema: dict[str, Any], name: str) -> dict[str, Any]:
    items = {key: value for key, value in schema["properties"][name].items() if key != "items"}
    return {**schema, "properties": {**schema["properties"], name: items}}


@cache
def part_decider(api_version: ApiVersion, kind: CatalogPart = CatalogPart.WHOLE) -> Callable[[Any], bool]:
    """Tells whether a part of a catalog is what its schema wants."""
    return decider(part_schema(api_version, kind))


@cache
def field_decider(api_version: ApiVersion, kind: CatalogPart, key: str) -> Callable[[Any], bool]:
    """Tells whether the value of a field of that part is what its schema wants."""
    schema = part_schema(api_version, kind)
    return decider({**schema["properties"].get(key, {}), "definitions": schema["definitions"]})
