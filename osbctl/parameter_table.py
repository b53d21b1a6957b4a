"""Parameters of a schema as a table: name, type, required, default, description."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from osbctl.jsonschemas.secrets import secret_literals
from osbctl.messages import SECRET, redact, redact_field, redact_text
from osbctl.paths import JsonValue, resolve_ref, value_at
from osbctl.text import ELLIPSIS, escape_line

MAX_LEVELS = 6
"""Maximum nesting of listed objects; a schema that refers to itself is infinite."""

MAX_ROWS = 1_000
"""Maximum number of listed parameters of one schema."""

_BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} properties",
    "maxProperties": "at most {} properties",
    "pattern": "matches {}",
    "format": "{}",
}


class Parameter(NamedTuple):
    """One parameter. All text is safe to print, and redacted.

    `name` has a dot for each enclosing object, `[]` for an array. `limits` constrain its value, such as `≥ 1, ≤ 9`.
    """

    name: str
    type: str
    limits: str
    required: bool
    default: str
    description: str

    @property
    def summary(self) -> str:
        """Everything except name and description, as text."""
        facts = (self.full_type, "required" if self.required else "", f"default {self.default}" if self.default else "")
        return "; ".join(filter(None, facts))

    @property
    def full_type(self) -> str:
        """The type with the limits."""
        return f"{self.type}, {self.limits}" if self.limits else self.type


def parameters(schema: Mapping[str, Any]) -> Iterator[Parameter]:
    """The parameters of `schema`, in its order, with local references resolved; `MAX_ROWS`, or a note as the last."""
    rows = [*islice(_flatten(schema, schema, "", 0, secret_literals(schema)), MAX_ROWS + 1)]
    if len(rows) > MAX_ROWS:
        note = f"more than {MAX_ROWS:,} parameters: those from here on are omitted"
        rows[MAX_ROWS - 1 :] = [Parameter(ELLIPSIS, "", "", False, "", note)]
    yield from rows


def parameter_names(schema: Mapping[str, Any]) -> list[str]:
    """The names of the parameters of `schema`, without those inside of others. They are safe to print, and redacted."""
    properties = _resolve(schema, schema).get("properties")
    named = properties.items() if isinstance(properties, dict) else ()
    return [escape_line(redact_text(name)) for name, property_schema in named if property_schema is not False]


def _flatten(
    root: Mapping[str, Any], schema: Mapping[str, Any], prefix: str, level: int, secrets: frozenset[Any]
) -> Iterator[Parameter]:
    schema = _resolve(root, schema)
    properties, required = schema.get("properties"), schema.get("required")
    for name, property_schema in properties.items() if isinstance(properties, dict) else ():
        if property_schema is False:  # no value is allowed
            continue
        property_schema = _resolve(root, property_schema) if isinstance(property_schema, dict) else {}
        full_name = prefix + escape_line(redact_text(name))
        format_value = partial(_format_value, full_name, secrets)
        yield Parameter(
            full_name,
            _format_type(root, property_schema, format_value),
            _format_limits(property_schema),
            isinstance(required, list) and name in required,
            format_value(property_schema["default"]) if "default" in property_schema else "",
            escape_line(str(redact(property_schema.get("description") or property_schema.get("title") or ""))),
        )
        if level < MAX_LEVELS:
            item_schema, marks = _nested_item_schema(root, property_schema)
            yield from _flatten(root, item_schema, f"{full_name}{marks}.", level + 1, secrets)


def _nested_item_schema(root: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Item schema of nested arrays, with a `[]` for each; other schemas unchanged."""
    marks = ""
    while len(marks) < 2 * MAX_LEVELS and schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        schema, marks = _resolve(root, schema["items"]), marks + "[]"
    return schema, marks


def _format_type(
    root: Mapping[str, Any], schema: Mapping[str, Any], format_value: Callable[[JsonValue], str], level: int = 0
) -> str:
    kind = redact(schema.get("type"))
    label = " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind or "any")
    items = schema.get("items")
    if kind == "array" and isinstance(items, dict):
        inner = _format_type(root, _resolve(root, items), format_value, level + 1) if level < MAX_LEVELS else "items"
        label = f"array of {inner}"
    choices = schema.get("enum")
    if isinstance(choices, list):
        label = " | ".join(dict.fromkeys(map(format_value, choices)))
    return escape_line(label)


def _format_limits(schema: Mapping[str, Any]) -> str:
    bounds = {key: value for key, value in schema.items() if type(value) in (int, float, str)}
    for keyword, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if schema.get(exclusive) is True and keyword in bounds:  # as draft-04 writes it (validation, 5.1.2 and 5.1.3)
            bounds[exclusive] = bounds.pop(keyword)
    limits = (redact_text(text.format(bounds[key])) for key, text in _BOUNDS.items() if key in bounds)
    return escape_line(", ".join(limits))


def _resolve(root: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Resolve local references in a bounded number of steps; a schema without one is unchanged."""
    for _ in range(MAX_LEVELS):
        reference = schema.get("$ref")
        path = resolve_ref(root, reference) if isinstance(reference, str) else None
        target = None if path is None else value_at(root, path)
        if not isinstance(target, dict):
            break
        schema = target
    return schema


def _format_value(name: str, secrets: frozenset[Any], value: JsonValue) -> str:
    """A value of the parameter `name` as JSON, redacted: strings keep their quotes, since 17 and "17" differ."""
    shown = redact_field(name, value, secrets)
    return SECRET if shown == SECRET else escape_line(json.dumps(shown, ensure_ascii=False))
