"""jsonschema's errors in our own sentences.

Its own messages hold the whole instance, and point at the object where a field is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jsonschema.exceptions import best_match

from osbctl.jsonschemas.sentences import field_name, refusal
from osbctl.paths import Path

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError


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


def sentence(error: ValidationError, whole: str) -> str:
    """One error as a sentence of ours; `whole` is what the top is called."""
    error = _innermost(error)
    missing = _missing(error) if error.validator == "dependencies" else None
    if missing is not None:
        return f"{field_name(missing)} is missing"
    return refusal(str(error.validator), error.validator_value, error.instance, tuple(error.absolute_path), whole)


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
    """Whether `propertyNames` judged the key of a field, not a value."""
    steps: tuple[Any, ...] = tuple(error.absolute_schema_path)
    return steps[-2:-1] == ("propertyNames",) and steps[-3:-2] != ("properties",)
