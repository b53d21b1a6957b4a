"""Parameter schemas: JSON Schemas that must stand on their own."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator

from osbctl.findings import Fix, Severity
from osbctl.jsonschemas.dialects import misnamed_dialect
from osbctl.jsonschemas.metaschema import DRAFTS, faults
from osbctl.jsonschemas.walk import subschemas
from osbctl.rule import Category, Scope, rule
from osbctl.validation.node import Node, RuleMatch

MAX_BYTES = 65_536
"""64 kB (OSB 2.13, Schemas Object: Platforms MUST support schemas of that size)."""

_DRAFT_04 = "http://json-schema.org/draft-04/schema#"

_ECMA_ONLY = ("(?<", "\\p{", "\\P{", "\\c", "\\u", "[^]", "[]")
"""Signs of what ECMA 262 knows and Python, which reads the patterns, does not."""


@rule("parameters-dialect-missing", Severity.ERROR, Category.SPEC, Scope.PARAMETERS)
def parameters_dialect_missing(schema: Node) -> Iterator[RuleMatch]:
    """A parameter schema does not say which draft of JSON Schema it is written for.

    Bad: parameters: {type: object}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", type: object}
    Fix: adds draft-04, or renames `schema` where that names a draft; with --unsafe where it is not proved that the same
        requests pass.
    Source: OSB 2.13, Input Parameters Schema Object: the schema MUST have a $schema keyword
    """
    if "$schema" not in schema:
        slip = misnamed_dialect(schema.value)
        hint = f"rename {slip} to $schema" if slip else 'add "$schema": "http://json-schema.org/draft-04/schema#"'
        yield schema.hit("the parameter schema has no $schema", "$schema", hint)


@rule("parameters-dialect-unknown", Severity.ERROR, Category.SPEC, Scope.PARAMETERS)
def parameters_dialect_unknown(schema: Node) -> Iterator[RuleMatch]:
    """A parameter schema names an unknown draft of JSON Schema.

    The names are exact: draft-07 and before begin with http, later ones with https.

    Bad: parameters: {$schema: "https://json-schema.org/draft-04/schema#"}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#"}
    Fix: writes the exact name that a slip is near, with --unsafe.
    Source: OSB 2.13, Input Parameters Schema Object: draft-04 or later, no custom metaschema
    """
    dialect = schema.text("$schema")
    if dialect is None and "$schema" in schema:
        yield schema.hit("$schema must be a string", "$schema", f"write {_DRAFT_04}")
    elif dialect is not None and _dialect(schema) is None:
        near = "http:" + dialect.removeprefix("https:") if dialect.startswith("https:") else "https:" + dialect[5:]
        is_slip = near.rstrip("#") in DRAFTS
        hint = f"write {near}" if is_slip else "known: draft-04, draft-06, draft-07, 2019-09, 2020-12"
        fixes = (Fix("set", (*schema.path, "$schema"), near),) if is_slip else ()
        yield schema.hit(f"{dialect[:80]!r} is not a known draft of JSON Schema", "$schema", hint, fixes)


@rule("parameters-invalid", Severity.ERROR, Category.SPEC, Scope.PARAMETERS)
def parameters_invalid(schema: Node) -> Iterator[RuleMatch]:
    """A parameter schema is not valid under its own draft, or under draft-04 where it names none that is known.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {type: int}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {type: integer}}}
    Source: OSB 2.13, Input Parameters Schema Object: parameters MUST be a valid JSON Schema
    """
    # Cloud Foundry treats every schema as draft-04, regardless of its $schema.
    whole = schema.value if _dialect(schema) else {**schema.value, "$schema": _DRAFT_04}
    for path, text in faults(whole, _dialect(schema) or "Draft4Validator"):
        yield schema.hit(f"not a valid JSON Schema: {text}", path)


def _dialect(schema: Node) -> str | None:
    return DRAFTS.get((schema.text("$schema") or "").removesuffix("#"))


@rule("parameters-too-large", Severity.ERROR, Category.SPEC, Scope.PARAMETERS)
def parameters_too_large(schema: Node) -> Iterator[RuleMatch]:
    """A parameter schema is larger than 64 kB.

    Source: OSB 2.13, Schemas Object: at most 64 kB
    """
    if len(json.dumps(schema.value)) <= MAX_BYTES:  # with blanks and escapes: no shorter than what is counted
        return
    text = json.dumps(schema.value, ensure_ascii=False, separators=(",", ":"))
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        yield schema.hit(
            f"the parameter schema has {size:,} bytes; at most {MAX_BYTES:,} are allowed", hint="shorten it"
        )


@rule("parameters-pattern", Severity.WARNING, Category.ADVICE, Scope.PARAMETERS)
def parameters_pattern(schema: Node) -> Iterator[RuleMatch]:
    """A pattern in a parameter schema is not a regular expression.

    It is read, never run.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {pattern: "("}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {a: {pattern: "^a"}}}
    Source: JSON Schema Validation, pattern: a regular expression of ECMA 262
    """
    for place in subschemas(schema.value):
        keyword = place.value.get("pattern")
        if isinstance(keyword, str) and not any(sign in keyword for sign in _ECMA_ONLY) and (text := _fault(keyword)):
            message = f"{keyword[:60]!r} is not a regular expression: {text}"
            hint = "correct it: tools that read the schema fail on it"
            yield schema.hit(message, (*place.path, "pattern"), hint)


def _fault(pattern: str) -> str:
    """Error of a pattern in the words of Python's `re`; empty if it is valid or unknown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python means to change about sets is no fault of the pattern
        try:
            re.compile(pattern)
        except re.error as error:
            return error.msg
        except (RecursionError, OverflowError):
            pass
    return ""
