"""Comparison of two JSON parameter schemas by the requests that they accept.

`compare_schemas` is the entry. It is sound: a change is `safe` only if that was proved, `breaking` only with a request
that jsonschema-rs confirms, and else `risky`. Other differences refuse nothing: properties no longer described,
defaults, wording, and keywords that allow more.
"""

import marshal
from dataclasses import replace
from functools import lru_cache

from osbctl.jsonschemas.dialects import UndecidableError, detect_dialect
from osbctl.jsonschemas.schema_change import FORMAT, UNDECIDED, SchemaChange, SchemaLevel
from osbctl.paths import JsonValue, same_value

MAX_CHANGES = 200
"""Changes reported of one pair of schemas; the rest is one line."""


def compare_schemas(old: JsonValue, new: JsonValue) -> list[SchemaChange]:
    """Compare two versions of a plan's `parameters` schema by the requests that they accept.

    Both are JSON Schemas (draft-04 to 2020-12, see `detect_dialect`), `True`, `False`, or None for no schema; `{}`
    counts as none. A request is any JSON *object*; other types that a schema accepts at its top do not
    matter. Formats are annotations to JSON Schema: they matter to the rule `schema-format-changed` alone.

    No schema makes this raise: a broken schema, one with references to elsewhere or in a loop, or one that is too large
    is `risky`, unless only annotations differ, and the message says why. Equal schemas give no change. The result
    depends on the two schemas alone.
    """
    before, after = (None if schema is True or schema == {} else schema for schema in (old, new))
    if same_value(before, after):
        return []
    if after is None:
        return [SchemaChange("safe", "schema-removed", (), None, "the schema was removed; anything is accepted")]
    try:
        changes = list(_compare_marshalled(marshal.dumps((True if before is None else before, after), 2)))
    except (RecursionError, ValueError):  # Depends on the caller's stack depth; do not cache.
        changes = [_undecided_change("they are nested too deeply")]
    return _summarize_added_schema(changes) if before is None else changes


def _summarize_added_schema(changes: list[SchemaChange]) -> list[SchemaChange]:
    """The one change that stands for all; safe if there are none."""
    for change in changes:
        if change.witness is not None and change.rule != FORMAT:  # a format is not enforced everywhere
            message = "a schema was added where none was; it refuses what was accepted"
            return [replace(change, level="breaking", rule="schema-added", old_path=None, message=message)]
    if all(change.level == "safe" for change in changes):
        return [SchemaChange("safe", "schema-added", None, (), "a schema was added; it refuses nothing")]
    message = "a schema was added where none was; whether it refuses anything cannot be decided"
    return [SchemaChange("risky", "schema-added", None, (), message)]


@lru_cache(maxsize=1_000)  # plans often share a schema
def _compare_marshalled(schemas: bytes) -> tuple[SchemaChange, ...]:
    from osbctl.jsonschemas.schema_tree import build_valid_tree

    pair = marshal.loads(schemas)  # noqa: S302 - our own bytes
    is_named = any(not isinstance(schema, dict) or "$schema" in schema for schema in pair)
    # If neither names a draft, and one is read as draft-07, so is the other.
    shared = None if is_named else max(map(detect_dialect, pair), key=lambda dialect: dialect.year)
    trees = []
    for side, schema in zip(("old", "new"), pair, strict=True):
        try:
            trees.append(build_valid_tree(schema, shared))
        except UndecidableError as error:
            return (_undecided_change(f"the {side} schema {error}"),)
    from osbctl.jsonschemas.differences import find_changes  # it loads much, and only valid schemas need it

    try:
        changes = find_changes(*trees)
    except UndecidableError as error:
        return (_undecided_change(str(error)),)
    message = "written differently; refuses nothing that was accepted"
    return tuple(_limit_changes(changes)) or (SchemaChange("safe", "schema-wording", (), (), message),)


def _limit_changes(changes: list[SchemaChange]) -> list[SchemaChange]:
    """The worst changes, and one that stands for the rest at its own worst level."""
    ranked = sorted(changes, key=lambda change: ("breaking", "risky", "safe").index(change.level))
    kept, rest = ranked[:MAX_CHANGES], ranked[MAX_CHANGES:]
    if not rest:
        return changes
    level: SchemaLevel = "safe" if rest[0].level == "safe" else "risky"
    rule = "schema-relaxed" if level == "safe" else UNDECIDED
    return [*kept, SchemaChange(level, rule, (), (), f"and {len(rest)} more differences", (f"{len(rest)} more",))]


def _undecided_change(reason: str) -> SchemaChange:
    return SchemaChange("risky", UNDECIDED, (), (), f"the schemas differ, but cannot be compared: {reason}")
