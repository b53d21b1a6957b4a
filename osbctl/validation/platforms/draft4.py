"""The draft-04 metaschema as Cloud Foundry's library applies it, in its words and its order.

The library walks the metaschema's own properties in their order, tells every fault, and of a choice
(`anyOf`, `allOf`) only that it failed. Formats are checked for `$schema` and `id` alone; patterns are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.validation.platforms import ruby, uris

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from osbctl.findings import Path

    Fault = tuple[Path, str]
    """A place in the schema, and what the library says of it."""

    Check = Callable[[Any, Path], Iterator["Fault"]]

_SUFFIX = " in schema http://json-schema.org/draft-04/schema#"
_SIMPLE_TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
_NAMES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}


def faults(schema: Any) -> Iterator[Fault]:
    """Every fault of `schema` under the draft-04 metaschema, in the library's order; none where it is valid."""
    return _schema(schema, ())


def _fault(path: Path, told: str) -> Fault:
    return path, f"The property '#/{'/'.join(map(str, path))}' {told}{_SUFFIX}"


def _type(kind: str) -> Check:
    classes = _KINDS[kind]

    def check(value: Any, path: Path) -> Iterator[Fault]:
        if type(value) not in classes:
            yield _fault(path, f"of type {_NAMES[type(value)]} did not match the following type: {kind}")

    return check


def _any_of(*checks: Check) -> Check:
    def check(value: Any, path: Path) -> Iterator[Fault]:
        if not any(_holds(one, value) for one in checks):
            yield _fault(path, f"of type {_NAMES[type(value)]} did not match one or more of the required schemas")

    return check


def _holds(check: Check, value: Any) -> bool:
    return next(check(value, ()), None) is None


_is_object = _type("object")
_is_array = _type("array")
_is_string = _type("string")
_is_integer = _type("integer")
_is_number = _type("number")
_is_boolean = _type("boolean")


def _uri(value: Any, path: Path) -> Iterator[Fault]:
    yield from _is_string(value, path)
    if isinstance(value, str) and not uris.is_valid(value):
        yield _fault(path, "must be a valid URI")


def _positive(value: Any, path: Path) -> Iterator[Fault]:
    if type(value) in (int, float) and value < 0:
        yield _fault(path, "did not have a minimum value of 0, inclusively")
    yield from _is_integer(value, path)


def _positive_or_0(value: Any, path: Path) -> Iterator[Fault]:
    if not _holds(_positive, value):
        yield _fault(path, f"of type {_NAMES[type(value)]} did not match all of the required schemas")


def _multiple_of(value: Any, path: Path) -> Iterator[Fault]:
    yield from _is_number(value, path)
    if type(value) in (int, float) and value <= 0:
        yield _fault(path, "did not have a minimum value of 0, exclusively")


def _at_least_one(value: Any, path: Path) -> Iterator[Fault]:
    if isinstance(value, list) and not value:
        yield _fault(path, "did not contain a minimum number of items 1")


def _unique(value: Any, path: Path) -> Iterator[Fault]:
    if isinstance(value, list) and len({ruby.eql(item) for item in value}) < len(value):
        yield _fault(path, "contained duplicated array values")


def _items(check: Check, value: Any, path: Path) -> Iterator[Fault]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from check(item, (*path, index))


def _schema_array(value: Any, path: Path) -> Iterator[Fault]:
    yield from _is_array(value, path)
    yield from _at_least_one(value, path)
    yield from _items(_schema, value, path)


def _string_array(value: Any, path: Path) -> Iterator[Fault]:
    yield from _is_array(value, path)
    yield from _at_least_one(value, path)
    yield from _items(_is_string, value, path)
    yield from _unique(value, path)


def _enum(value: Any, path: Path) -> Iterator[Fault]:
    yield from _is_array(value, path)
    yield from _at_least_one(value, path)
    yield from _unique(value, path)


def _simple_type(value: Any, path: Path) -> Iterator[Fault]:
    if not isinstance(value, str) or value not in _SIMPLE_TYPES:
        yield _fault(path, "")


def _types(value: Any, path: Path) -> Iterator[Fault]:
    yield from _is_array(value, path)
    yield from _items(_simple_type, value, path)
    yield from _at_least_one(value, path)
    yield from _unique(value, path)


def _by_name(check: Check) -> Check:
    def by_name(value: Any, path: Path) -> Iterator[Fault]:
        yield from _is_object(value, path)
        if isinstance(value, dict):
            for name, item in value.items():
                yield from check(item, (*path, name))

    return by_name


def _schema(value: Any, path: Path) -> Iterator[Fault]:
    yield from _is_object(value, path)
    if isinstance(value, dict):
        for name, check in _PROPERTIES.items():
            if name in value:
                yield from check(value[name], (*path, name))
        for name, needed in (("exclusiveMaximum", "maximum"), ("exclusiveMinimum", "minimum")):
            if name in value and needed not in value:
                yield _fault(path, f"has a property '{name}' that depends on a missing property '{needed}'")


_PROPERTIES: dict[str, Check] = {
    "id": _uri,
    "$schema": _uri,
    "title": _is_string,
    "description": _is_string,
    "multipleOf": _multiple_of,
    "maximum": _is_number,
    "exclusiveMaximum": _is_boolean,
    "minimum": _is_number,
    "exclusiveMinimum": _is_boolean,
    "maxLength": _positive,
    "minLength": _positive_or_0,
    "pattern": _is_string,
    "additionalItems": _any_of(_is_boolean, _schema),
    "items": _any_of(_schema, _schema_array),
    "maxItems": _positive,
    "minItems": _positive_or_0,
    "uniqueItems": _is_boolean,
    "maxProperties": _positive,
    "minProperties": _positive_or_0,
    "required": _string_array,
    "additionalProperties": _any_of(_is_boolean, _schema),
    "definitions": _by_name(_schema),
    "properties": _by_name(_schema),
    "patternProperties": _by_name(_schema),
    "dependencies": _by_name(_any_of(_schema, _string_array)),
    "enum": _enum,
    "type": _any_of(_simple_type, _types),
    "allOf": _schema_array,
    "anyOf": _schema_array,
    "oneOf": _schema_array,
    "not": _schema,
}
