"""Validation against a schema of the user with jsonschema-rs; nothing is fetched."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import jsonschema_rs
from jsonschema_rs import ValidationErrorKind

from osbctl.errors import ConfigError
from osbctl.findings import Finding, Severity
from osbctl.jsonschemas.bounded_validator import refuse_to_fetch
from osbctl.jsonschemas.dialects import DRAFTS, find_dialect
from osbctl.jsonschemas.sentences import describe_error, describe_violation, error_path, leaf_errors
from osbctl.paths import JsonPath, JsonValue, pointer
from osbctl.text import escape_line
from osbctl.validation.options import MAX_FINDINGS
from osbctl.validation.rules.references import References
from osbctl.validation.schema_errors import name_in_object, omission_note, service_and_plan_prefix
from osbctl.validation.user_rules import find_annotation


def check_user_schema(data: dict[str, Any], schema: Any, name: str) -> list[Finding]:
    """Findings of the user schema `name`. Raises ConfigError: it is invalid, unusable, or refers elsewhere."""
    if reason := _unusable_reason(schema):
        raise ConfigError(f"user schema {name}: {reason}")
    known_dialect = find_dialect(schema.get("$schema")) if isinstance(schema, dict) else None
    dialect = known_dialect or DRAFTS["https://json-schema.org/draft/2020-12/schema"]
    make_validator = getattr(jsonschema_rs, dialect.validator)
    try:
        validator = make_validator(schema, validate_formats=False, retriever=refuse_to_fetch)
        errors = list(islice(leaf_errors(validator.iter_errors(data)), MAX_FINDINGS + 1))
    except jsonschema_rs.ValidationError as error:
        raise _invalid_schema_error(error, schema, name) from error
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        reason = escape_line(str(error).partition("\n")[0])[:200]
        raise ConfigError(f"user schema {name}: it cannot be applied: {reason}") from error
    found = list(dict.fromkeys(finding for error in errors for finding in _error_findings(error, data, schema, name)))
    rest = [omission_note("house-schema", Severity.ERROR)] if len(found) > MAX_FINDINGS else []
    return found[:MAX_FINDINGS] + rest


def _error_findings(
    error: jsonschema_rs.ValidationError, data: JsonValue, schema: JsonValue, name: str
) -> Iterator[Finding]:
    """The findings for an error: of the rule that the schema names at its place, else of `house-schema`."""
    own = find_annotation(schema, tuple(error.evaluation_path), tuple(error.schema_path))
    page = f"see {own['url']}" if "url" in own else ""
    hint = "; ".join(filter(None, (own.get("hint"), page)))
    for path, text in error_sentences(error, data):
        prefix = service_and_plan_prefix(data, path)
        if own:
            severity = Severity(own.get("severity", "error"))
            yield Finding(own["rule"], severity, f"{prefix}{own.get('message') or text}", path, hint=hint)
        else:
            yield Finding("house-schema", Severity.ERROR, f"{prefix}{text} ({name})", path)


def _unusable_reason(schema: object) -> str:
    """Reason why `schema` cannot be applied; empty if it can."""
    if not isinstance(schema, dict | bool):
        return "it is not an object"
    if isinstance(schema, bool):
        return ""
    if not isinstance(schema.get("$schema", ""), str):
        return "not a valid schema at /$schema: it must be a string"
    if "draft-03" in schema.get("$schema", ""):
        return "draft-03 is not supported, draft-04 and later are"
    return "its references go round in circles" if any(References(schema).find_loops()) else ""


def _invalid_schema_error(error: jsonschema_rs.ValidationError, schema: JsonValue, name: str) -> ConfigError:
    text = escape_line(error.message.partition("\n")[0])[:200]
    if isinstance(error.kind, ValidationErrorKind.Referencing) or "does not exist" in text:
        return ConfigError(f"user schema {name}: a reference leads nowhere: {text}", "nothing is fetched")
    return ConfigError(f"user schema {name}: not a valid schema at {pointer(error_path(error, schema))}: {text}")


def error_sentences(error: jsonschema_rs.ValidationError, data: JsonValue) -> Iterator[tuple[JsonPath, str]]:
    """Path and sentence of an error of the catalog `data`; one for each missing or additional field."""
    path, kind = error_path(error, data), error.kind
    if isinstance(kind, ValidationErrorKind.Required):
        yield (*path, kind.property), f"{name_in_object((*path, kind.property))} is missing"
    elif isinstance(kind, ValidationErrorKind.AdditionalProperties):
        places = [(*path, name) for name in kind.unexpected]
        yield from ((place, f"{name_in_object(place)} is not allowed here") for place in places)
    elif isinstance(kind, ValidationErrorKind.PropertyNames):
        inner = kind.error
        text = describe_violation(inner.kind.name, inner.kind.value, inner.instance, (), "the name of a field")
        yield (*path, str(inner.instance)), text
    else:
        yield path, describe_error(error, path, "the catalog", name=name_in_object(path))
