"""Defaults and examples in a schema that the schema itself refuses.

Sound, not complete. Only the bounded validator runs patterns, formats are annotations, and schemas that the comparison
cannot read (references elsewhere, loops, unknown drafts) have no result.
"""

from collections.abc import Iterator

from osbctl.jsonschemas.bounded_validator import BoundedValidator, build_checked_tree
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonPath, JsonValue

_JUDGEMENTS = 2_000
"""The budget for one schema, a tenth of a second."""


def find_refused_values(schema: JsonValue) -> Iterator[tuple[JsonPath, tuple[str, ...]]]:
    """The defaults and examples that their own schema refuses, with the keywords; never raises."""
    try:
        tree = build_checked_tree(schema)
    except UndecidableError:
        return
    validator = BoundedValidator(_JUDGEMENTS)
    for node in tree.nodes.values():
        for relative_path, value in _defaults_and_examples(node.value):
            if all(validator.accepts(node, value, formats) is False for formats in (False, True)):
                yield (*node.path, *relative_path), tuple(sorted(validator.refusing_keywords(node, value) or ()))


def _defaults_and_examples(schema: JsonValue) -> Iterator[tuple[JsonPath, JsonValue]]:
    if isinstance(schema, dict):
        yield from (((key,), schema[key]) for key in ("default", "example") if key in schema)
        examples = schema.get("examples")
        yield from ((("examples", n), value) for n, value in enumerate(examples if isinstance(examples, list) else ()))
