"""Contradictions within one schema: unsatisfiable subschemas, and invalid defaults and examples.

Sound, not complete. Only the bounded validator runs patterns, formats are annotations, and schemas that the comparison
cannot read (references elsewhere, loops, unknown drafts) have no result.
"""

from collections.abc import Iterator

from osbctl.jsonschemas.bounded_validator import BoundedValidator, checked_tree
from osbctl.jsonschemas.comparison.subsumption import Subsumption
from osbctl.jsonschemas.constraints import COUNTED, NUMBERS, OBJECT, Constraints
from osbctl.jsonschemas.schema_tree import SchemaTree, Subschema, below
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonValue, Path
from osbctl.text import escape_line

_CONDITIONAL = frozenset(("not", "if", "then", "else", "dependencies", "dependentSchemas"))
"""Keywords whose subschemas may be unsatisfiable on purpose."""

_STEPS, _JUDGEMENTS, _MAX_NESTING = 5_000, 2_000, 20
"""The budget for one schema, a tenth of a second; and the maximum nesting of constraints."""


def impossible(schema: JsonValue) -> Iterator[tuple[Path, str]]:
    """The innermost unsatisfiable subschemas, and why; never raises.

    The whole schema describes the `parameters` object (OSB 2.17, Input Parameters Schema Object). A bare `false`
    or `not` is intended, and reported only if it contradicts another keyword.
    """
    tree = _tree(schema)
    if not tree:
        return
    contradictions = _Contradictions()
    found: list[tuple[Path, str]] = []
    todo = [(tree.top, Constraints(within=OBJECT).and_also(tree.top))]
    while todo:
        node, constraints = todo.pop()
        if not _is_bare(node) and (why := contradictions.reason(constraints)):
            found.append((node.pointer, why))
        todo += [(inner, Constraints().and_also(inner)) for inner in _unconditional(node)]
    around = {path[:length] for path, _ in found for length in range(len(path))}
    yield from (one for one in found if one[0] not in around)


def _is_bare(node: Subschema) -> bool:
    """Return whether the schema has only `not`: then it is unsatisfiable on purpose."""
    return not isinstance(node.value, dict) or not node.value.keys() & node.tree.dialect.keywords - {"not"}


def _unconditional(node: Subschema) -> Iterator[Subschema]:
    read = node.tree.dialect.keywords - _CONDITIONAL | {"definitions" if node.tree.dialect.year < 2019 else "$defs"}
    return (inner for keyword, inner in below(node) if keyword in read)


class _Contradictions:
    """A search for reasons why no value meets some constraints, within the budget of one schema."""

    def __init__(self) -> None:
        self._subsumption = Subsumption(BoundedValidator(_JUDGEMENTS), _STEPS)
        self._known: dict[object, str] = {}

    def reason(self, constraints: Constraints) -> str:
        """The reason why no value, or no value of one kind, is possible; empty without proof."""
        try:
            why = self._reason(constraints, 0)
        except (UndecidableError, RecursionError):
            why = ""
        return why or next(filter(None, (_crossed_limits(kind, constraints) for kind in _kinds(constraints))), "")

    def _reason(self, constraints: Constraints, depth: int) -> str:
        if constraints.key not in self._known:
            self._known[constraints.key] = ""  # for constraints within themselves
            self._subsumption.spend(constraints)
            reasons = self._reasons(constraints, depth + 1) if depth <= _MAX_NESTING else iter(())
            self._known[constraints.key] = next(filter(None, reasons), "")
        return self._known[constraints.key]

    def _reasons(self, constraints: Constraints, depth: int) -> Iterator[str]:
        if not constraints.kinds:
            is_request = constraints.within == OBJECT
            yield "it takes no object, and parameters are one" if is_request else "its types rule each other out"
            return
        values = self._subsumption.valid_values(constraints)
        if values is not None and not any(isinstance(v, dict) or constraints.within != OBJECT for v in values):
            yield "none of the listed values meets the rest"
        of_kinds = [self._why_not_of_kind(kind, constraints, depth) for kind in _kinds(constraints)]
        yield of_kinds[0] if all(of_kinds) else ""
        for schema in constraints.known:
            yield from self._of_combinations(schema, constraints, depth)

    def _of_combinations(self, schema: Subschema, constraints: Constraints, depth: int) -> Iterator[str]:
        refused = schema.optional("not")
        if refused and self._subsumption.implies(constraints, refused):
            yield "its `not` refuses all that the rest accepts"
        for keyword in ("anyOf", "oneOf"):
            branches = schema.children(keyword)
            if branches and all(self._reason(constraints.and_also(branch), depth) for branch in branches):
                yield f"no branch of its {keyword} agrees with the rest"

    def _why_not_of_kind(self, kind: str, constraints: Constraints, depth: int) -> str:
        crossed = _crossed_limits(kind, constraints)
        if crossed or kind not in ("object", "array"):
            return crossed
        if kind == "object":
            reasons = (self._of_property(name, constraints, depth) for name in sorted(constraints.required()))
            return next(filter(None, reasons), "")
        is_item_needed = constraints.counts(kind)[0] > 0
        return "its items cannot be" if is_item_needed and self._reason(constraints.at_item(), depth) else ""

    def _of_property(self, name: str, constraints: Constraints, depth: int) -> str:
        inner = constraints.at_key(name)
        why = self._reason(inner, depth)
        if any(schema.value is False for schema in inner.known):
            return f"it requires {escape_line(name)!r}, which it forbids"
        return why and f"it requires {escape_line(name)!r}, where {why}"


def _kinds(constraints: Constraints) -> list[str]:
    """The possible kinds of a value, all numbers as one."""
    return sorted({"number" if kind in NUMBERS else kind for kind in constraints.kinds})


def _crossed_limits(kind: str, constraints: Constraints) -> str:
    """The limits of a kind with nothing between them, as a text; empty if there may be a value."""
    if kind == "number":
        low, above = constraints.bound("minimum", constraints.kinds)
        high, under = constraints.bound("maximum", constraints.kinds)
        named = constraints.bound("minimum", NUMBERS)[0], -constraints.bound("maximum", NUMBERS)[0]
        is_empty = low > -high or (low == -high and (above or under))
        return "no number lies between {} and {}".format(*named) if is_empty else ""
    least, most = constraints.counts(kind) if kind in COUNTED else (0, 0)
    return f"min{COUNTED[kind]} is {least}, max{COUNTED[kind]} {most}" if least > most else ""


def refused_values(schema: JsonValue) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The defaults and examples that their own schema refuses, with the keywords; never raises."""
    tree = _tree(schema)
    validator = BoundedValidator(_JUDGEMENTS)
    for node in tree.nodes.values() if tree else ():
        for at, value in _written(node.value):
            if all(validator.accepts(node, value, formats) is False for formats in (False, True)):
                yield (*node.pointer, *at), tuple(sorted(validator.objections(node, value) or ()))


def _written(schema: JsonValue) -> Iterator[tuple[Path, JsonValue]]:
    if isinstance(schema, dict):
        yield from (((key,), schema[key]) for key in ("default", "example") if key in schema)
        examples = schema.get("examples")
        yield from ((("examples", n), value) for n, value in enumerate(examples if isinstance(examples, list) else ()))


def _tree(schema: JsonValue) -> SchemaTree | None:
    try:
        return checked_tree(schema)
    except UndecidableError:
        return None
