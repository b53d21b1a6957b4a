"""Whether a parameter schema is valid under its own draft: jsonschema-rs decides, jsonschema explains."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from osbctl.jsonschemas.dialects import DIALECTS
from osbctl.jsonschemas.walk import BY_NAME, subschemas
from osbctl.paths import Path

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

DRAFTS = {
    "http://json-schema.org/draft-03/schema": "Draft3Validator",
    **{dialect.uri: dialect.validator for dialect in DIALECTS.values()},
}
"""The drafts that jsonschema knows, by `$schema` without its empty fragment."""

_UNIQUE_ENUM = ("Draft3Validator", "Draft4Validator")
"""The drafts whose metaschema wants the items of `enum` unique, and at least one."""

_LONG = 100
"""jsonschema compares each item of a list of several types with each: longer lists of values are not left to it."""

_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "items", "prefixItems", "extends")

_judged: dict[tuple[str, str], bool] = {}


def faults(schema: dict[str, Any], validator: str) -> Iterator[tuple[Path, str]]:
    """Where and why `schema` is not valid; `validator` is a value of `DRAFTS`. Nothing where it is valid."""
    if _is_valid(schema, validator):
        return
    from osbctl.jsonschemas.errors import sentence

    # From 2019-09 on a metaschema has several parts, and each says the same of a wrong type.
    found = dict.fromkeys((tuple(e.absolute_path), sentence(e, "the schema")) for e in _errors(schema, validator))
    # jsonschema's own order follows the hashes of strings, which differ from run to run.
    yield from sorted(found, key=lambda fault: (list(map(str, fault[0])), fault[1]))
    for place in subschemas(schema) if validator in _UNIQUE_ENUM else ():
        items = place.value.get("enum")
        if isinstance(items, list) and len(items) > _LONG and _repeats(items):
            yield (*place.path, "enum"), "enum holds an item twice"


def _errors(schema: dict[str, Any], validator: str) -> list[ValidationError]:
    import jsonschema

    draft = getattr(jsonschema, validator)
    return list(draft(draft.META_SCHEMA).iter_errors(_shortened(schema, validator)))


def _is_valid(schema: dict[str, Any], validator: str) -> bool:
    """Whether a schema surely meets its draft's metaschema; equal schemas are judged once."""
    key = (validator, json.dumps(schema, sort_keys=True))
    if key not in _judged:
        _judged[key] = _decided(schema, validator)
    return _judged[key]


def _decided(schema: dict[str, Any], validator: str) -> bool:
    import jsonschema_rs

    if validator == "Draft3Validator":
        return False  # jsonschema-rs does not know it
    try:
        valid = jsonschema_rs.meta.is_valid(schema)
    except (ValueError, jsonschema_rs.ReferencingError):
        return False
    # Its draft-04 takes an enum that is empty or holds an item twice.
    return valid and (validator not in _UNIQUE_ENUM or not any(_is_odd(place.value) for place in subschemas(schema)))


def _is_odd(schema: dict[str, Any]) -> bool:
    items = schema.get("enum")
    return isinstance(items, list) and (not items or _repeats(items))


def _repeats(items: list[Any]) -> bool:
    return len({_alike(item) for item in items}) < len(items)


def _alike(value: Any) -> Any:
    """Equal for values that JSON Schema calls equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, dict):
        return frozenset((key, _alike(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return tuple(_alike(inner) for inner in value)
    return (bool, value) if isinstance(value, bool) else value


def _shortened(value: Any, validator: str, key: str = "") -> Any:
    """The schema without what is right in it as far as that takes time to tell.

    Schemas that are valid by themselves go, and long lists of values are cut to what decides whether they are lists of
    the right kind.
    """
    if isinstance(value, dict):
        if key in BY_NAME:
            return {name: _shortened(inner, validator) for name, inner in _wrong_alone(value, validator).items()}
        return {name: _shortened(inner, validator, name) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    if key in _OF_SCHEMAS:
        return [_shortened(item, validator) for item in value]
    if len(value) <= _LONG:
        return value
    if key == "enum":
        return value[:1]
    first = next((index for index, item in enumerate(value) if not isinstance(item, str)), len(value))
    return value[: first + 1]


def _wrong_alone(schemas: dict[str, Any], validator: str) -> dict[str, Any]:
    draft = next(address for address, name in DRAFTS.items() if name == validator)
    return {
        name: schema
        for name, schema in schemas.items()
        if not isinstance(schema, dict) or "$schema" in schema or not _decided({**schema, "$schema": draft}, validator)
    }
