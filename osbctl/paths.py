"""JSON values and paths into them; the schemas within a JSON Schema, and the references as they are written."""

import gc
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

JsonValue: TypeAlias = Any
"""None, bool, int, float (finite), str, list of JsonValue or dict of str to JsonValue."""

JsonPath: TypeAlias = tuple[str | int, ...]
"""Keys and zero-based indexes from the root; `()` is the root."""

PARAMETER_PLACES = (("service_instance", "create"), ("service_instance", "update"), ("service_binding", "create"))
"""Paths of parameter schemas in a plan's `schemas` (OSB, Schemas Object)."""

LITERALS = frozenset(("enum", "const", "default", "example", "examples"))
"""Keywords of JSON Schema whose value is data of the service."""

BY_NAME = frozenset(("properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"))
"""Keywords of JSON Schema whose keys are names: a property may be called `$ref`."""

IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependencies", "dependentSchemas")
"""Keywords whose schemas judge the same value as the schema they stand in."""


def pointer(path: JsonPath) -> str:
    """The JSON pointer (RFC 6901) of `path`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def parse_pointer(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON pointer (RFC 6901, section 4) as strings; `resolve_step` decides which are indexes."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def resolve_step(value: JsonValue, step: str) -> str | int | None:
    """The key or index in `value` for a step of a JSON pointer. None if it does not exist."""
    if isinstance(value, dict):
        return step if step in value else None
    # RFC 6901, section 4: digits without leading zeros. The length bounds the cost of int().
    is_index = step == "0" or (step.isascii() and step.isdecimal() and step[0] != "0" and len(step) < 10)
    return int(step) if isinstance(value, list) and is_index and int(step) < len(value) else None


def resolve_pointer(value: JsonValue, pointer: str) -> JsonPath | None:
    """Resolve a JSON pointer in `value` to a path. None if it does not exist."""
    path: JsonPath = ()
    for step in parse_pointer(pointer):
        key = resolve_step(value, step)
        if key is None:
            return None
        value, path = value[key], (*path, key)
    return path


def value_at(data: JsonValue, path: JsonPath) -> JsonValue:
    """Value at an existing `path`."""
    for step in path:
        data = data[step]
    return data


def get_at(data: JsonValue, path: JsonPath, default: Any = None) -> JsonValue:
    """Value at `path`, or `default`."""
    try:
        return value_at(data, path)
    except (KeyError, IndexError, TypeError):
        return default


JSON_TYPES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
}
"""JSON Schema type of each Python type; null has no entry."""


def entries(value: JsonValue) -> Iterable[tuple[str | int, JsonValue]]:
    """The values in an object or array, each with its key or index. Empty for any other value."""
    return value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()


def depth(value: JsonValue) -> int:
    """Nesting depth of a value, 0 for a scalar; without recursion."""
    levels, inside = 0, [value]
    # gc.get_referents returns the content of many containers at once, faster than a loop in Python.
    while below := gc.get_referents(*inside):
        levels, inside = levels + 1, below
    return levels + any(isinstance(item, dict | list) for item in inside)


def nesting_depth(value: Any) -> int:
    """As `depth`, of a list or an object that aliases share: visits each once in a level, which takes longer."""
    levels, inside = 0, [value]
    while inside:
        held = {id(item): item for collection in inside for _, item in entries(collection)}
        inside = [item for item in held.values() if isinstance(item, dict | list)]
        levels += 1
    return levels


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
    from urllib.parse import unquote  # it takes a while to load, and few schemas have references

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
