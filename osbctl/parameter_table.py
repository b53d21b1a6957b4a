"""Parameters of a schema as a table: name, type, required, default, description."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

from osbctl.jsonschemas.dialects import DRAFT_4, DRAFT_7, find_dialect
from osbctl.jsonschemas.secrets import secret_literals
from osbctl.messages import SECRET, redact, redact_field, redact_text
from osbctl.paths import JsonValue, resolve_ref, value_at
from osbctl.text import ELLIPSIS, escape_line

MAX_LEVELS = 6
"""Maximum nesting of listed objects; a schema that refers to itself is infinite."""

MAX_ROWS = 1_000
"""Maximum number of listed parameters of one schema."""

MAX_PARTS = 100
"""Maximum number of schemas that are read for one parameter, by its references and `allOf`."""

_MAX_ALTERNATIVES = 20
"""Maximum number of alternatives in a schema that are read."""

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


Schema: TypeAlias = Sequence[Mapping[str, Any]]
"""A schema as those that must all hold, itself first."""


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
    top = _resolve(schema, schema) or []
    rows = [*islice(_flatten(schema, top, "", 0, secret_literals(schema)), MAX_ROWS + 1)]
    if len(rows) > MAX_ROWS:
        note = f"more than {MAX_ROWS:,} parameters: those from here on are omitted"
        rows[MAX_ROWS - 1 :] = [Parameter(ELLIPSIS, "", "", False, "", note)]
    yield from rows


def parameter_names(schema: Mapping[str, Any]) -> list[str]:
    """The names of the parameters of `schema`, without those inside of others. They are safe to print, and redacted."""
    return [escape_line(redact_text(name)) for name, _ in _properties(schema, _resolve(schema, schema) or [])]


def _flatten(
    root: Mapping[str, Any], schema: Schema, prefix: str, level: int, secrets: frozenset[Any]
) -> Iterator[Parameter]:
    required = _values(schema, "required", list)
    for name, parts in _properties(root, schema):
        full_name = prefix + escape_line(redact_text(name))
        format_value = partial(_format_value, full_name, secrets)
        defaults = _values(parts, "default")
        descriptions = filter(None, [*_values(parts, "description"), *_values(parts, "title")])
        yield Parameter(
            full_name,
            _format_type(root, parts, format_value),
            _format_limits(parts),
            any(name in names for names in required),
            format_value(defaults[0]) if defaults else "",
            escape_line(str(redact(next(descriptions, "")))),
        )
        for inner, marks in _inner_objects(root, parts) if level < MAX_LEVELS else ():
            yield from _flatten(root, inner, f"{full_name}{marks}.", level + 1, secrets)


def _properties(root: Mapping[str, Any], schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The parameters that a schema names, each with what must hold for it, except those that may have no value.

    Last come those that only alternatives name.
    """
    named: dict[str, JsonValue] = {name: {"allOf": found} for name, found in _parts_by_name([schema]).items()}
    for name, found in _parts_by_name(_alternatives(root, schema, "oneOf", "anyOf", "then", "else")).items():
        named.setdefault(name, {"anyOf": found} if found[1:] else found[0])
    for name, part in named.items():
        parts = _resolve(root, part)
        if parts is not None:
            yield name, parts


def _parts_by_name(schemas: Iterable[Schema]) -> dict[str, list[JsonValue]]:
    """The schemas of each property, by its name."""
    named: dict[str, list[JsonValue]] = {}
    for properties in chain.from_iterable(_values(schema, "properties", dict) for schema in schemas):
        for name, part in properties.items():
            named.setdefault(name, []).append(part)
    return named


def _alternatives(root: Mapping[str, Any], schema: Schema, *keywords: str) -> list[Schema]:
    """The schemas of which one may hold, beside those that must."""
    found = [value for keyword in keywords for value in _values(schema, keyword)]
    parts = chain.from_iterable(value if isinstance(value, list) else [value] for value in found)
    resolved = (_resolve(root, part) for part in islice(parts, _MAX_ALTERNATIVES))
    return [one for one in resolved if one is not None]


def _inner_objects(root: Mapping[str, Any], schema: Schema) -> Iterator[tuple[Schema, str]]:
    """The schema, and that of the items if it may be an array, with a `[]` for each array around it."""
    for arrays in range(2 * MAX_LEVELS + 1):
        if _types(schema) != ["array"]:
            yield schema, "[]" * arrays
        items = _items(root, schema)
        if not items:
            break
        schema = items


