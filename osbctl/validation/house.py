"""A schema of the user's own applied, by jsonschema alone; nothing is ever fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import jsonschema
import referencing.exceptions
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from jsonschema.validators import validator_for
from referencing import Registry

from osbctl.errors import ConfigError
from osbctl.findings import Finding, Severity
from osbctl.jsonschemas.sentences import field_name, refusal
from osbctl.paths import Path
from osbctl.text import safe
from osbctl.validation.explain import about, more
from osbctl.validation.options import MAX_FINDINGS


def check_house_schema(data: dict[str, Any], schema: Any, name: str) -> list[Finding]:
    """Validate `data` against a user schema; `name` is its name in reports.

    Raises:
        ConfigError: the schema is broken, cannot be applied, or refers to something outside of itself.
    """
    try:
        if reason := _broken(schema):
            raise ConfigError(f"user schema {name}: {reason}")
        found = [
            Finding("house-schema", Severity.ERROR, f"{about(data, path)}{text} ({name})", path)
            for error in _errors(data, schema, name)
            for path, text in sentences(error)
        ]
    except RecursionError as error:
        raise ConfigError(
            f"user schema {name}: its references go round in circles, or it is nested too deeply"
        ) from error
    rest = [more("house-schema", Severity.ERROR)] if len(found) > MAX_FINDINGS else []
    return found[:MAX_FINDINGS] + rest


def _broken(schema: object) -> str:
    """Reason why `schema` is not a usable JSON Schema; empty if it is."""
    if not isinstance(schema, dict | bool):
        return "it is not an object"
    if isinstance(schema, dict) and not isinstance(schema.get("$schema", ""), str):
        return "not a valid schema at /$schema: it must be a string"
    validator = _validator(schema)
    if validator is jsonschema.Draft3Validator:
        return "draft-03 is not supported, draft-04 and later are"
    try:
        validator.check_schema(schema)
    except SchemaError as error:
        where = "/" + "/".join(map(str, error.absolute_path))
        return f"not a valid schema at {where}: {safe(error.message)[:200]}"
    return ""


def _errors(data: dict[str, Any], schema: Any, name: str) -> list[ValidationError]:
    try:
        return list(islice(_validator(schema)(schema, registry=Registry()).iter_errors(data), MAX_FINDINGS + 1))
    except (referencing.exceptions.Unresolvable, referencing.exceptions.NoSuchResource) as error:
        text = f"a reference leads nowhere: {safe(str(error))[:200]}"
        raise ConfigError(f"user schema {name}: {text}", "nothing is fetched") from error
    except RecursionError:
        raise
    except Exception as error:
        # A reference may lead to what no metaschema has looked at: jsonschema then fails in as many
        # ways as it has keywords, with exceptions of any kind; so it does at numbers too large for it.
        text = safe(f"{type(error).__name__}: {error}".partition("\n")[0])[:200]
        raise ConfigError(f"user schema {name}: it cannot be applied: {text}") from error


def _validator(schema: Any) -> Any:
    return validator_for(schema, default=jsonschema.Draft202012Validator)


def sentences(error: ValidationError) -> Iterator[tuple[Path, str]]:
    """The path and our sentence of an error; one for each field that is missing or too many."""
    error = _innermost(error)
    path = tuple(error.absolute_path)
    keyword, instance = str(error.validator), error.instance
    value: Any = error.validator_value
    if keyword in ("required", "dependentRequired", "dependencies"):
        name = _missing(error)
        if name is not None:
            yield (*path, name), f"{field_name(name)} is missing"
            return
    elif keyword == "additionalProperties":
        for name in _extras(error):
            yield (*path, name), f"{field_name(name)} is not allowed here"
        return
    elif _is_about_a_name(error):
        yield (*path, str(instance)), refusal(keyword, value, instance, ("the name of a field",))
        return
    yield path, refusal(keyword, value, instance, path)


def _innermost(error: ValidationError) -> ValidationError:
    """Of a choice between schemas, the error of the one that was likely meant."""
    while error.validator in ("anyOf", "oneOf") and error.context:
        best = best_match(iter([error])) or error
        likely = [inner for inner in error.context if inner.validator != "type"] or error.context
        error = likely[0] if best is error else best
    return error


def _missing(error: ValidationError) -> str | None:
    """The field that is missing: jsonschema raises an error a name, and tells it only in front of its message."""
    value: Any = error.validator_value
    lists = value.values() if isinstance(value, dict) else [value]
    names = (name for names in lists if isinstance(names, list) for name in names)
    return next((name for name in names if error.message.startswith(repr(name))), None)


def _extras(error: ValidationError) -> list[str]:
    """The fields that `additionalProperties: false` shuts out."""
    schema: Any = error.schema
    instance: Any = error.instance
    patterns = schema.get("patternProperties", ())
    known = schema.get("properties", ())
    return [n for n in instance if n not in known and not any(re.search(p, n) for p in patterns)]


def _is_about_a_name(error: ValidationError) -> bool:
    """Return whether `propertyNames` judged the key of a field, not a value."""
    steps: tuple[Any, ...] = tuple(error.absolute_schema_path)
    return steps[-2:-1] == ("propertyNames",) and steps[-3:-2] != ("properties",)
