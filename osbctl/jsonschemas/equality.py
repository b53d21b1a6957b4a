"""Equality of JSON values, and of schemas that are written alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.jsonschemas.walk import UndecidableError, references
from osbctl.paths import JsonValue, entries

if TYPE_CHECKING:
    from osbctl.jsonschemas.schema_tree import Subschema


def same_value(left: JsonValue, right: JsonValue) -> bool:
    """Return whether two JSON values are equal; `true` is not 1 here, though Python takes it so."""
    if left != right:
        return False
    if not isinstance(left, dict | list):
        return isinstance(left, bool) == isinstance(right, bool)
    return all(same_value(value, right[key]) for key, value in entries(left))


def same_schema(left: Subschema, right: Subschema, *keywords: str) -> bool:
    """Return whether both schemas and their references are equal under one draft; `keywords`: compare only these."""
    if left.tree.dialect != right.tree.dialect:
        return False
    todo = [({k: left.get(k) for k in keywords}, {k: right.get(k) for k in keywords})]
    todo, seen = todo if keywords else [(left.value, right.value)], set()
    while todo:
        a, b = todo.pop()
        if not same_value(a, b):
            return False
        for _, ref in references(a):
            if ref not in seen:
                seen.add(ref)
                try:
                    todo.append((left.tree.resolve(ref).value, right.tree.resolve(ref).value))
                except UndecidableError:  # A value that only looks like a reference.
                    return False
    return True
