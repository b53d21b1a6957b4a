"""How the keywords of JSON Schema are said in a sentence."""

from __future__ import annotations

from typing import NamedTuple


class Limit(NamedTuple):
    """A keyword that sets a bound: `must TEXT VALUE UNIT, not FOUND`.

    FOUND is the value itself where `plain`, else how long it is.
    """

    text: str
    unit: str = ""
    plain: bool = True


LIMITS = {
    "minLength": Limit("have at least", " characters", False),
    "maxLength": Limit("have at most", " characters", False),
    "minItems": Limit("have at least", " items", False),
    "maxItems": Limit("have at most", " items", False),
    "minProperties": Limit("have at least", " fields", False),
    "maxProperties": Limit("have at most", " fields", False),
    "minimum": Limit("be at least"),
    "maximum": Limit("be at most"),
    "exclusiveMinimum": Limit("be more than"),
    "exclusiveMaximum": Limit("be less than"),
    "multipleOf": Limit("be a multiple of"),
    "pattern": Limit("match the pattern"),
    "format": Limit("be of the format"),
}

REFUSALS = {
    "uniqueItems": "must not hold the same item twice",
    "contains": "must hold an item like the one that the schema asks for",
    "minContains": "holds too few items like the one that the schema asks for",
    "maxContains": "holds too many items like the one that the schema asks for",
    "not": "must not be what the schema rules out",
    "anyOf": "fits none of the choices that the schema gives",
    "oneOf": "must fit exactly one of the choices that the schema gives",
    "unevaluatedProperties": "has a field that the schema does not allow",
    "items": "has more items than the schema allows",
    "additionalItems": "has more items than the schema allows",
    "unevaluatedItems": "has more items than the schema allows",
}
"""What is said of a fault that has no bound to name."""
