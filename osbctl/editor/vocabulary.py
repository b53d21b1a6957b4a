"""The schema at a location: of the API version, of a source folder's file, or draft-04 itself in parameter schemas."""

from collections.abc import Iterator
from functools import cache
from pathlib import PurePath
from typing import Any, NamedTuple

from osbctl.fields import load_schema
from osbctl.paths import Path
from osbctl.platforms import ApiVersion
from osbctl.sources.folder.brokerpak_checks import DEFINITION


class FieldSchema(NamedTuple):
    """A part of a schema, and the whole schema that its references point into."""

    schema: dict[str, Any]
    root: dict[str, Any]


_SERVICE, _PLAN = {"$ref": "#/definitions/service"}, {"$ref": "#/definitions/plan"}
_COST_WORDS: dict[str | int, Any] = {
    "unit": {"enum": ["MONTHLY"]},
    "amount": {"properties": {currency: {"type": "number"} for currency in ("usd", "eur", "gbp")}},
}
"""Common words in a cost, by field; the schema allows any others, too."""
REFERENCE = {"type": "string"}
"""Schema of a `$ref` in a parameter schema."""
_SETTINGS = {
    "services": {
        "title": "The services in their order",
        "description": "The names of files in services/, without extension. If left out, they are sorted by name.",
        "type": "array",
    },
    "defaults": {
        "title": "Defaults",
        "description": "Fields of every service offering and every plan that does not set them.",
        "type": "object",
        "properties": {"service": _SERVICE, "plan": _PLAN},
    },
    "fields": {"title": "Other fields of the catalog, besides `services`", "type": "object"},
}
_OVERLAY = {
    "services": {
        "title": "The services to change, by name",
        "description": "Each is a JSON Merge Patch: null removes, objects merge, the rest replaces.",
        "type": "object",
        "additionalProperties": {
            "allOf": [_SERVICE],
            "properties": {
                "plans": {"type": "object", "additionalProperties": _PLAN},
                "add-plans": {"title": "New plans, added after the others", "type": "array", "items": _PLAN},
            },
        },
    }
}


def part_at(path: Path, version: ApiVersion, place: PurePath | None) -> FieldSchema | None:
    """Schema of the value at `path`, None if unknown; `place` is the file's path in its source folder, if any."""
    part = _start(version, place)
    if place is None and "services" in path:
        path = path[path.index("services") :]  # the catalog may be anywhere in a larger file
    for index, step in enumerate(path):
        is_parameters = bool(index) and path[index - 1] in ("create", "update") and step == "parameters"
        found = FieldSchema(_draft_04(), _draft_04()) if is_parameters else _below(part, step)
        if found is None:
            return None
        part = found
    if "costs" in path and path[-1] in _COST_WORDS:
        return FieldSchema({"allOf": [part.schema, _COST_WORDS[path[-1]]]}, part.root)
    return part


def first_version(path: Path, place: PurePath | None) -> ApiVersion | None:
    """The first API version whose schema has the field at `path`; None where that is unknown."""
    return next((version for version in ApiVersion if part_at(path, version, place)), None)


def root_length(path: Path) -> int:
    """The number of steps to the parameter schema around `path`; 0 where the whole file is one."""
    return path.index("parameters") + 1 if "parameters" in path else 0


def object_fields(part: FieldSchema) -> dict[str, FieldSchema]:
    """The fields of an object by name."""
    fields: dict[str, FieldSchema] = {}
    for each in _with_references(part):
        for name, schema in each.schema.get("properties", {}).items():
            fields.setdefault(name, FieldSchema(schema, each.root))
    return fields


def values(part: FieldSchema) -> list[Any]:
    """The allowed values: those of an `enum`, or of a boolean; empty for any other type."""
    found: list[Any] = []
    for each in _with_references(part):
        found += each.schema.get("enum", [])
        if each.schema.get("type") == "boolean":
            found += [True, False]
    return found


def keyword(part: FieldSchema, word: str) -> Any:
    """The first value of a keyword (`title`, `description`, `type`) in the schema and those that it refers to."""
    return next((each.schema[word] for each in _with_references(part) if word in each.schema), None)


def title(part: FieldSchema) -> str:
    """Name and type of a field."""
    kind = keyword(part, "type")
    words = str(keyword(part, "title") or "")
    return f"{words} ({kind})".strip() if isinstance(kind, str) else words


def _start(version: ApiVersion, place: PurePath | None) -> FieldSchema:
    catalog = load_schema(version)
    if place is None:
        return FieldSchema(catalog, catalog)
    if place.parts[0] == "brokerpak":
        return FieldSchema(_of_fields(None if place.name == "manifest.yml" else DEFINITION), catalog)
    if place.parts[0] == "services":
        return FieldSchema(_PLAN if len(place.parts) > 2 else _SERVICE, catalog)
    if place.parts[0] == "overlays":
        return FieldSchema({"properties": _OVERLAY}, catalog)
    if len(place.parts) == 1 and place.stem == "catalog":
        return FieldSchema({"properties": _SETTINGS}, catalog)
    return FieldSchema(_draft_04(), _draft_04())


def _of_fields(fields: Any) -> dict[str, Any]:
    if isinstance(fields, list):
        return {"type": "array", "items": _of_fields(fields[0])}
    if not isinstance(fields, dict):
        return {}
    return {"type": "object", "properties": {name: _of_fields(below) for name, below in fields.items()}}


@cache
def _draft_04() -> dict[str, Any]:
    import jsonschema

    schema: dict[str, Any] = dict(jsonschema.Draft4Validator.META_SCHEMA)
    known = ["http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#"]
    object_fields = {**schema["properties"], "$schema": {"enum": known}, "$ref": REFERENCE}
    return {**schema, "properties": {name: below for name, below in object_fields.items() if name != "id"}}


def _below(part: FieldSchema, step: str | int) -> FieldSchema | None:
    for each in _with_references(part):
        if isinstance(step, int):
            found = each.schema.get("items")
        else:
            found = each.schema.get("properties", {}).get(step, each.schema.get("additionalProperties"))
        if isinstance(found, dict) and found:
            return FieldSchema(found, each.root)
    return None


def _with_references(part: FieldSchema, depth: int = 0) -> Iterator[FieldSchema]:
    schema, root = part
    yield part
    if depth > 8:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        target: Any = root
        for name in reference.strip("#/").split("/") if reference != "#" else ():
            target = target[name]
        yield from _with_references(FieldSchema(target, root), depth + 1)
    for word in ("allOf", "anyOf"):
        for inner in schema.get(word, ()):
            yield from _with_references(FieldSchema(inner, root), depth + 1)
