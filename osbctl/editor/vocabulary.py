"""The schema at a location: of the API version, of a source folder's file, or draft-04 itself in parameter schemas."""

from collections.abc import Iterator
from functools import cache
from pathlib import PurePath
from typing import Any, NamedTuple

from osbctl.fields import load_schema
from osbctl.jsonschemas.dialects import DRAFT_4_ADDRESS
from osbctl.paths import JsonPath, JsonValue
from osbctl.platforms import ApiVersion


class FieldSchema(NamedTuple):
    """A part of a schema, and the whole schema that its references point into."""

    schema: dict[str, Any]
    root: dict[str, Any]


_SERVICE, _PLAN = {"$ref": "#/definitions/service"}, {"$ref": "#/definitions/plan"}


def schema_at(path: JsonPath, version: ApiVersion, subpath: PurePath | None) -> FieldSchema | None:
    """Schema of the value at `path`, None if unknown; `subpath` is the file's path in its source folder, if any."""
    part: FieldSchema | None = _file_schema(version, subpath)
    if subpath is None and "services" in path:
        path = path[path.index("services") :]  # the catalog may be anywhere in a larger file
    for index, step in enumerate(path):
        if part is None:
            return None
        is_parameters = bool(index) and path[index - 1] in ("create", "update") and step == "parameters"
        part = FieldSchema(_draft_04_schema(), _draft_04_schema()) if is_parameters else _child_schema(part, step)
    return part


def first_version_with(path: JsonPath, subpath: PurePath | None) -> ApiVersion:
    """The first API version whose schema has the field at `path`; the oldest where that is unknown."""
    versions = [version for version in ApiVersion if schema_at(path, version, subpath)]
    return min(versions, default=min(ApiVersion))


def object_fields(part: FieldSchema) -> dict[str, FieldSchema]:
    """The fields of an object by name."""
    fields: dict[str, FieldSchema] = {}
    for each in _schema_and_references(part):
        for name, schema in each.schema.get("properties", {}).items():
            fields.setdefault(name, FieldSchema(schema, each.root))
    return fields


def allowed_values(part: FieldSchema) -> list[JsonValue]:
    """The allowed values: those of an `enum`, or of a boolean; empty for any other type."""
    found: list[JsonValue] = []
    for each in _schema_and_references(part):
        found += each.schema.get("enum", [])
        if each.schema.get("type") == "boolean":
            found += [True, False]
    return found


def keyword_value(part: FieldSchema, word: str) -> JsonValue:
    """The first value of a keyword (`title`, `description`, `type`) in the schema and those that it refers to."""
    return next((each.schema[word] for each in _schema_and_references(part) if word in each.schema), None)


def title_and_type(part: FieldSchema) -> str:
    """Name and type of a field."""
    kind = keyword_value(part, "type")
    words = str(keyword_value(part, "title") or "")
    return f"{words} ({kind})".strip() if isinstance(kind, str) else words


def _file_schema(version: ApiVersion, subpath: PurePath | None) -> FieldSchema | None:
    """Schema of a whole file: a catalog, or a file in `services/` or `schemas/` of a source folder."""
    catalog = load_schema(version)
    if subpath is None:
        return FieldSchema(catalog, catalog)
    if subpath.parts[0] == "services":
        return FieldSchema(_PLAN if len(subpath.parts) > 2 else _SERVICE, catalog)
    if subpath.parts[0] == "schemas":
        return FieldSchema(_draft_04_schema(), _draft_04_schema())
    return None


@cache
def _draft_04_schema() -> dict[str, Any]:
    import jsonschema

    schema: dict[str, Any] = dict(jsonschema.Draft4Validator.META_SCHEMA)
    known = [DRAFT_4_ADDRESS, "http://json-schema.org/draft-06/schema#"]
    object_fields = {**schema["properties"], "$schema": {"enum": known}, "$ref": {"type": "string"}}
    return {**schema, "properties": {name: below for name, below in object_fields.items() if name != "id"}}


def _child_schema(part: FieldSchema, step: str | int) -> FieldSchema | None:
    for each in _schema_and_references(part):
        if isinstance(step, int):
            found = each.schema.get("items")
        else:
            found = each.schema.get("properties", {}).get(step, each.schema.get("additionalProperties"))
        if isinstance(found, dict) and found:
            return FieldSchema(found, each.root)
    return None


def _schema_and_references(part: FieldSchema, depth: int = 0) -> Iterator[FieldSchema]:
    schema, root = part
    yield part
    if depth > 8:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        target: Any = root
        for name in reference.strip("#/").split("/") if reference != "#" else ():
            target = target[name]
        yield from _schema_and_references(FieldSchema(target, root), depth + 1)
    for word in ("allOf", "anyOf"):
        for inner in schema.get(word, ()):
            yield from _schema_and_references(FieldSchema(inner, root), depth + 1)
