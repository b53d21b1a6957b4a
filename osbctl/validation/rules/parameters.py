"""Parameter schemas: JSON Schemas that must stand on their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from osbctl.findings import Severity
from osbctl.platforms import Platform
from osbctl.rule import Category, Scope, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from osbctl.findings import Path
    from osbctl.validation.node import Hit, Node

MAX_BYTES = 65_536
"""64 kB (OSB 2.13, Schemas Object: Platforms MUST support schemas of that size)."""

DRAFTS = {
    "http://json-schema.org/draft-03/schema": "Draft3Validator",
    "http://json-schema.org/draft-04/schema": "Draft4Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
}
"""The drafts that jsonschema knows, by `$schema` without its empty fragment."""

_LITERAL = {"enum", "const", "default", "examples"}
_BY_NAME = {"properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"}


@rule(
    "parameters-dialect-missing",
    severity=Severity.ERROR,
    category=Category.SPEC,
    scope=Scope.PARAMETERS,
    refused_by=(Platform.CLOUD_FOUNDRY,),
    source="OSB 2.13, Input Parameters Schema Object: the schema MUST have a $schema keyword",
)
def parameters_dialect_missing(schema: Node) -> Iterator[Hit]:
    """A parameter schema does not say which draft of JSON Schema it is written for.

    Bad::

        parameters: {type: object}

    Good::

        parameters: {$schema: "http://json-schema.org/draft-04/schema#", type: object}
    """
    if "$schema" not in schema:
        hint = 'add "$schema": "http://json-schema.org/draft-04/schema#"'
        yield schema.hit("the parameter schema has no $schema", "$schema", hint)


@rule(
    "parameters-dialect-unknown",
    severity=Severity.ERROR,
    category=Category.SPEC,
    scope=Scope.PARAMETERS,
    refused_by=(Platform.CLOUD_FOUNDRY,),
    source="OSB 2.13, Input Parameters Schema Object: draft-04 or later, no custom metaschema",
)
def parameters_dialect_unknown(schema: Node) -> Iterator[Hit]:
    """A parameter schema names a draft of JSON Schema that nobody knows.

    The names are exact: draft-07 and before begin with http, later ones with https.

    Bad::

        parameters: {$schema: "https://json-schema.org/draft-04/schema#"}

    Good::

        parameters: {$schema: "http://json-schema.org/draft-04/schema#"}
    """
    dialect = schema.text("$schema")
    if dialect is not None and _dialect(schema) is None:
        near = "http:" + dialect.removeprefix("https:") if dialect.startswith("https:") else "https:" + dialect[5:]
        hint = (
            f"write {near}" if near.rstrip("#") in DRAFTS else "known: draft-04, draft-06, draft-07, 2019-09, 2020-12"
        )
        yield schema.hit(f"{dialect[:80]!r} is no known draft of JSON Schema", "$schema", hint)


@rule(
    "parameters-invalid",
    severity=Severity.ERROR,
    category=Category.SPEC,
    scope=Scope.PARAMETERS,
    source="OSB 2.13, Input Parameters Schema Object: parameters MUST be a valid JSON Schema",
)
def parameters_invalid(schema: Node) -> Iterator[Hit]:
    """A parameter schema is not valid under its own draft.

    Bad::

        parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {type: int}}}

    Good::

        parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {type: integer}}}
    """
    name = _dialect(schema)
    if name is None or _is_valid_schema(schema.value, name):
        return
    import jsonschema

    from osbctl.validation.explain import sentence

    validator = getattr(jsonschema, name)
    for error in validator(validator.META_SCHEMA).iter_errors(schema.value):
        told = sentence(error, "the schema")
        yield schema.hit(f"not a valid JSON Schema: {told}", tuple(error.absolute_path))


_JUDGED: dict[tuple[str, str], bool] = {}


def _is_valid_schema(schema: dict[str, Any], validator: str) -> bool:
    """Whether a schema meets its draft's metaschema; equal schemas are judged once."""
    key = (validator, json.dumps(schema, sort_keys=True))
    if key not in _JUDGED:
        import jsonschema_rs

        try:
            _JUDGED[key] = jsonschema_rs.meta.is_valid(schema) if validator != "Draft3Validator" else False
        except (ValueError, jsonschema_rs.ReferencingError):
            _JUDGED[key] = False
    return _JUDGED[key]


def _dialect(schema: Node) -> str | None:
    return DRAFTS.get((schema.text("$schema") or "").removesuffix("#"))


@rule(
    "parameters-reference-external",
    severity=Severity.ERROR,
    category=Category.SPEC,
    scope=Scope.PARAMETERS,
    refused_by=(Platform.CLOUD_FOUNDRY,),
    source="OSB 2.13, Input Parameters Schema Object: schemas MUST NOT contain external references",
)
def parameters_reference_external(schema: Node) -> Iterator[Hit]:
    """A parameter schema refers to something outside of itself.

    Platforms fetch nothing. `osbctl build` bundles schemas that stand in files of their own.

    Bad::

        parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "https://example.com/size.json"}

    Good::

        parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {type: integer}}}
    """
    ids = None
    for path, reference in _references(schema.value):
        if not reference.startswith("#"):
            ids = _ids(schema.value) if ids is None else ids
            if reference.partition("#")[0] not in ids and reference.removesuffix("#") not in DRAFTS:
                message = f"{reference[:80]!r} leads out of the schema"
                yield schema.hit(message, path, "put the definition into the schema itself")


