"""Differences in what a schema says without refusing anything: defaults and wording."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from osbctl.jsonschemas.comparison.changes import ABSENT, SchemaChange
from osbctl.jsonschemas.comparison.secrets import Secrets
from osbctl.jsonschemas.comparison.wording import cut, default_changed
from osbctl.jsonschemas.constraints import Constraints
from osbctl.jsonschemas.equality import same_value
from osbctl.jsonschemas.schema_tree import STRUCTURE, SchemaTree, Subschema, below
from osbctl.paths import Path

_MOST_DESCRIBED = 5_000
"""Pairs of places that are looked at for what they describe."""

_OF_SAME_VALUE = ("anyOf", "oneOf", "if", "then", "else", "dependentSchemas")


def default_changes(old: SchemaTree, new: SchemaTree, secrets: Secrets) -> Iterator[SchemaChange]:
    """A default that changed: requests that leave the value out get another one. Never refuses anything."""
    for before, after in _both(old, new):
        values = [place.value.get("default", ABSENT) for place in (before, after)]
        if not same_value(*values):
            pointers = [(*before.pointer, "default") if v is not ABSENT else before.pointer for v in values]
            yield SchemaChange(
                "risky",
                "schema-default-changed",
                pointers[0],
                pointers[1],
                default_changed(before, after, secrets),
                (*before.pointer, "default"),
            )


def dropped_changes(old: SchemaTree, new: SchemaTree, reported: Collection[Path]) -> Iterator[SchemaChange]:
    """Properties that are no longer described, though requests may still contain them: the broker may ignore them.

    Reported of the outermost only, once, and not of those in `reported`, which are named by their keys in a request.
    """
    told: set[Path] = set()
    seen: set[object] = set()  # a definition is met on many ways
    todo: list[tuple[Path, Constraints, Constraints]] = [((), _described(old.top), _described(new.top))]
    while todo and len(seen) < _MOST_DESCRIBED:
        steps, before, after = todo.pop()
        if (before.key, after.key) in seen:
            continue
        seen.add((before.key, after.key))
        kept = set(after.names())
        for name in before.names():
            inner = before.at_key(name)
            if name in kept:
                todo.append(((*steps, name), _described(*inner.known), _described(*after.at_key(name).known)))
            elif (*steps, name) not in reported:
                change = _dropped(before, after, (*steps, name))
                if change.field not in told:
                    told.add(change.field)
                    yield change
        todo.append(((*steps, 0), _described(*before.at_item().known), _described(*after.at_item().known)))


def _dropped(before: Constraints, after: Constraints, steps: Path) -> SchemaChange:
    name = cut(".".join(map(str, steps)))
    message = f'"{name}" is no longer described; requests may still hold it, but the broker may ignore it'
    place = next(
        s.child("properties", str(steps[-1])) for s in before.known if steps[-1] in (s.get("properties") or ())
    )
    pointer = after.known[0].pointer if after.known else ()
    return SchemaChange("risky", "schema-property-dropped", place.pointer, pointer, message, place.pointer)


def _described(*schemas: Subschema) -> Constraints:
    """The schemas with all that judge the same value within them: what they speak of, not what they demand."""
    found: dict[Subschema, None] = {}
    todo = list(schemas)
    while todo:
        for part in todo.pop().conjuncts:
            if part not in found:
                found[part] = None
                todo += [inner for keyword, inner in below(part) if keyword in _OF_SAME_VALUE]
    return Constraints(tuple(found))


def wording_changes(old: SchemaTree, new: SchemaTree) -> list[SchemaChange]:
    """One change at most, for all titles, descriptions and other annotations together."""
    found = [path for pair in _both(old, new) for path in _reworded(*pair)]
    if not found:
        return []
    first = found[0]
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    message = f"wording changed ({cut(str(first[-1]))}{more}); that refuses nothing"
    return [SchemaChange("safe", "schema-wording", first[:-1], first[:-1], message, first[:-1])]


def _reworded(before: Subschema, after: Subschema) -> Iterator[Path]:
    asserted = before.tree.dialect.keywords | after.tree.dialect.keywords
    for keyword in sorted((before.value.keys() | after.value.keys()) - asserted - STRUCTURE):
        if not same_value(before.value.get(keyword, ABSENT), after.value.get(keyword, ABSENT)):
            yield (*before.pointer, keyword)


def _both(old: SchemaTree, new: SchemaTree) -> Iterator[tuple[Subschema, Subschema]]:
    """The places that both schemas have under the same pointer."""
    for pointer, before in old.nodes.items():
        after = new.nodes.get(pointer)
        if after is not None and isinstance(before.value, dict) and isinstance(after.value, dict):
            yield before, after
