"""The schemas within a parameter schema, each with its place, and the references among them as they are written."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from osbctl.paths import BY_NAME, LITERALS, JsonPath, JsonValue, entries, resolve_pointer

IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependencies", "dependentSchemas")
"""Keywords whose schemas judge the same value as the schema they stand in."""


class SchemaPlace:
    """An object that stands where a schema may stand, at `path` of the whole, and the one around it."""

    __slots__ = ("parent", "path", "value")

    def __init__(self, value: dict[str, Any], path: JsonPath = (), parent: "SchemaPlace | None" = None) -> None:
        self.value = value  # no dataclass: to load these takes a twentieth of the start
        self.path = path
        self.parent = parent


def subschemas(schema: JsonValue, path: JsonPath = (), parent: SchemaPlace | None = None) -> Iterator[SchemaPlace]:
    """The schema and all schemas within it, in the order of the text; unknown keywords are looked into as well.

    For a list of any depth, its items. `path` and `parent` are those of the schema itself.
    """
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from subschemas(item, (*path, index), parent)
    elif isinstance(schema, dict):
        here = SchemaPlace(schema, path, parent)
        yield here
        for key, value in schema.items():
            if key in BY_NAME and isinstance(value, dict):
                for name, inner in value.items():
                    yield from subschemas(inner, (*path, key, name), here)
            elif key not in LITERALS and isinstance(value, dict | list):
                yield from subschemas(value, (*path, key), here)


def resolve_ref(schema: JsonValue, ref: str) -> JsonPath | None:
    """Path of the local reference `#/…` in the schema; None if it does not exist (RFC 6901, section 6)."""
    return resolve_pointer(schema, unquote(ref[1:])) if ref == "#" or ref.startswith("#/") else None


def find_refs(schema: JsonValue) -> Iterator[tuple[JsonPath, str]]:
    """Every reference with the place of the schema that holds it; without recursion, however deep it stands."""
    todo: list[tuple[JsonPath, JsonValue]] = [((), schema)]
    while todo:
        path, here = todo.pop()
        if isinstance(here, dict):
            words = ("$ref", "$dynamicRef", "$recursiveRef")
            yield from ((path, here[word]) for word in words if isinstance(here.get(word), str))
        todo.extend(((*path, key), value) for key, value in entries(here) if isinstance(value, dict | list))


def same_value(left: JsonValue, right: JsonValue) -> bool:
    """Return whether two JSON values are equal; `true` is not 1 here, though Python takes it so."""
    if left != right:
        return False
    if not isinstance(left, dict | list):
        return isinstance(left, bool) == isinstance(right, bool)
    return all(same_value(value, right[key]) for key, value in entries(left))


class UndecidableError(Exception):
    """A schema is too complex or not valid; the text is the reason."""