@rule(
    "parameters-reference-missing",
    severity=Severity.ERROR,
    category=Category.SPEC,
    scope=Scope.PARAMETERS,
    source="JSON Schema, $ref: the reference identifies a schema",
)
def parameters_reference_missing(schema: Node) -> Iterator[Hit]:
    """A reference in a parameter schema leads nowhere.

    Bad::

        parameters:
          $schema: http://json-schema.org/draft-04/schema#
          properties: {size: {$ref: "#/definitions/size"}}

    Good::

        parameters:
          $schema: http://json-schema.org/draft-04/schema#
          properties: {size: {$ref: "#/definitions/size"}}
          definitions: {size: {type: integer}}
    """
    for path, reference in _references(schema.value):
        if reference.startswith("#/") and _target(schema.value, reference) is None:
            yield schema.hit(f"{reference[:80]!r} leads nowhere", path, "add the definition, or correct the reference")


@rule(
    "parameters-reference-loop",
    severity=Severity.ERROR,
    category=Category.SPEC,
    scope=Scope.PARAMETERS,
    source="JSON Schema, $ref: a schema MUST NOT be run into an infinite loop; Cloud Foundry crashes on one",
)
def parameters_reference_loop(schema: Node) -> Iterator[Hit]:
    """References in a parameter schema go round in a circle and never reach a schema.

    Recursion is fine where a value is consumed on the way, as in a tree; a reference that leads back to
    itself is not.

    Bad::

        parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "#"}

    Good::

        parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {child: {$ref: "#"}}}
    """
    for path, reference in _references(schema.value):
        seen = set()
        value: Any = None
        while reference.startswith("#") and reference not in seen:
            seen.add(reference)
            value = _target(schema.value, reference)
            reference = value["$ref"] if isinstance(value, dict) and isinstance(value.get("$ref"), str) else ""
        if reference in seen:
            yield schema.hit("the reference leads back to itself", path, "let it lead to a schema")


@rule(
    "parameters-too-large",
    severity=Severity.ERROR,
    category=Category.SPEC,
    scope=Scope.PARAMETERS,
    refused_by=(Platform.CLOUD_FOUNDRY,),
    source="OSB 2.13, Schemas Object: at most 64 kB",
)
def parameters_too_large(schema: Node) -> Iterator[Hit]:
    """A parameter schema is larger than 64 kB."""
    text = json.dumps(schema.value, ensure_ascii=False, separators=(",", ":"))
    size = len(text.encode("utf-8", "surrogatepass")) if len(text) * 4 > MAX_BYTES else 0
    if size > MAX_BYTES:
        yield schema.hit(
            f"the parameter schema has {size:,} bytes; at most {MAX_BYTES:,} are allowed", hint="shorten it"
        )


@rule(
    "parameters-pattern",
    severity=Severity.WARNING,
    category=Category.ADVICE,
    scope=Scope.PARAMETERS,
    source="JSON Schema Validation, pattern: a regular expression of ECMA 262",
)
def parameters_pattern(schema: Node) -> Iterator[Hit]:
    """A pattern in a parameter schema is no regular expression.

    It is read, never run.

    Bad::

        parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {pattern: "("}}}

    Good::

        parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {pattern: "^a"}}}
    """
    import re

    for path, keyword in _schemas(schema.value, (), lambda inner: inner.get("pattern")):
        if isinstance(keyword, str):
            try:
                re.compile(keyword)
            except (re.error, RecursionError, OverflowError):
                if not any(sign in keyword for sign in ("(?<", "\\p{", "\\P{", "\\c", "\\u", "[^]", "[]")):
                    message = f"{keyword[:60]!r} is no regular expression"
                    yield schema.hit(message, (*path, "pattern"), "close its brackets")


def _references(schema: Any) -> Iterator[tuple[Path, str]]:
    for path, reference in _schemas(schema, (), lambda inner: inner.get("$ref")):
        if isinstance(reference, str):
            yield (*path, "$ref"), reference


def _ids(schema: Any) -> set[str]:
    found = _schemas(schema, (), lambda inner: inner.get("$id") or inner.get("id"))
    return {value for _, value in found if isinstance(value, str)}


def _schemas(value: Any, path: Path, take: Callable[[dict[str, Any]], Any]) -> Iterator[tuple[Path, Any]]:
    """What `take` finds in each schema within `value`; what is data or a name in a schema is passed over."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _schemas(item, (*path, index), take)
    elif isinstance(value, dict):
        taken = take(value)
        if taken is not None:
            yield path, taken
        for key, item in value.items():
            if key in _BY_NAME and isinstance(item, dict):
                for name, inner in item.items():
                    yield from _schemas(inner, (*path, key, name), take)
            elif key not in _LITERAL and isinstance(item, dict | list):
                yield from _schemas(item, (*path, key), take)


def _target(schema: Any, reference: str) -> Any:
    """What a reference inside of the schema leads to; None where nothing is there."""
    from urllib.parse import unquote

    value = schema
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value.get(key)
        else:
            return None
    return value
