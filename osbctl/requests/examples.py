"""Example requests generated from a plan's parameter schema, and validated by it."""

from __future__ import annotations

from dataclasses import dataclass

from osbctl.jsonschemas.bounded_validator import BoundedValidator, checked_tree
from osbctl.jsonschemas.constraints import OBJECT, Constraints
from osbctl.jsonschemas.schema_tree import SchemaTree
from osbctl.jsonschemas.value_generator import ValueGenerator
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue

MAX_MADE = 2_000
"""Maximum number of generated values per example; a schema that refers to itself is infinite."""


@dataclass(frozen=True, slots=True)
class Examples:
    """The smallest and the fullest request that a schema accepts; if None, `why` gives the reason."""

    smallest: dict[str, JsonValue] | None = None
    fullest: dict[str, JsonValue] | None = None
    why: str = ""


def examples(schema: JsonValue) -> Examples:
    """Generate examples for a parameter schema (draft-04 to 2020-12; see `dialect_of`). Never raises."""
    try:
        tree = checked_tree(schema)
    except UndecidableError as error:
        return Examples(why=f"no example can be made for this schema: {error}")
    smallest = _made(tree, full=False)
    fullest = _made(tree, full=True)
    if smallest is None and fullest is None:
        return Examples(why="no request that this schema accepts was found")
    return Examples(fullest if smallest is None else smallest, smallest if fullest is None else fullest)


def _made(tree: SchemaTree, *, full: bool) -> dict[str, JsonValue] | None:
    values = ValueGenerator(BoundedValidator(), MAX_MADE, full=full, formats=True)
    found = values.valid(Constraints(within=OBJECT).and_also(tree.top))
    proved = found and isinstance(found[0], dict) and BoundedValidator().accepts(tree.top, found[0], formats=True)
    return found[0] if proved else None
