"""Comparison of two JSON parameter schemas by the requests that they accept.

`compare_schemas` is the entry. It is sound: a change is `safe` only if that was proved, `breaking` only with a request
that jsonschema-rs confirms, and else `risky`.
"""

from __future__ import annotations

from osbctl.jsonschemas.comparison.changes import SchemaChange, SchemaLevel
from osbctl.jsonschemas.walk import same_value
from osbctl.paths import JsonValue

__all__ = ["SchemaChange", "SchemaLevel", "compare_schemas"]


def compare_schemas(old: JsonValue, new: JsonValue) -> list[SchemaChange]:
    """Compare two versions of a plan's `parameters` schema by the requests that they accept.

    Both are JSON Schemas (draft-04 to 2020-12; `$schema` decides, see `dialect_of`), `True`, `False`, or None for no
    schema; `{}` counts as none. A request is any JSON *object*; other types that a schema accepts at its top do not
    matter. Formats are annotations to JSON Schema: they matter to the rule `schema-format-changed` alone.

    No schema makes this raise: a broken schema, one with references to elsewhere or in a loop, or one that is too large
    is `risky`, and the message says why. Equal schemas give no change. The result depends on the two schemas alone.
    """
    before, after = (None if schema is True or schema == {} else schema for schema in (old, new))
    if same_value(before, after):
        return []
    if after is None:
        return [SchemaChange("safe", "schema-removed", (), None, "the schema was removed; anything is accepted")]
    # It takes a while to load; most pairs of schemas are equal.
    from osbctl.jsonschemas.comparison.compare import compare, compare_added

    return compare_added(after) if before is None else compare(before, after)
