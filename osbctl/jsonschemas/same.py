"""Whether two schemas say the same because they are written the same."""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING

from osbctl.jsonschemas.walk import UndecidableError, references, subschemas
from osbctl.paths import JsonValue, entries

if TYPE_CHECKING:
    from osbctl.jsonschemas.roots import Subschema


def same_value(left: JsonValue, right: JsonValue) -> bool:
    """Whether two JSON values are equal; `true` is not 1 here, though Python takes it so."""
    if left != right:
        return False  # The quick answer; what is left is true against 1.
    if not isinstance(left, dict | list):
        return isinstance(left, bool) == isinstance(right, bool)
    if marshal.dumps(left, 2) == marshal.dumps(right, 2):
        return True  # Alike to the byte, types and all: what most values are that are equal.
    return all(same_value(value, right[key]) for key, value in entries(left))


_IN_ALL_DRAFTS = {
    *("title", "description", "type", "enum", "not", "allOf", "anyOf", "oneOf", "minimum", "maximum"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
    *("required", "properties", "additionalProperties", "patternProperties"),
}
"""Keywords that mean the same in every draft, where no other stands beside them."""


def same_schema(left: Subschema, right: Subschema) -> bool:
    """Whether both are written the same, in words that both drafts take alike, and so is all that they refer to."""
    todo, seen = [(left, right)], set()
    while todo:
        a, b = todo.pop()
        if not same_value(a.value, b.value) or (a.root.dialect != b.root.dialect and not _is_in_all_drafts(a.value)):
            return False
        for _, ref in references(a.value):
            if ref not in seen:
                seen.add(ref)
                try:
                    todo.append((a.root.resolve(ref), b.root.resolve(ref)))
                except UndecidableError:  # A value that only looks like a reference.
                    return False
    return True


def _is_in_all_drafts(schema: JsonValue) -> bool:
    parts = [place.value for place in subschemas(schema)]
    # Whether 1.0 is an integer changed with draft-06.
    return all(part.keys() <= _IN_ALL_DRAFTS and "integer" not in part.get("type", ()) for part in parts)


def same_keywords(left: Subschema, right: Subschema, keywords: tuple[str, ...]) -> bool:
    """Whether both schemas hold these keywords, which must hold schemas or plain values, alike."""
    for keyword in keywords:
        if (left.get(keyword) is None) != (right.get(keyword) is None):
            return False
        if left.get(keyword) is not None and not same_schema(left.child(keyword), right.child(keyword)):
            return False
    return True
