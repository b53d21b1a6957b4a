"""Parameter schemas that contradict themselves.

A quick look tells the schemas that are right beyond doubt, which most are; only what is left is proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from osbctl.findings import Severity
from osbctl.paths import JSON_TYPES, Path, value_at
from osbctl.placeholders import holds_placeholder
from osbctl.rule import Category, Scope, rule
from osbctl.validation.node import Hit, Node

_LIMITS = {"minimum": 1, "maximum": -1, "minLength": 1, "maxLength": -1}
_WORDS = frozenset(("type", "enum", "title", "description", "default", "example", "examples", "$schema", *_LIMITS))
_COMBINED = frozenset(("allOf", "anyOf", "oneOf", "not"))
_PAIRS = (
    ("minimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
_SUSPECT = frozenset(("required", "enum", *_COMBINED, *(low for low, _ in _PAIRS)))
"""What at least has to stand in an object for it to be impossible."""


@rule("parameters-default", Severity.WARNING, Category.ADVICE, Scope.PARAMETERS)
def parameters_default(schema: Node) -> Iterator[Hit]:
    """A default or an example in a parameter schema is refused by the schema that it stands in.

    Forms fill it in, and the broker or the next check refuses it. Only what is proved is told.

    Bad:
        parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {n: {type: integer, default: "3"}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {n: {type: integer, default: 3}}}
    Source: JSON Schema Validation, default: RECOMMENDED to be valid against the schema that it stands in
    """
    if any(_may_be_refused(part) for part in _objects(schema.value)):
        for path, keywords in _refused(schema.value):
            what = "default" if path[-1] == "default" else "example"
            by = f" by its {', '.join(keywords)}" if all(keywords) and keywords else ""
            yield schema.hit(f"the schema refuses its own {what}{by}", path, "correct one of the two")


@rule("parameters-impossible", Severity.WARNING, Category.ADVICE, Scope.PARAMETERS)
def parameters_impossible(schema: Node) -> Iterator[Hit]:
    """Nothing can meet a part of a parameter schema, or all of it.

    A bound above its counterpart, or a required property that is forbidden. Only what is proved is told; a bare `false`
    or `not` is meant.

    Bad:
        parameters:
          $schema: "http://json-schema.org/draft-04/schema#"
          required: [size]
          properties: {sise: {type: integer}}
          additionalProperties: false
    Good:
        parameters:
          $schema: "http://json-schema.org/draft-04/schema#"
          required: [size]
          properties: {size: {type: integer}}
          additionalProperties: false
    Source: OSB 2.13, Input Parameters Schema Object: the schema describes what may be sent
    """
    odd = schema.get("type") not in (None, "object") or any(map(_may_be_impossible, _objects(schema.value)))
    for path, why in _impossible(schema.value) if odd else ():
        yield schema.hit(f"nothing can meet this schema: {why}", path, "correct what contradicts the rest")


def _refused(schema: dict[str, Any]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    from osbctl.jsonschemas.contradictions import refused_values

    for path, keywords in refused_values(schema):
        value = value_at(schema, path)
        if not (isinstance(value, str) and holds_placeholder(value)):
            yield path, keywords


def _impossible(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    from osbctl.jsonschemas.contradictions import impossible

    yield from impossible(schema)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """All objects in a value, schemas or not."""
    stack = [value]
    while stack:
        here = stack.pop()
        if isinstance(here, dict):
            yield here
            stack += [inner for inner in here.values() if isinstance(inner, dict | list)]
        else:
            stack += [inner for inner in here if isinstance(inner, dict | list)]


def _may_be_refused(part: dict[str, Any]) -> bool:
    if "default" in part and not _fits(part, part["default"]):
        return True
    return "example" in part or "examples" in part


def _fits(part: dict[str, Any], value: Any) -> bool:
    """Whether a default is right beyond doubt: of the type, listed, within limits, and nothing else is asked for."""
    kind = part.get("type")
    if not (kind is None or kind == JSON_TYPES.get(type(value)) or (kind == "number" and type(value) is int)):
        return False
    if not (part.keys() <= _WORDS and ("enum" not in part or _is_listed(value, part["enum"]))):
        return False
    return all(key not in part or _holds(part[key], value, sign) for key, sign in _LIMITS.items())


def _is_listed(value: Any, enum: Any) -> bool:
    # Python takes true for 1, and JSON does not.
    return isinstance(enum, list) and any(one == value and type(one) is type(value) for one in enum)


def _holds(limit: Any, value: Any, sign: int) -> bool:
    size = len(value) if isinstance(value, str) else value
    if not (isinstance(limit, int | float) and isinstance(size, int | float)):
        return False
    return size >= limit if sign > 0 else size <= limit  # a difference may be too large for a float


def _may_be_impossible(part: dict[str, Any]) -> bool:
    """Whether a part cannot be told to be possible at a glance."""
    if _SUSPECT.isdisjoint(part):
        return False
    if not _COMBINED.isdisjoint(part):
        return True
    if "required" in part and _requires_odd(part):
        return True
    if "enum" in part and not _some_fit(part):
        return True
    if "minItems" in part and isinstance(part.get("items"), list | bool):
        return True
    if "minProperties" in part and part.get("additionalProperties") is False:
        return True
    return any(low in part and high in part and _is_tight(part, low, high) for low, high in _PAIRS)


def _requires_odd(part: dict[str, Any]) -> bool:
    """Whether something is required that is not described, where nothing else may be, or that is forbidden."""
    required, properties = part["required"], part.get("properties", {})
    if not isinstance(required, list) or not isinstance(properties, dict):
        return True
    closed = part.get("additionalProperties") is False
    return any(properties.get(name, not closed) is False for name in required if isinstance(name, str))


def _some_fit(part: dict[str, Any]) -> bool:
    return isinstance(part["enum"], list) and any(_fits(part, value) for value in part["enum"])


def _is_tight(part: dict[str, Any], low: str, high: str) -> bool:
    least, most = part[low], part[high]
    if not (isinstance(least, int | float) and isinstance(most, int | float)):
        return True
    if most == least:
        return "exclusiveMinimum" in part or "exclusiveMaximum" in part
    return most < least + 1
