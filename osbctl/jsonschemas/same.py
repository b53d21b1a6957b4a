"""Whether two schemas say the same because they are written the same."""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING

from osbctl.jsonschemas.mentions import references
from osbctl.jsonschemas.undecidable import UndecidableError

if TYPE_CHECKING:
    from osbctl.jsonschemas.roots import Subschema
    from osbctl.paths import JsonValue


def same_value(left: JsonValue, right: JsonValue) -> bool:
    """Whether two JSON values are equal; `true` is not 1 here, though Python takes it so.

    Without recursion: the values may be nested as deep as the reader of the document allows.
    """
    try:
        if left != right:
            return False  # The quick answer; what is left is true against 1.
        if marshal.dumps(left, 2) == marshal.dumps(right, 2):
            return True  # Alike to the byte, types and all: what most values are that are equal.
    except (RecursionError, ValueError):
        pass
    todo = [(left, right)]
    while todo:
        a, b = todo.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            todo.extend((value, b[key]) for key, value in a.items())
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            todo.extend(zip(a, b, strict=True))
        elif a != b or isinstance(a, bool) != isinstance(b, bool):
            return False
    return True


def same_schema(left: Subschema, right: Subschema) -> bool:
    """Whether both are written the same, under one draft, and so is all that they refer to."""
    todo, seen = [(left, right)], set()
    while todo:
        a, b = todo.pop()
        if a.root.dialect != b.root.dialect or not same_value(a.value, b.value):
            return False
        for _, ref in references(a.value):
            if ref not in seen:
                seen.add(ref)
                try:
                    todo.append((a.root.resolve(ref), b.root.resolve(ref)))
                except UndecidableError:  # A value that only looks like a reference.
                    return False
    return True


def same_keywords(left: Subschema, right: Subschema, keywords: tuple[str, ...]) -> bool:
    """Whether both schemas hold these keywords, which must hold schemas or plain values, alike."""
    for keyword in keywords:
        if (left.get(keyword) is None) != (right.get(keyword) is None):
            return False
        if left.get(keyword) is not None and not same_schema(left.child(keyword), right.child(keyword)):
            return False
    return True
