"""Equality of JSON values, and of schemas that are written alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.jsonschemas.walk import UndecidableError, references, subschemas
from osbctl.paths import JsonValue, entries

if TYPE_CHECKING:
    from osbctl.jsonschemas.schema_tree import Subschema


def same_value(left: JsonValue, right: JsonValue) -> bool:
    """Whether two JSON values are equal; `true` is not 1 here, though Python takes it so."""
    if left != right:
        return False
    if not isinstance(left, dict | list):
        return isinstance(left, bool) == isinstance(right, bool)
    return all(same_value(value, right[key]) for key, value in entries(left))


_IN_ALL_DRAFTS = {
    *("title", "description", "type", "enum", "not", "allOf", "anyOf", "oneOf", "minimum", "maximum"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
    *("required", "properties", "additionalProperties", "patternProperties"),
}
"""Keywords that mean the same in every draft, where no other stands beside them."""


def same_schema(left: Subschema, right: Subschema) -> bool:
    """Whether both are written alike, in words that both drafts read alike, and so is all that they refer to."""
    todo, seen = [(left, right)], set()
    while todo:
        a, b = todo.pop()
        if not same_value(a.value, b.value) or (a.tree.dialect != b.tree.dialect and not _is_in_all_drafts(a.value)):
            return False
        for _, ref in references(a.value):
            if ref not in seen:
                seen.add(ref)
                try:
                    todo.append((a.tree.resolve(ref), b.tree.resolve(ref)))
                except UndecidableError:  # A value that only looks like a reference.
                    return False
    return True


def _is_in_all_drafts(schema: JsonValue) -> bool:
    parts = [place.value for place in subschemas(schema)]
    # Whether 1.0 is an integer changed with draft-06.
    return all(part.keys() <= _IN_ALL_DRAFTS and "integer" not in part.get("type", ()) for part in parts)


def same_keywords(left: Subschema, right: Subschema, *keywords: str) -> bool:
    """Whether both schemas hold these keywords, each a schema, a list of schemas or a plain value, alike."""
    for keyword in keywords:
        a, b = left.get(keyword), right.get(keyword)
        if isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b) or not all(map(same_schema, left.children(keyword), right.children(keyword))):
                return False
        elif isinstance(a, dict | bool) and isinstance(b, dict | bool):
            if not same_schema(left.child(keyword), right.child(keyword)):
                return False
        elif not same_value(a, b):
            return False
    return True


def same_entry(left: Subschema, right: Subschema, keyword: str, name: str) -> bool:
    """Whether both schemas hold this entry, a schema or a list of names, of a keyword that has entries, alike."""
    a, b = ((schema.get(keyword) or {}).get(name) for schema in (left, right))
    if isinstance(a, dict | bool) and isinstance(b, dict | bool):
        return same_schema(left.child(keyword, name), right.child(keyword, name))
    return same_value(a, b)
