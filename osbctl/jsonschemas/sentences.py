"""Messages for the keywords of JSON Schema."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from osbctl.paths import Path
from osbctl.secrecy import SECRET, looks_secret
from osbctl.text import safe


class Limit(NamedTuple):
    """A keyword that sets a bound: `must TEXT VALUE UNIT, not FOUND`.

    FOUND is the value itself where `plain`, else how long it is.
    """

    text: str
    unit: str = ""
    plain: bool = True


LIMITS = {
    "minLength": Limit("have at least", " characters", False),
    "maxLength": Limit("have at most", " characters", False),
    "minItems": Limit("have at least", " items", False),
    "maxItems": Limit("have at most", " items", False),
    "minProperties": Limit("have at least", " fields", False),
    "maxProperties": Limit("have at most", " fields", False),
    "minimum": Limit("be at least"),
    "maximum": Limit("be at most"),
    "exclusiveMinimum": Limit("be more than"),
    "exclusiveMaximum": Limit("be less than"),
    "multipleOf": Limit("be a multiple of"),
    "pattern": Limit("match the pattern"),
    "format": Limit("be of the format"),
}

REFUSALS = {
    "uniqueItems": "must not hold the same item twice",
    "contains": "must hold an item like the one that the schema asks for",
    "minContains": "holds too few items like the one that the schema asks for",
    "maxContains": "holds too many items like the one that the schema asks for",
    "not": "must not be what the schema rules out",
    "anyOf": "fits none of the choices that the schema gives",
    "oneOf": "must fit exactly one of the choices that the schema gives",
    "unevaluatedProperties": "has a field that the schema does not allow",
    **dict.fromkeys(("items", "additionalItems", "unevaluatedItems"), "has more items than the schema allows"),
}
"""Messages of keywords without a bound."""

_WANTED = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def _field(path: Path, whole: str) -> str:
    """Name of the value at `path` in messages: its key, or its index in a list."""
    if not path:
        return whole
    if isinstance(path[-1], str):
        return field_name(path[-1])
    return f"item {path[-1] + 1} of {_field(path[:-1], whole)}"


def refusal(keyword: str, value: Any, instance: Any, path: Path, whole: str = "the catalog") -> str:
    """Message: `instance` at `path` violates `keyword`, whose value in the schema is `value`.

    `whole` is what the top is called.
    """
    field = _field(path, whole)
    shown = _shown(instance)
    if _is_hidden(instance, path):
        kind = "a string" if isinstance(instance, str) else "a number"
        shown = kind if keyword == "type" else SECRET
    if keyword == "type":
        kinds = value if isinstance(value, list) else [value]  # in draft-03 a schema may stand among them
        wanted = " or ".join(_WANTED.get(kind, kind) if isinstance(kind, str) else "a schema" for kind in kinds)
        return f"{field} must be {wanted}, not {shown}"
    if keyword in ("minLength", "minItems") and not instance:
        return f"{field} must not be empty"
    if keyword == "enum":
        return f"{field} must be one of {', '.join(map(_json, value))}, not {shown}"
    if keyword == "const":
        return f"{field} must be {_json(value)}, not {shown}"
    if keyword in LIMITS:
        found = shown if LIMITS[keyword].plain else len(instance)
        return f"{field} must {LIMITS[keyword].text} {_json(value)}{LIMITS[keyword].unit}, not {found}"
    if keyword == "None":  # The schema false has no keyword, and jsonschema often stops a step short of its place.
        return f"{field} holds what the schema does not allow: {shown}"
    return f"{field} {REFUSALS.get(keyword, f'breaks {keyword!r}')}"


def field_name(key: str) -> str:
    """The key of a field, cut short, safe to print."""
    return safe(key) if len(key) <= 60 else safe(key[:59]) + "…"


def _is_hidden(instance: Any, path: Path) -> bool:
    """Return whether the value stands under the name of a secret, itself or in a list."""
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    return type(instance) in (str, int, float) and looks_secret(name)


def _shown(instance: Any) -> str:
    if isinstance(instance, dict):
        return "an object"
    if isinstance(instance, list):
        return "an array"
    if isinstance(instance, str):
        return f"the string {_json(instance)}"
    return _json(instance)


def _json(value: Any) -> str:
    text = safe(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 60 else text[:57] + "…"
