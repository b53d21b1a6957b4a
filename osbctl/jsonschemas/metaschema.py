"""Validators of jsonschema-rs that need no budget: faults of a parameter schema, and a quick yes or no."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from osbctl.jsonschemas.dialects import DIALECTS, DRAFT_4
from osbctl.jsonschemas.walk import subschemas
from osbctl.paths import Path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

DRAFTS = {dialect.uri: dialect.validator for dialect in DIALECTS.values()}
"""The validators of the known drafts, by `$schema` without its empty fragment."""


def fast_validator(schema: dict[str, Any], draft: str = "Draft7Validator") -> Callable[[Any], bool]:
    """A function that returns whether a value meets `schema`: in milliseconds for a whole catalog.

    It ignores `format`, and refuses values that are nested too deeply.
    """
    import jsonschema_rs

    validator = getattr(jsonschema_rs, draft)(schema, validate_formats=False)

    def decide(value: Any) -> bool:
        try:
            return bool(validator.is_valid(value))
        except ValueError:
            return False

    return decide


def faults(schema: dict[str, Any], validator: str) -> Iterator[tuple[Path, str]]:
    """The invalid places of a schema, each with a reason; `validator` is a value of `DRAFTS`."""
    if is_valid(schema, validator):
        return
    import jsonschema
    import jsonschema_rs

    from osbctl.jsonschemas.sentences import sentence

    metaschema = getattr(jsonschema, validator).META_SCHEMA
    judge = getattr(jsonschema_rs, validator)(metaschema, validate_formats=False)
    # A lone surrogate is no fault of a schema, but jsonschema-rs reads none.
    readable = json.loads(json.dumps(schema, ensure_ascii=False).encode("utf-8", "replace"))
    # From 2019-09 on a metaschema has several parts, and each says the same of a wrong type.
    found = {(tuple(e.instance_path), sentence(_likeliest(e), "the schema")) for e in judge.iter_errors(readable)}
    yield from sorted(found, key=lambda fault: (list(map(str, fault[0])), fault[1]))


def _likeliest(error: ValidationError) -> ValidationError:
    """Of a choice between schemas, the error that says most: about a part, or not about the kind of the value."""
    found = [inner for branch in getattr(error.kind, "context", ()) for inner in branch]
    return max(found, key=lambda e: (len(e.instance_path), e.kind.name not in ("type", "enum")), default=error)


def is_valid(schema: dict[str, Any], validator: str) -> bool:
    """Return whether a schema that names its draft is valid; faster than `faults`."""
    import jsonschema_rs

    try:
        valid = jsonschema_rs.meta.is_valid(schema)
    except (ValueError, jsonschema_rs.ReferencingError):
        return False
    # Its draft-04 takes an enum that is empty or holds an item twice.
    enums = [p.value["enum"] for p in subschemas(schema) if "enum" in p.value] if validator == DRAFT_4.validator else []
    right = jsonschema_rs.Draft4Validator({"type": "array", "minItems": 1, "uniqueItems": True})
    return valid and all(map(right.is_valid, enums))