def _types(schema: Schema) -> list[JsonValue]:
    """The types that a value may have, of the parts that say it the narrowest. Empty if none says it."""
    found = [kind if isinstance(kind, list) else [kind] for kind in _values(schema, "type") if kind]
    return min(found, key=lambda kinds: (len(kinds), "number" in kinds), default=[])  # an integer is a number, too


def _items(root: Mapping[str, Any], schema: Schema) -> Schema | None:
    """What must hold for each item. None if it is no array, or any item will do, or none."""
    found = _values(schema, "items", dict)
    return _resolve(root, {"allOf": found}) if found and "array" in _types(schema) else None


def _format_type(
    root: Mapping[str, Any], schema: Schema, format_value: Callable[[JsonValue], str], level: int = 0
) -> str:
    choices = _choices(root, schema, format_value)
    if choices is not None:
        return " | ".join(choices)
    array, items = "array", _items(root, schema)
    if items:
        array += f" of {_format_type(root, items, format_value, level + 1) if level < MAX_LEVELS else 'items'}"
    kinds = _types(schema)
    alternatives = _alternatives(root, schema, "oneOf", "anyOf") if level < MAX_LEVELS else []
    if alternatives and (not kinds or all(_choices(root, each, format_value) for each in alternatives)):
        return " | ".join(dict.fromkeys(_format_type(root, each, format_value, MAX_LEVELS) for each in alternatives))
    kinds = kinds or ["any"]
    return escape_line(" or ".join(array if kind == "array" else str(redact(kind)) for kind in kinds))


def _choices(root: Mapping[str, Any], schema: Schema, format_value: Callable[[JsonValue], str]) -> list[str] | None:
    """The only values that are allowed. None if none are listed."""
    found = _values(schema, "enum", list)
    if find_dialect(root.get("$schema")) is not DRAFT_4:  # it knows no `const`
        found += ([value] for value in _values(schema, "const"))
    lists = [dict.fromkeys(map(format_value, values)) for values in found]
    if not lists:
        return None
    return [text for text in lists[0] if all(text in other for other in lists)] or [*lists[0]]


def _format_limits(schema: Schema) -> str:
    bounds = list(map(_bounds, schema))
    limits = (text.format(value) for key, text in _BOUNDS.items() for value in _tightest(key, _values(bounds, key)))
    return escape_line(", ".join(dict.fromkeys(map(redact_text, limits))))


def _bounds(part: Mapping[str, Any]) -> dict[str, Any]:
    bounds = {key: part[key] for key in _BOUNDS if type(part.get(key)) in (int, float, str)}
    for keyword, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if part.get(exclusive) is True and keyword in bounds:  # as draft-04 writes it (validation, 5.1.2 and 5.1.3)
            bounds[exclusive] = bounds.pop(keyword)
    return bounds


def _tightest(keyword: str, values: list[Any]) -> list[Any]:
    """The values of a keyword that count if all of them hold."""
    choose = max if "min" in keyword.lower() else min if "max" in keyword.lower() else None
    return [choose(values)] if choose and values and not any(isinstance(value, str) for value in values) else values


def _values(schema: Schema, keyword: str, kind: type = object) -> list[JsonValue]:
    return [part[keyword] for part in schema if keyword in part and isinstance(part[keyword], kind)]


def _resolve(root: Mapping[str, Any], schema: JsonValue) -> Schema | None:
    """The schemas that must all hold: it, what a local `$ref` names, and `allOf`. None if one allows no value."""
    draft = find_dialect(root.get("$schema")) or DRAFT_7
    found: list[Mapping[str, Any]] = []
    seen, todo = set[int](), [schema]
    while todo and len(seen) < MAX_PARTS:
        part = todo.pop()
        if part is False:
            return None
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        target, parts = _target(root, part), part.get("allOf")
        if draft.year >= 2019 or not isinstance(target, dict | bool):  # else it hides the rest (draft-07 core, 8.3)
            found.append(part)
            todo += reversed(parts[:MAX_PARTS] if isinstance(parts, list) else [])
        todo.append(target)
    return found


def _target(root: Mapping[str, Any], schema: Mapping[str, Any]) -> JsonValue:
    """What the local `$ref` of a schema names. None if it names nothing."""
    reference = schema.get("$ref")
    path = resolve_ref(root, reference) if isinstance(reference, str) else None
    return None if path is None else value_at(root, path)


def _format_value(name: str, secrets: frozenset[Any], value: JsonValue) -> str:
    """A value of the parameter `name` as JSON, redacted: strings keep their quotes, since 17 and "17" differ."""
    shown = redact_field(name, value, secrets)
    return SECRET if shown == SECRET else escape_line(json.dumps(shown, ensure_ascii=False))
