"""jsonschema's errors in our own sentences.

Its own messages hold the whole instance, and point at the object where a field is missing. Ours name the
service offering or plan, the field, what is wanted and, cut short, what stands there.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import jsonschema
import referencing.exceptions
from jsonschema.exceptions import SchemaError, best_match
from jsonschema.validators import validator_for
from referencing import Registry

from osbctl.errors import ConfigError
from osbctl.findings import Finding, Severity
from osbctl.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.exceptions import ValidationError

    from osbctl.findings import Path

MAX_FINDINGS = 1_000
"""So many findings of a schema are told of one document: nobody reads more, and explaining costs time."""

_WANTED = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_CONVENTIONS = {
    "displayName",
    "imageUrl",
    "longDescription",
    "providerDisplayName",
    "documentationUrl",
    "supportUrl",
    "bullets",
    "costs",
}
"""Metadata fields whose types are a convention of the profile, not a rule of the specification."""


def explained(data: dict[str, Any], schema: Any) -> list[Finding]:
    """A finding for each fault of `data` under a shipped schema."""
    validator = jsonschema.Draft7Validator(schema, registry=Registry())
    faults = (fault for error in validator.iter_errors(data) for fault in _faults(error))
    return [_finding(data, *fault) for fault in islice(faults, MAX_FINDINGS)]


def broken(schema: object) -> str:
    """Why `schema` is no JSON Schema; empty where it is one."""
    if not isinstance(schema, dict | bool):
        return "it is no object"
    try:
        validator_for(schema, default=jsonschema.Draft202012Validator).check_schema(schema)  # type: ignore[arg-type]  # true and false are schemas too
    except SchemaError as error:
        where = "/" + "/".join(map(str, error.absolute_path))
        return f"not a valid schema at {where}: {safe(error.message)[:200]}"
    return ""


def house_findings(data: dict[str, Any], schema: Any, name: str) -> list[Finding]:
    """A finding for each fault of `data` under a schema of the user's own."""
    validator = validator_for(schema, default=jsonschema.Draft202012Validator)(schema, registry=Registry())
    try:
        errors = list(islice(validator.iter_errors(data), MAX_FINDINGS))
    except (referencing.exceptions.Unresolvable, referencing.exceptions.NoSuchResource) as error:
        raise ConfigError(
            f"house schema {name}: a reference leads nowhere: {safe(str(error))[:200]}", "nothing is fetched"
        ) from error
    return [
        Finding("house-schema", Severity.ERROR, f"{_about(data, path)}{told} ({name})", path)
        for error in errors
        for path, _, told in _faults(error)
    ]


def _innermost(error: ValidationError) -> ValidationError:
    """Of a choice between schemas, the error of the one that was likely meant."""
    while error.validator in ("anyOf", "oneOf") and error.context:
        best = best_match(iter([error])) or error
        likely = [inner for inner in error.context if inner.validator != "type"] or error.context
        error = likely[0] if best is error else best
    return error


def _faults(error: ValidationError) -> Iterator[tuple[Path, str, str]]:
    """The path, the keyword and our sentence of an error; one for each field that is missing."""
    error = _innermost(error)
    path = tuple(error.absolute_path)
    keyword, instance = str(error.validator), error.instance
    value: Any = error.validator_value
    if keyword == "required":
        for name in value:
            if isinstance(instance, dict) and name not in instance and f"'{name}' is a required" in error.message:
                yield (*path, name), keyword, f"{name} is missing"
        return
    yield path, keyword, _sentence(keyword, value, instance, path)


def sentence(error: ValidationError, whole: str) -> str:
    """One error as a sentence of ours; `whole` is what the top is called."""
    error = _innermost(error)
    return _sentence(str(error.validator), error.validator_value, error.instance, tuple(error.absolute_path), whole)


def _field(path: Path, whole: str) -> str:
    """How a sentence calls the value at `path`: its key, or its number in the list of that key."""
    if not path:
        return whole
    if isinstance(path[-1], str):
        return path[-1]
    return f"item {path[-1] + 1} of {_field(path[:-1], whole)}"


def _sentence(keyword: str, value: Any, instance: Any, path: Path, whole: str = "the catalog") -> str:
    field = _field(path, whole)
    shown = _shown(instance)
    if keyword == "type":
        wanted = " or ".join(_WANTED.get(kind, str(kind)) for kind in (value if isinstance(value, list) else [value]))
        return f"{field} must be {wanted}, not {shown}"
    if keyword in ("minLength", "minItems") and not instance:
        return f"{field} must not be empty"
    if keyword == "enum":
        return f"{field} must be one of {', '.join(map(_json, value))}, not {shown}"
    if keyword == "const":
        return f"{field} must be {_json(value)}, not {shown}"
    if keyword in ("additionalProperties", "unevaluatedProperties", "not") or isinstance(value, dict | list):
        return f"{field} breaks {keyword!r}: it is {shown}"
    return f"{field} breaks {keyword} {_json(value)}: it is {shown}"


def _finding(data: dict[str, Any], path: Path, keyword: str, told: str) -> Finding:
    rule = _rule(path, keyword)
    severity = Severity.WARNING if rule == "metadata-type" else Severity.ERROR
    return Finding(rule, severity, _about(data, path) + told, path, hint=_hint(data, path, keyword))


def _rule(path: Path, keyword: str) -> str:
    if "metadata" in path:
        inside = path[path.index("metadata") + 1 :]
        if inside and inside[0] in _CONVENTIONS:
            return "metadata-type"
    if keyword in ("minLength", "minItems"):
        return "schema-empty"
    return f"schema-{keyword}" if keyword in ("required", "type", "enum") else "schema-other"


def _hint(data: Any, path: Path, keyword: str) -> str:
    if keyword == "required" and path[-1] == "id":
        return "a GUID is recommended; once published, it never changes"
    value = data
    for step in path:
        value = value[step] if keyword != "required" else None
        if value is None:
            return ""
    if keyword == "type" and isinstance(value, str) and value.lower() in ("true", "false", "yes", "no", "on", "off"):
        return f"write {'true' if value.lower() in ('true', 'yes', 'on') else 'false'}, without quotes"
    if keyword == "type" and isinstance(value, int | float) and not isinstance(value, bool):
        return "put it in quotes" if path[-1] in ("id", "name", "description", "version") else ""
    return ""


def _about(data: Any, path: Path) -> str:
    """The names of the service offering and the plan that `path` leads into, as the beginning of a sentence."""
    told = []
    value = data
    kinds = {"services": "service", "plans": "plan"}
    for key, index in zip(path[0:4:2], path[1:4:2], strict=False):
        try:
            value = value[key][index]
        except (KeyError, IndexError, TypeError):
            break
        name = value.get("name") if isinstance(value, dict) else None
        if isinstance(name, str) and name and key in kinds:
            told.append(f"{kinds[str(key)]} {name[:60]!r}: ")
    return "".join(told)


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
