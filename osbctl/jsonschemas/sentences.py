"""Messages for the errors of JSON Schema validation."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import jsonschema_rs
from jsonschema_rs import ValidationError

from osbctl.jsonschemas.dialects import Dialect, is_valid_schema
from osbctl.messages import SECRET, Message, Value, redact
from osbctl.paths import JsonPath, JsonValue, entries, pointer
from osbctl.text import escape_line, format_key

SENTENCES = {
    "enum": "must be one of {value}, not {found}",
    "const": "must be {value}, not {found}",
    "type": "must be {value}, not {found}",
    "minLength": "must have at least {value} characters, not {length}",
    "maxLength": "must have at most {value} characters, not {length}",
    "minItems": "must have at least {value} items, not {length}",
    "maxItems": "must have at most {value} items, not {length}",
    "minProperties": "must have at least {value} fields, not {length}",
    "maxProperties": "must have at most {value} fields, not {length}",
    "minimum": "must be at least {value}, not {found}",
    "maximum": "must be at most {value}, not {found}",
    "exclusiveMinimum": "must be more than {value}, not {found}",
    "exclusiveMaximum": "must be less than {value}, not {found}",
    "multipleOf": "must be a multiple of {value}, not {found}",
    "pattern": "must match the pattern {value}, not {found}",
    "format": "must be of the format {value}, not {found}",
    "uniqueItems": "must not hold the same item twice",
    "contains": "must hold an item like the one that the schema asks for",
    "minContains": "holds too few items like the one that the schema asks for",
    "maxContains": "holds too many items like the one that the schema asks for",
    "not": "must not be what the schema rules out",
    "anyOf": "fits none of the choices that the schema gives",
    "oneOf": "must fit exactly one of the choices that the schema gives",
    "unevaluatedProperties": "has a field that the schema does not allow",
    **dict.fromkeys(("items", "additionalItems", "unevaluatedItems"), "has more items than the schema allows"),
    # The schema false has no keyword, and jsonschema often stops a step short of its place.
    "None": "holds what the schema does not allow: {found}",
}
"""The sentence for a value that breaks a keyword, behind the name of its field."""


def metaschema_errors(schema: dict[str, Any], dialect: Dialect) -> Iterator[tuple[JsonPath, Message]]:
    """The places of a schema that are not valid under a draft, whichever it names, each with a reason."""
    if is_valid_schema(schema, dialect):
        return
    import jsonschema

    metaschema = getattr(jsonschema, dialect.validator).META_SCHEMA
    judge = getattr(jsonschema_rs, dialect.validator)(metaschema, validate_formats=False)
    # A lone surrogate is no fault of a schema, but jsonschema-rs reads none.
    value = json.loads(json.dumps(schema, ensure_ascii=False).encode("utf-8", "replace"))
    # From 2019-09 on a metaschema has several parts, and each says the same of a wrong type.
    errors = [(error, _best_match(error, value)) for error in leaf_errors(judge.iter_errors(value))]
    found = {(error_path(e, value), describe_error(best, error_path(best, value), "the schema")) for e, best in errors}
    yield from sorted(found, key=lambda fault: (list(map(str, fault[0])), str(fault[1])))


def _best_match(error: ValidationError, whole: JsonValue) -> ValidationError:
    """Of a choice between schemas, the error that says most: about a part, or not about the kind of the value."""
    errors = [inner for branch in getattr(error.kind, "context", ()) for inner in branch]
    return max(errors, key=lambda e: (len(error_path(e, whole)), e.kind.name not in ("type", "enum")), default=error)


def leaf_errors(errors: Iterable[ValidationError]) -> Iterator[ValidationError]:
    """Replace the error of a choice between schemas by those of the branch that was likely meant: the fewest."""
    for error in errors:
        branches: list[list[ValidationError]] = [branch for branch in getattr(error.kind, "context", ()) if branch]
        meant = [branch for branch in branches if not any(_is_type_mismatch(inner, error) for inner in branch)]
        if len(meant) == 1 or (meant and isinstance(error.instance, dict)):
            likeliest = min(meant, key=len)
            yield from leaf_errors(likeliest)
        else:
            yield error


def _is_type_mismatch(inner: ValidationError, error: ValidationError) -> bool:
    same_steps = list(inner.instance_path) == list(error.instance_path)
    # The path alone does not tell: an empty key is missing in it.
    return inner.kind.name == "type" and same_steps and inner.instance == error.instance


def error_path(error: ValidationError, whole: JsonValue) -> JsonPath:
    """The path of an error in the `whole` value that was validated.

    jsonschema-rs leaves empty keys out of a path, and takes a key such as `"8080"` for an index. If several paths are
    possible, the text of the error tells which one is meant.
    """
    steps = tuple(error.instance_path)
    possible = list(_possible_paths(steps, whole))
    if len(possible) > 1:
        text = str(error)
        possible = [path for path in possible if f"\n\nOn instance{_path_in_text(path)}:\n" in text] or possible
    return possible[0] if possible else steps


def _possible_paths(steps: JsonPath, value: JsonValue, path: JsonPath = ()) -> Iterator[JsonPath]:
    """The paths in `value` that jsonschema-rs may mean by `steps`, those without empty keys first."""
    if not steps:
        yield path
    for key, item in entries(value):
        if steps and key != "" and (key == steps[0] or (isinstance(key, str) and _is_read_as_index(key, steps[0]))):
            yield from _possible_paths(steps[1:], item, (*path, key))
    if isinstance(value, dict) and "" in value:
        yield from _possible_paths(steps, value[""], (*path, ""))


def _is_read_as_index(key: str, index: str | int) -> bool:
    """Return whether Rust parses the key to this number."""
    digits = key.removeprefix("+")
    is_number = digits.isascii() and digits.isdecimal() and isinstance(index, int)
    return is_number and digits.lstrip("0") == str(index).lstrip("0")


def _path_in_text(path: JsonPath) -> str:
    """A path as the text of a `ValidationError` has it: keys as in a JSON pointer."""
    steps = [pointer((step,))[1:] for step in path]
    return "".join(f"[{step}]" if step.isascii() and step.isdecimal() else f'["{step}"]' for step in steps)


def describe_error(
    error: ValidationError, path: JsonPath, top_name: str, secrets: frozenset[Any] = frozenset(), name: str = ""
) -> Message:
    """The message for one error at `path`; `top_name` is what the top is called, `secrets` are redacted.

    `name` is that of the value in the message, if its key does not say which one is meant.
    """
    kind = error.kind
    if kind.name == "required":
        return Message("{} is missing", format_key(kind.value))
    keyword = "None" if kind.name == "falseSchema" else kind.name
    expected, instance = (redact(value, secrets, by_name=False) for value in (kind.value, error.instance))
    return describe_violation(keyword, expected, instance, path, name or _value_name(path, top_name))


def _value_name(path: JsonPath, top_name: str) -> str:
    """Name of the value at `path` in messages: its key, or its index in a list."""
    if not path:
        return top_name
    if isinstance(path[-1], str):
        return format_key(path[-1])
    return f"item {path[-1] + 1} of {_value_name(path[:-1], top_name)}"


def describe_violation(keyword: str, expected: Any, instance: Any, path: JsonPath, name: str) -> Message:
    """Message: `instance` at `path`, called `name`, violates `keyword`, whose value in the schema is `expected`."""
    template = SENTENCES.get(keyword, "breaks {keyword!r}")
    if keyword in ("minLength", "minItems") and not instance:
        template = "must not be empty"
    form = {"type": _name_types, "enum": _list_choices}.get(keyword, _short_json)
    return Message(
        "{name} " + template,
        name=name,
        keyword=keyword,
        value=Value(expected, form=form) if "{value}" in template else "",  # that of others may be no JSON
        found=_found_value(keyword, instance, path),
        length=len(instance) if isinstance(instance, str | list | dict) else 0,
    )


def _found_value(keyword: str, instance: Any, path: JsonPath) -> Value | str:
    """The value in place of what a keyword asks for; of a secret at most whether it is a text or a number."""
    if isinstance(instance, dict | list):
        return "an object" if isinstance(instance, dict) else "an array"
    kind = "a string" if isinstance(instance, str) else "a number"
    form = _quote_string if isinstance(instance, str) else _short_json
    return Value(instance, path, form, if_secret=kind if keyword == "type" else SECRET)


def _name_types(types: Any) -> str:
    kinds = [str(kind) for kind in (types if isinstance(types, list) else [types])]
    return " or ".join(kind if kind == "null" else f"{'an' if kind[:1] in 'aio' else 'a'} {kind}" for kind in kinds)


def _list_choices(choices: Any) -> str:
    return ", ".join(map(_short_json, choices))


def _quote_string(text: Any) -> str:
    return f"the string {_short_json(text)}"


def _short_json(value: Any) -> str:
    text = escape_line(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 60 else text[:57] + "…"
