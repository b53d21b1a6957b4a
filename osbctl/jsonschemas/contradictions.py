"""Contradictions within one schema: places that no value can meet, defaults and examples that are refused.

Sound, not complete. Patterns are run by the bounded validator alone, formats are annotations, and what the schema
comparison cannot read (references elsewhere, loops, unknown drafts) gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from osbctl.jsonschemas.bounded_validator import BoundedValidator, checked_tree
from osbctl.jsonschemas.comparison.keywords import CHECKS
from osbctl.jsonschemas.comparison.subsumption import Subsumption
from osbctl.jsonschemas.constraints import OBJECT, Constraints
from osbctl.jsonschemas.schema_tree import SchemaTree, below
from osbctl.jsonschemas.unsatisfiable import Unsatisfiable, crossed_limits, kinds_to_name
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue, Path

_CONDITIONAL = frozenset(("not", "if", "then", "else", "dependencies", "dependentSchemas"))
"""Keywords whose subschemas may be unsatisfiable on purpose."""

_STEPS, _JUDGEMENTS = 5_000, 2_000
"""The budget for one schema: a tenth of a second."""


def impossible(schema: JsonValue) -> Iterator[tuple[Path, str]]:
    """The innermost places that no value can meet, and why; never raises.

    The whole schema describes the `parameters` object (OSB 2.17, Input Parameters Schema Object). A bare `false`
    or `not` is meant, and reported only where it stands against another keyword.
    """
    tree = _tree(schema)
    if not tree:
        return
    keywords = tree.dialect.keywords
    read = keywords - _CONDITIONAL | {"definitions" if tree.dialect.year < 2019 else "$defs"}
    subsumption = Subsumption(BoundedValidator(_JUDGEMENTS), CHECKS, _STEPS)
    todo = [(tree.top, Constraints(within=OBJECT).and_also(tree.top))]
    found: list[tuple[Path, str]] = []
    while todo:
        node, constraints = todo.pop()
        why = _reason(subsumption, constraints)
        is_meant = not isinstance(node.value, dict) or not node.value.keys() & keywords - {"not"}
        if why and not is_meant:
            found.append((node.pointer, why))
        todo += [(inner, Constraints().and_also(inner)) for keyword, inner in below(node) if keyword in read]
    around = {path[:length] for path, _ in found for length in range(len(path))}
    yield from (one for one in found if one[0] not in around)


def _reason(subsumption: Subsumption, constraints: Constraints) -> str:
    """The reason why no value is possible, or why none of some kind is."""
    try:
        why = Unsatisfiable(subsumption).reason(constraints)
    except (UndecidableError, RecursionError):
        why = ""
    return why or next(filter(None, (crossed_limits(kind, constraints) for kind in kinds_to_name(constraints))), "")


def refused_values(schema: JsonValue) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The defaults and examples that their own schema refuses, and the keywords that refuse them; never raises."""
    tree = _tree(schema)
    validator = BoundedValidator(_JUDGEMENTS)
    for node in tree.nodes.values() if tree else ():
        for at, value in _written(node.value):
            if all(validator.accepts(node, value, formats) is False for formats in (False, True)):
                yield (*node.pointer, *at), tuple(sorted(validator.objections(node, value) or ()))


def _written(schema: JsonValue) -> Iterator[tuple[Path, JsonValue]]:
    """The values that an author wrote down as good ones."""
    if isinstance(schema, dict):
        yield from (((key,), schema[key]) for key in ("default", "example") if key in schema)
        examples = schema.get("examples")
        yield from ((("examples", n), value) for n, value in enumerate(examples if isinstance(examples, list) else ()))


def _tree(schema: JsonValue) -> SchemaTree | None:
    try:
        return checked_tree("new", schema)
    except UndecidableError:
        return None
