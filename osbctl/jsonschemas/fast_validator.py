"""A validator that only says yes or no: jsonschema-rs decides a whole catalog in milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def fast_validator(schema: dict[str, Any], draft: str = "Draft7Validator") -> Callable[[Any], bool]:
    """A function that tells whether a value meets `schema`, where `format` refuses nothing.

    False where the value is nested deeper than is read.
    """
    import jsonschema_rs

    validator = getattr(jsonschema_rs, draft)(schema, validate_formats=False)

    def decide(value: Any) -> bool:
        try:
            return bool(validator.is_valid(value))
        except ValueError:
            return False

    return decide
