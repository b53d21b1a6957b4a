"""Each keyword at its boundary: one step inside is safe, one step outside is breaking, and a request shows it.

Every row was written against a change of the code that turned a `breaking` into a `safe`: keep both rows of a pair.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from osbctl.jsonschemas.compare import compare_schemas
from osbctl.jsonschemas.dialects import UndecidableError
from osbctl.jsonschemas.schema_tree import BoundedValidator
from osbctl.jsonschemas.subsumption import Subsumption

from .strategies import DRAFT_4, DRAFT_6, DRAFT_7
from .test_table import DRAFT_2019, DRAFT_2020, confirm, size, top

S, I, N, O, A = ({"type": kind} for kind in ("string", "integer", "number", "object", "array"))  # noqa: E741
EQUAL_ALONE = {"propertyNames", "dependencies"}
"""Keywords that only equal ones imply, and for which no request is made up; so are lists of `items`."""
T, F, U = True, False, None
"""Safe; breaking; undecided, so risky."""
AB = {"properties": {"a": {}, "b": {}}}


def row(old: dict[str, Any], new: Any, safe: bool | None, draft: str = DRAFT_7) -> Any:
    """A property that `old` describes, as `new` describes it now."""
    # The limit at the top goes: two schemas that are written alike are not compared at all.
    return {**size(old, draft), "maxProperties": 99}, size(new, draft), safe


def pair(old: dict[str, Any], inside: dict[str, Any], outside: dict[str, Any]) -> list[Any]:
    return [row(old, inside, T), row(old, outside, F)]


NUMBERS = [
    *pair({**N, "minimum": 5}, {**N, "minimum": 5}, {**N, "minimum": 5.5}),
    *pair({**N, "minimum": 5}, {**N, "exclusiveMinimum": 4}, {**N, "exclusiveMinimum": 5}),
    *pair({**N, "exclusiveMinimum": 5}, {**N, "minimum": 5}, {**N, "minimum": 6}),
    *pair({**N, "exclusiveMinimum": 5}, {**N, "exclusiveMinimum": 5}, {**N, "exclusiveMinimum": 5.5}),
    *pair({**N, "maximum": 5}, {**N, "maximum": 5}, {**N, "maximum": 4.5}),
    *pair({**N, "maximum": 5}, {**N, "exclusiveMaximum": 6}, {**N, "exclusiveMaximum": 5}),
    *pair({**N, "exclusiveMaximum": 5}, {**N, "maximum": 5}, {**N, "maximum": 4}),
    *pair({**N, "exclusiveMaximum": 5}, {**N, "exclusiveMaximum": 5}, {**N, "exclusiveMaximum": 4.5}),
    *pair({**I, "exclusiveMinimum": 5}, {**I, "minimum": 6}, {**I, "minimum": 7}),
    *pair({**I, "exclusiveMaximum": 5}, {**I, "maximum": 4}, {**I, "maximum": 3}),
    *pair({**I, "minimum": 5}, {**I, "exclusiveMinimum": 4}, {**I, "exclusiveMinimum": 5}),
    *pair({**I, "maximum": 5}, {**I, "exclusiveMaximum": 6}, {**I, "exclusiveMaximum": 5}),
    *pair({**I, "minimum": 4.5}, {**I, "minimum": 5}, {**I, "minimum": 6}),
    *pair({**I, "minimum": 4.5}, {**I, "exclusiveMinimum": 4}, {**I, "exclusiveMinimum": 5}),
    *pair({**I, "exclusiveMinimum": 4.5}, {**I, "minimum": 5}, {**I, "minimum": 5.5}),
    *pair({**I, "maximum": 5.5}, {**I, "maximum": 5}, {**I, "maximum": 4}),
    row({**N, "exclusiveMinimum": 5}, {**N, "minimum": 5.5}, U),
    row({**N, "minimum": 4.5}, {**N, "minimum": 5}, F),
    row(N, {**N, "minimum": 0}, F),
    row(N, {**N, "maximum": 0}, F),
    row(N, {**N, "exclusiveMinimum": 0}, F),
    row(N, {**N, "exclusiveMaximum": 0}, F),
    row({"minimum": 1}, {**N, "minimum": 1}, F),
    row({}, {"minimum": 1}, F),
    row(S, {**S, "minimum": 1}, T),
    row({**N, "minimum": 1, "exclusiveMinimum": 3}, {**N, "exclusiveMinimum": 3}, T),
    row({**N, "minimum": 3, "exclusiveMinimum": 1}, {**N, "minimum": 3}, T),
    row({**N, "minimum": 1, "exclusiveMinimum": 3}, {**N, "minimum": 4}, F),
    row({**N, "maximum": 3, "exclusiveMaximum": 5}, {**N, "maximum": 3}, T),
    row({**N, "maximum": 5, "exclusiveMaximum": 3}, {**N, "exclusiveMaximum": 3}, T),
    row({**N, "minimum": 1, "maximum": 9}, {**N, "minimum": 1, "maximum": 8}, F),
    row({**N, "minimum": 1, "maximum": 9}, {**N, "minimum": 2, "maximum": 9}, F),
    row({"allOf": [{**N, "minimum": 5}, {"minimum": 3}]}, {**N, "minimum": 5}, T),
    row({"allOf": [{**N, "minimum": 3}, {"minimum": 1}]}, {**N, "minimum": 4}, F),
    row({**N, "minimum": 5, "exclusiveMinimum": T}, {**N, "minimum": 5}, T, DRAFT_4),
    row({**N, "minimum": 5, "exclusiveMinimum": T}, {**N, "minimum": 6, "exclusiveMinimum": F}, F, DRAFT_4),
    row({**N, "minimum": 5}, {**N, "minimum": 5, "exclusiveMinimum": T}, F, DRAFT_4),
    row({**N, "minimum": 5, "exclusiveMinimum": F}, {**N, "minimum": 5, "exclusiveMinimum": T}, F, DRAFT_4),
    row({**N, "maximum": 5}, {**N, "maximum": 5, "exclusiveMaximum": T}, F, DRAFT_4),
    row({**N, "maximum": 5, "exclusiveMaximum": T}, {**N, "maximum": 5, "exclusiveMaximum": F}, T, DRAFT_4),
    row({**I, "minimum": 5, "exclusiveMinimum": T}, {**I, "minimum": 6}, T, DRAFT_4),
    row({**I, "multipleOf": 6}, {**I, "multipleOf": 3}, U),
    row({**I, "multipleOf": 6}, {**I, "multipleOf": 4}, F),
    row({**I, "multipleOf": 3}, {**I, "multipleOf": 6}, F),
    row({**I, "multipleOf": 3}, {**I, "multipleOf": 3}, T),
    row(I, {**I, "multipleOf": 1}, U),
    row(I, {**I, "multipleOf": 2}, F),
    row(N, {**N, "multipleOf": 1}, F),
    row(N, {**N, "multipleOf": 0.5}, U),
    row({**N, "multipleOf": 0.5}, {**N, "multipleOf": 0.5, "minimum": -1}, F),
    row({}, {"multipleOf": 2}, F),
    row(S, {**S, "multipleOf": 2}, T),
]
TEXTS = [
    *pair({**S, "minLength": 3}, {**S, "minLength": 3}, {**S, "minLength": 4}),
    *pair({**S, "maxLength": 3}, {**S, "maxLength": 3}, {**S, "maxLength": 2}),
    row({**S, "maxLength": 0}, {**S, "maxLength": 0, "minLength": 0}, T),
    row(S, {**S, "minLength": 1}, F),
    row(S, {**S, "maxLength": 99}, F),
    row(S, {**S, "minLength": 0}, T),
    row({}, {"minLength": 1}, F),
    row({}, {"maxLength": 1}, F),
    row(I, {**I, "maxLength": 1}, T),
    row({"allOf": [{**S, "minLength": 2}, {"minLength": 5}]}, {**S, "minLength": 5}, T),
    row({"allOf": [{**S, "maxLength": 9}, {"maxLength": 5}]}, {**S, "maxLength": 5}, T),
    row({"allOf": [{**S, "maxLength": 9}, {"maxLength": 5}]}, {**S, "maxLength": 4}, F),
    row({"allOf": [{**S, "minLength": 2}, {"minLength": 5}]}, {**S, "minLength": 6}, F),
    *pair({**S, "pattern": "^a"}, {**S, "pattern": "^a"}, {**S, "pattern": "^b"}),
    row(S, {**S, "pattern": "^b"}, F),
    row({}, {"pattern": "^b"}, F),
    row(I, {**I, "pattern": "^b"}, T),
    row({"allOf": [{**S, "pattern": "^a"}, {"pattern": "b$"}]}, {**S, "pattern": "b$"}, T),
    row({"allOf": [{**S, "pattern": "^a"}, {"pattern": "b$"}]}, {**S, "pattern": "^[^c]*$"}, U),
    row({**S, "pattern": "^[a-c]$"}, {**S, "pattern": "^[a-b]$"}, F),
    row(S, {**S, "pattern": ".*"}, U),
    row({**S, "pattern": "^[a-c]$"}, {**S, "pattern": "^[a-z]$"}, U),
    row({**S, "pattern": "^(a|b)$"}, {**S, "pattern": "^(a|b)$"}, T),
    row(S, {**S, "format": "date"}, F),
    row({}, {"format": "date"}, F),
    row({**S, "format": "email"}, {**S, "format": "date"}, F),
    row({**S, "format": "date"}, {**S, "format": "date"}, T),
    row({"allOf": [{**S, "format": "date"}, {"format": "email"}]}, {**S, "format": "date"}, T),
    row(I, {**I, "format": "date"}, T),
    row({"enum": ["x"], "format": "date", "maxLength": 8}, {"enum": ["x"], "format": "date", "maxLength": 9}, T),
]
KINDS = [
    *pair({"type": ["string", "null"]}, {"type": ["null", "string", "integer"]}, S),
    *pair(N, N, I),
    row(I, N, T),
    row({}, S, F),
    row({"type": ["array", "object"]}, O, F),
    row({"type": ["boolean", "null"]}, {"type": "boolean"}, F),
    row({"type": "boolean"}, {"enum": [T, F]}, U),
    row({"type": "boolean"}, {"enum": [T]}, F),
    row({"type": "null"}, {"enum": [None]}, U),
    row({"type": "null"}, {"const": F}, F),
    *pair({"enum": [1, 2]}, {"enum": [1, 2, 3]}, {"enum": [1]}),
    *pair({"enum": [1, "a"]}, I | {"type": ["integer", "string"]}, I),
    *pair({"const": 3}, {"minimum": 3}, {"minimum": 4}),
    row({"const": 3}, {"const": 4}, F),
    row({"const": 1}, {"const": T}, F),
    row({"enum": [1]}, {"enum": [1.0]}, T),
    row(S, {"enum": ["a"]}, F),
    row(S, {"const": "a"}, F),
    row({"enum": [1, 2, 3], "minimum": 2}, {"enum": [2, 3]}, T),
    row({"enum": [1, 2, 3], "minimum": 2}, {"enum": [3]}, F),
    row({"enum": ["a"]}, {"const": "b"}, T, DRAFT_4),
    row({"const": "a"}, {"enum": ["b"]}, F, DRAFT_6),
    row(S, {**S, "const": "b"}, T, DRAFT_4),
]
OBJECTS = [
    row({**O, "patternProperties": {"^a": {}}, "additionalProperties": S}, {**O, "patternProperties": {"b": S}}, U),
    row({**O, "propertyNames": {"minLength": 2}}, {**O, "propertyNames": {"type": "string", "minLength": 1}}, U),
    *pair({**O, "required": ["a"]}, {**O, "required": ["a"]}, {**O, "required": ["a", "b"]}),
    row(O, {**O, "required": ["a"]}, F),
    row({}, {"required": ["a"]}, F),
    row(S, {**S, "required": ["a"]}, T),
    row({"allOf": [{**O, "required": ["a"]}, {"required": ["b"]}]}, {**O, "required": ["a", "b"]}, T),
    *pair({**O, "minProperties": 2}, {**O, "minProperties": 2}, {**O, "minProperties": 3}),
    *pair({**O, "maxProperties": 2}, {**O, "maxProperties": 2}, {**O, "maxProperties": 1}),
    row({**O, "required": ["a", "b"]}, {**O, "minProperties": 2}, U),
    row({**O, "required": ["a", "b"]}, {**O, "minProperties": 3}, F),
    row({**O, **AB, "additionalProperties": F}, {**O, **AB, "additionalProperties": F, "maxProperties": 2}, U),
    row({**O, **AB, "additionalProperties": F}, {**O, **AB, "additionalProperties": F, "maxProperties": 1}, F),
    row({**O, **AB, "patternProperties": {"^x": {}}, "additionalProperties": F}, {**O, **AB, "patternProperties": {"^x": {}}, "additionalProperties": F, "maxProperties": 2}, F),
    row({**O, **AB, "additionalProperties": S}, {**O, **AB, "additionalProperties": S, "maxProperties": 2}, F),
    row({}, {"minProperties": 1}, F),
    row(S, {**S, "minProperties": 1}, T),
    row({**O, "properties": {"a": S}}, {**O, "properties": {"a": I}}, F),
    row({**O, "properties": {"a": S}}, {**O, "properties": {"a": {"type": ["string", "null"]}}}, T),
    row({**O, "properties": {"a": S}}, {**O, "properties": {"a": F}}, F),
    row({**O, "additionalProperties": S}, {**O, "properties": {"a": S}, "additionalProperties": S}, T),
    row({**O, "additionalProperties": S}, {**O, "properties": {"a": I}, "additionalProperties": S}, F),
    row({**O, "properties": {"a": I}, "additionalProperties": S}, {**O, "additionalProperties": S}, F),
    row({**O, "properties": {"a": S}, "additionalProperties": F}, {**O, "additionalProperties": S}, T),
    row({**O, "properties": {"a": S}}, {**O, "properties": {"a": S}, "additionalProperties": F}, F),
    row(O, {**O, "additionalProperties": S}, F),
    row({**O, "additionalProperties": S}, {**O, "additionalProperties": I}, F),
    row({**O, "patternProperties": {"^a": S}}, {**O, "patternProperties": {"^a": S}}, T),
    row({**O, "patternProperties": {"^a": S}}, {**O, "patternProperties": {"^a": I}}, F),
    row(O, {**O, "patternProperties": {"^a": I}}, U),
    row({**O, "patternProperties": {"^a": S}}, {**O, "patternProperties": {"^a": S}, "additionalProperties": F}, F),
    row({**O, "patternProperties": {"^a": S}, "additionalProperties": F}, {**O, "patternProperties": {"^a": S}, "additionalProperties": F}, T),
    row({**O, "patternProperties": {"^a": S}, "additionalProperties": F}, {**O, "additionalProperties": F}, U),
    row({**O, "patternProperties": {"^a": S}, "additionalProperties": S}, {**O, "patternProperties": {"^a": S}, "additionalProperties": {"type": ["string", "null"]}}, T),
    row({**O, "patternProperties": {"^a": S}, "additionalProperties": F}, {**O, "additionalProperties": S}, U),
    row({**O, "properties": {"ab": S}, "additionalProperties": F}, {**O, "patternProperties": {"^a": S}}, U),
    row({**O, "properties": {"ab": S}, "additionalProperties": F}, {**O, "patternProperties": {"^a": I}}, F),
    row({**O, "patternProperties": {"^a": S}}, {**O, "properties": {"ab": S}}, U),
    row({**O, "patternProperties": {"^a": S}}, {**O, "properties": {"ab": I}}, F),
    row({**O, "propertyNames": {"maxLength": 3}}, {**O, "propertyNames": {"maxLength": 3}}, T),
    row({**O, "propertyNames": {"maxLength": 3}}, {**O, "propertyNames": {"maxLength": 2}}, U),
    row(O, {**O, "propertyNames": {"maxLength": 2}}, U),
    row(S, {**S, "propertyNames": {"maxLength": 2}}, T),
    row(O, {**O, "propertyNames": {"maxLength": 2}}, T, DRAFT_4),
    row(S, {**S, "properties": {"a": I}}, T),
    row({}, {"propertyNames": {"maxLength": 2}}, U),
    row({**O, "dependencies": {"a": ["b"]}}, {**O, "dependencies": {"a": ["b"]}}, T),
    row({**O, "dependencies": {"a": ["b"]}}, {**O, "dependencies": {"a": ["b", "c"]}}, U),
    row({**O, "dependencies": {"a": ["b"]}}, {**O, "dependencies": {"a": ["b"], "c": ["d"]}}, U),
    row({**O, "required": ["b"]}, {**O, "dependencies": {"a": ["b"]}}, U),
    row({**O, "required": ["b"]}, {**O, "dependencies": {"a": ["b", "c"]}}, U),
    row(O, {**O, "dependencies": {"a": ["a"]}}, U),
    row({}, {"dependencies": {"a": ["b"]}}, U),
    row(S, {**S, "dependencies": {"a": ["b"]}}, T),
    row(O, {**O, "dependencies": {"a": {"required": ["b"]}}}, U),
    row({**O, "dependencies": {"a": {"maxProperties": 3}}}, {**O, "dependencies": {"a": {"maxProperties": 2}}}, U),
    row({**O, "dependentRequired": {"a": ["b"]}}, {**O, "dependentRequired": {"a": ["b", "c"]}}, U, DRAFT_2019),
    row({**O, "dependentRequired": {"a": ["b"]}}, {**O, "dependentRequired": {"a": ["b"]}}, T, DRAFT_2020),
    row(O, {**O, "dependentSchemas": {"a": {"required": ["b"]}}}, U, DRAFT_2020),
    row(O, {**O, "dependencies": {"a": ["b"]}}, T, DRAFT_2020),
    row({**O, "properties": {"other": {}}, "additionalProperties": S}, {**O, "properties": {"other": {}}, "additionalProperties": I}, F),
    row({**O, "patternProperties": {"": S}, "additionalProperties": S}, {**O, "patternProperties": {"": S}, "additionalProperties": I}, U),
]  # fmt: skip
ARRAYS = [
    row({**A, "allOf": [{"minItems": 1}, {"contains": S}]}, {**A, "contains": S}, T),
    *pair({**A, "minItems": 2}, {**A, "minItems": 2}, {**A, "minItems": 3}),
    *pair({**A, "maxItems": 2}, {**A, "maxItems": 2}, {**A, "maxItems": 1}),
    row(A, {**A, "minItems": 1}, F),
    row(A, {**A, "maxItems": 9}, F),
    row({}, {"minItems": 1}, F),
    row(S, {**S, "minItems": 1}, T),
    row(S, {**S, "items": I}, T),
    row({**A, "uniqueItems": T}, {**A, "uniqueItems": T}, T),
    row({**A, "uniqueItems": T, "maxItems": 8}, {**A, "uniqueItems": T, "maxItems": 9}, T),
    row({**A, "items": [S, I], "maxItems": 8}, {**A, "items": [S, I], "maxItems": 9}, T),
    row(A, {**A, "uniqueItems": T}, F),
    row({**A, "uniqueItems": F}, {**A, "uniqueItems": T}, F),
    row({**A, "uniqueItems": T}, {**A, "uniqueItems": F}, T),
    row({**A, "maxItems": 1}, {**A, "uniqueItems": T}, U),
    row({**A, "maxItems": 2}, {**A, "maxItems": 2, "uniqueItems": T}, F),
    row({**A, "items": I, "maxItems": 2}, {**A, "items": I, "maxItems": 2, "uniqueItems": T}, F),
    row({}, {"uniqueItems": T}, F),
    row(S, {**S, "uniqueItems": T}, T),
    row({**A, "items": S}, {**A, "items": {"type": ["string", "null"]}}, T),
    row({**A, "items": S}, {**A, "items": I}, F),
    row(A, {**A, "items": S}, F),
    row(A, {**A, "items": {"minLength": 1}}, F),
    row(A, {**A, "items": {"maxLength": 1}}, F),
    row({**A, "maxItems": 0}, {**A, "items": S, "maxItems": 0}, U),
    row({**A, "maxItems": 1}, {**A, "items": S, "maxItems": 1}, F),
    row({**A, "items": [S, I]}, {**A, "items": [S, I]}, T),
    row({**A, "items": [S, I]}, {**A, "items": [S, S]}, U),
    row({**A, "items": [S]}, {**A, "items": [S, S]}, U),
    row({**A, "items": [S], "additionalItems": S}, {**A, "items": S}, U),
    row({**A, "items": [S], "additionalItems": I}, {**A, "items": S}, U),
    row({**A, "items": [S]}, {**A, "items": [S], "additionalItems": F}, F),
    row({**A, "items": [S], "additionalItems": F}, {**A, "items": [S], "maxItems": 1}, U),
    row({**A, "items": [S, S], "additionalItems": F}, {**A, "items": [S, S], "maxItems": 1}, F),
    row({**A, "items": [S, S], "additionalItems": F}, {**A, "items": [S], "additionalItems": F}, F),
    row({**A, "items": [S], "additionalItems": F}, {**A, "items": [S, I]}, U),
    row({**A, "items": S}, {**A, "items": [S, I], "additionalItems": S}, F),
    row({**A, "prefixItems": [S], "items": I}, {**A, "prefixItems": [S], "items": I}, T, DRAFT_2020),
    row({**A, "prefixItems": [S], "items": I}, {**A, "prefixItems": [S, S], "items": I}, U, DRAFT_2020),
    row({**A, "prefixItems": [S], "items": F}, {**A, "maxItems": 1}, U, DRAFT_2020),
    row({**A, "prefixItems": [S, S], "items": F}, {**A, "maxItems": 1}, F, DRAFT_2020),
    row(A, {**A, "prefixItems": [S]}, U, DRAFT_2020),
    row({**A, "contains": S}, {**A, "contains": {"type": ["string", "null"]}}, U),
    row({**A, "contains": {"type": ["string", "null"]}}, {**A, "contains": S}, U),
    row(A, {**A, "contains": S}, F),
    row({}, {"contains": S}, F),
    row(S, {**S, "contains": S}, T),
    row({**A, "contains": S, "minContains": 2}, {**A, "contains": S, "minContains": 2}, T, DRAFT_2020),
    row({**A, "contains": S}, {**A, "contains": S, "minContains": 2}, F, DRAFT_2020),
    row({**A, "contains": S}, {**A, "contains": S, "maxContains": 1}, F, DRAFT_2020),
    row({**A, "contains": S, "minContains": 2}, {**A, "contains": S, "minContains": 3}, F, DRAFT_2020),
]  # fmt: skip
COMBINED = [
    row({}, {"then": {"minLength": 2}}, T),
    row({}, {"if": S, "else": {"not": S}}, U),
    row({"oneOf": [{"minimum": 1}, {"multipleOf": 2}], "maximum": 5}, {"oneOf": [{"minimum": 1}, {"multipleOf": 2}]}, T),
    row({"anyOf": [S, I]}, {"anyOf": [I, S, {"type": "null"}]}, T),
    row({"anyOf": [S, I]}, {"anyOf": [S, {"type": "null"}]}, F),
    row({"anyOf": [S, I]}, S, F),
    row(S, {"anyOf": [I, {"type": "null"}]}, F),
    row(S, {"anyOf": [I, S]}, T),
    row({"anyOf": [{"enum": [1, 2], "allOf": [{"enum": [1, "a"]}]}]}, {"enum": [1]}, T),
    row({"type": ["null", "boolean"]}, {"enum": [None, True, False]}, U),
    row({"type": ["string", "integer"]}, {"anyOf": [S, I]}, T),
    row({"type": ["string", "integer", "null"]}, {"anyOf": [S, I]}, F),
    row({"anyOf": [{**S, "maxLength": 3}, I]}, {"anyOf": [{**S, "maxLength": 3}, I]}, T),
    row({"anyOf": [{**S, "maxLength": 3}, I]}, {"anyOf": [{**S, "maxLength": 2}, I]}, F),
    row({"oneOf": [S, I]}, {"oneOf": [S, I]}, T),
    row({"oneOf": [S, I]}, {"oneOf": [S, {"type": "null"}]}, F),
    row({"oneOf": [S, I]}, {"anyOf": [S, I]}, T),
    row({"anyOf": [S, I]}, {"oneOf": [S, I]}, T),
    row({"anyOf": [S, N]}, {"oneOf": [S, N, I]}, F),
    row({"type": ["string", "integer"]}, {"oneOf": [S, I]}, T),
    row({"type": ["string", "integer"]}, {"oneOf": [S, {**S, "minLength": 0}, I]}, F),
    row(S, {"oneOf": [S, {"maxLength": 3}]}, F),
    row(S, {"oneOf": [I, {"type": "null"}]}, F),
    row(I, {"oneOf": [I, {"minimum": 5}]}, F),
    row({**I, "maximum": 4}, {"oneOf": [I, {"enum": ["x"]}]}, T),
    row({"enum": ["a", "b"]}, {"oneOf": [{"const": "a"}, {"const": "b"}]}, T),
    row({"enum": ["a", "b"]}, {"oneOf": [{"const": "a"}, {"enum": ["a", "b"]}]}, F),
    row({"not": S}, {"not": S}, T),
    row({"not": S}, {"not": I}, F),
    row({}, {"not": S}, F),
    row(I, {"not": S}, T),
    row(S, {"not": S}, F),
    row({"not": {"type": ["string", "null"]}}, {"not": S}, T),
    row({"not": S}, {"not": {"type": ["string", "null"]}}, F),
    row({"enum": [1, 2]}, {"not": {"enum": [3]}}, T),
    row({"enum": [1, 2]}, {"not": {"enum": [2]}}, F),
    row({**O, "required": ["k"], "properties": {"k": {"const": 1}}}, {"not": {"required": ["k"], "properties": {"k": {"const": 2}}}}, T),
    row({**O, "required": ["k"], "properties": {"k": {"enum": [1, 2]}}}, {"not": {"required": ["k"], "properties": {"k": {"const": 2}}}}, F),
    row({**O, "properties": {"k": {"const": 1}}}, {**O, "not": {"properties": {"k": {"const": 2}}}}, F),
    row({"if": S, "then": {"minLength": 2}}, {"if": S, "then": {"minLength": 2}}, T),
    row({"if": S, "then": {"minLength": 2}}, {"if": S, "then": {"minLength": 3}}, F),
    row({"if": S, "then": {"minLength": 2}}, {"if": S, "then": {"minLength": 2}, "else": I}, F),
    row({"if": S, "else": I}, {"if": S, "else": N}, U),
    row({"if": S, "else": N}, {"if": S, "else": I}, F),
    row({"if": S, "then": {"minLength": 2}}, {"if": I, "then": {"minimum": 2}}, F),
    row(I, {"if": S, "then": {"minLength": 2}}, U),
    row(I, {"if": S, "then": {}, "else": {"minimum": 1}}, F),
    row({}, {"if": S, "then": {"minLength": 2}}, F),
    row({"allOf": [S, {"minLength": 2}]}, {**S, "minLength": 2}, T),
    row({**S, "minLength": 2}, {"allOf": [S, {"minLength": 3}]}, F),
    row(S, {"allOf": [S, I]}, F),
    row({"allOf": [S, I]}, False, T),
    row({"anyOf": [{"const": 1}, {"const": 2}]}, {"enum": [1, 2]}, T),
    row({"anyOf": [{"const": 1}, {"const": 2}]}, {"enum": [1]}, F),
]  # fmt: skip
HEAVY = "(a{500}){500}"
"""A pattern that is never run: whether a key matches it is not known."""
COMBINED += [
    row({**O, **AB, "patternProperties": {HEAVY: S}}, {**O, "properties": {"a": S}}, U),
    row({**O, "patternProperties": {"^a": {}}, "additionalProperties": S}, {**O, "properties": {"ab": S}}, F),
    row({"anyOf": [{"enum": [1]}, I]}, {"enum": [1, 2]}, F),
    row({"type": "boolean"}, {"enum": [F]}, F),
    row({**S, "const": "a"}, {**S, "maxLength": 1}, F, DRAFT_4),
    # To show that nothing meets both, the proof comes back to what it is showing without having gone into the value.
    row({"not": {"not": I}}, {"not": {"minimum": 5}}, F),
    row({"not": {"not": S}}, {"not": {"minLength": 5}}, F),
    row(S, {**S, "not": {"enum": ["a", 5]}}, F),
    row(S, {"not": {"enum": [5, 6]}}, T),
    row({**O, "required": ["k"]}, {**O, "not": {"required": ["k"]}}, F),
    row({**I, "if": {"minimum": 10}, "then": {"multipleOf": 2}}, {**I, "if": {"minimum": 5}, "then": {"multipleOf": 2}}, F),
    row({**I, "anyOf": [{"minimum": 0}, {"maximum": 10}]}, {**I, "oneOf": [{"minimum": 0}, {"maximum": 10}]}, F),
    row({"required": ["k"], "properties": {"k": {"const": 1}}}, {"not": {"required": ["k"], "properties": {"k": {"const": 2}}}}, F),
    (size({"enum": ["a" * 2_000]}), size({**S, "pattern": "^b"}), U),  # too long for a pattern
]  # fmt: skip
OF_UNKNOWN = [
    row(A, {**A, "items": keywords}, U if keywords.keys() & EQUAL_ALONE or keywords == {"items": [S]} else F)
    for keywords in (
        *({"minimum": 1}, {"maximum": 1}, {"exclusiveMinimum": 1}, {"exclusiveMaximum": 1}, {"multipleOf": 2}),
        *({"minLength": 1}, {"maxLength": 1}, {"pattern": "^b"}, {"format": "date"}),
        *(S, {"enum": [1]}, {"const": 1}, {"not": S}, {"anyOf": [S, I]}, {"oneOf": [S, I]}, {"allOf": [S]}),
        *({"if": S, "then": {"minLength": 1}}, {"if": S, "else": I}),
        *({"required": ["a"]}, {"minProperties": 1}, {"maxProperties": 1}, {"properties": {"a": F}}),
        *({"additionalProperties": F}, {"patternProperties": {"^a": F}}, {"propertyNames": {"maxLength": 1}}),
        *({"dependencies": {"a": ["b"]}}, {"dependencies": {"a": {"required": ["b"]}}}),
        *({"minItems": 1}, {"maxItems": 1}, {"uniqueItems": T}, {"contains": S}, {"items": S}, {"items": [S]}),
    )
]
"""Nothing is known of an item: no check may take an empty list of facts for a proof."""
TREE = {"t": {"properties": {"next": {"$ref": "#/definitions/t"}}}}
WHOLE = [
    (top(properties={"a": {"$ref": "#/definitions/d"}}, definitions={"d": {**N, "minimum": 5}}), top(properties={"a": {"$ref": "#/definitions/d"}}, definitions={"d": {**N, "minimum": 6}}), F),  # behind a reference
    (top(properties={"next": {"$ref": "#"}, "v": S}), top(properties={"next": {"$ref": "#"}, "v": {**S, "maxLength": 1}}), F),  # recursive
    (top(properties={"next": {"$ref": "#"}, "v": S}), top(properties={"next": {"$ref": "#"}, "v": {"type": ["string", "null"]}}), U),  # recursive, wider
    (top(properties={"next": {"$ref": "#"}}), top(properties={"next": {"properties": {"next": {"type": "null"}}}}), F),  # recursive, cut
    (top(properties={"tree": {"$ref": "#/definitions/t"}, "v": S}, definitions=TREE), top(properties={"tree": {"$ref": "#/definitions/t"}, "v": {}}, definitions=TREE), T),  # recursive, beside the change
    (top(properties={"a": {"anyOf": [{"$ref": "#/definitions/s", "enum": ["x"]}]}}, definitions={"s": S}), top(properties={"a": {"enum": ["x"]}}, definitions={"s": S}), F),  # a list that a reference hides
    row(O, {**O, "propertyNames": F}, U),
    row(A, {**A, "contains": F}, F),
    row({"const": None}, {"const": None, "type": ["null", "string"]}, T),
    row({"type": ["null", "string"]}, {"const": None}, F),
    (top(), {"$schema": DRAFT_7, **O, "maxProperties": 0}, F),  # the whole
    (size(I, DRAFT_7), size(I, DRAFT_4), U),  # 1.0 is no integer of draft-04
    (size(I, DRAFT_4), size(I, DRAFT_7), T),  # but one of later drafts
    ({"$schema": DRAFT_7}, {"$schema": DRAFT_7, **O}, T),  # a request is an object
    ({"$schema": DRAFT_7}, {"$schema": DRAFT_7, **S}, F),  # no request is a string
]  # fmt: skip
ROWS = [*NUMBERS, *TEXTS, *KINDS, *OBJECTS, *ARRAYS, *COMBINED, *OF_UNKNOWN, *WHOLE]
TOLD_ANYWAY = ("schema-property-described", "schema-property-dropped")
"""Risky whatever the bounds are: rows that add or drop a property are about what is refused."""


def test_boundaries() -> None:
    wrong = []
    for old, new, safe in ROWS:
        changes = [change for change in compare_schemas(old, new) if change.rule not in TOLD_ANYWAY]
        levels = {change.level for change in changes}
        is_right = levels <= {"safe"} if safe else ("risky" if safe is None else "breaking") in levels
        wrong += [] if is_right else [(old, new, changes)]
        if not safe:
            for change in changes:
                if change.level == "breaking":
                    confirm(old, new, change)
    assert wrong == []


def test_the_budget_counts_the_constraints_of_each_look() -> None:
    """One step for a look, and one for each sixteen constraints; the last step may be spent."""
    constraints: Any = SimpleNamespace(known=range(17))
    once, twice = Subsumption(BoundedValidator(9)), Subsumption(BoundedValidator(9))
    once.left, twice.left = 2, 4
    once.spend_budget(constraints)
    for _ in range(2):
        twice.spend_budget(constraints)
    for comparison in (once, twice):
        with pytest.raises(UndecidableError, match=r"^the schemas are too large or too entangled to compare in full$"):
            comparison.spend_budget(constraints)


def test_a_recursion_that_is_met_again_is_undecided() -> None:
    node: Any = {"type": "object", "properties": {"next": {"$ref": "#/definitions/n"}, "a": {"type": "string"}}}
    old = {"$schema": DRAFT_7, "definitions": {"n": node}, "$ref": "#/definitions/n"}
    other = {**node, "properties": {**node["properties"], "a": {"type": ["string", "null"]}}}
    (change,) = compare_schemas(old, {**old, "definitions": {"n": other}})
    assert (change.level, change.rule) == ("risky", "schema-undecided")
    assert change.message == (
        '"next.next": the schema changed; whether it refuses requests that were valid cannot be decided'
    )


def test_the_last_of_many_values_is_tried() -> None:
    values = [*map(str, range(19)), "longer"]
    old, new = ({"type": "object", "properties": {"a": {"enum": some}}} for some in (values, values[:-1]))
    (change,) = compare_schemas(old, new)
    assert (change.level, change.witness) == ("breaking", {"a": "longer"})


def test_other_properties_are_called_so() -> None:
    old = {"$schema": DRAFT_7, "type": "object", "properties": {"a": S}, "additionalProperties": S}
    messages = [
        compare_schemas(old, {**old, "additionalProperties": rest})[0].message
        for rest in (False, {"type": "string", "maxLength": 3})
    ]
    assert messages == [
        "the parameters no longer may have other properties",
        '"*" no longer accepts "text" (maxLength: 3)',
    ]
