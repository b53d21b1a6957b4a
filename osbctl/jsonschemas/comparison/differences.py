"""Differences that refuse nothing: properties no longer described, defaults, wording, and keywords that allow more."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from osbctl.jsonschemas.comparison.changes import SchemaChange, SchemaLevel
from osbctl.jsonschemas.comparison.keywords import keywords_together
from osbctl.jsonschemas.comparison.secrets import Secrets
from osbctl.jsonschemas.comparison.wording import ABSENT, both_values, cut, subject
from osbctl.jsonschemas.constraints import Constraints
from osbctl.jsonschemas.schema_tree import STRUCTURE, SchemaTree, Subschema, below
from osbctl.jsonschemas.walk import BY_NAME, same_value
from osbctl.paths import Path

_MAX_PAIRS = 5_000
"""Pairs of places that are looked at for what they describe."""

_OF_SAME_VALUE = ("anyOf", "oneOf", "if", "then", "else", "dependentSchemas")
_DEFINITIONS = ("definitions", "$defs")
_UNTOLD = frozenset((*_DEFINITIONS, "$schema", "$id", "id"))


def dropped_properties(old: SchemaTree, new: SchemaTree, reported: Collection[Path]) -> Iterator[SchemaChange]:
    """Properties that are no longer described, though requests may still contain them: the broker may ignore them.

    Reports the outermost only, once for each place of the schema, and none of `reported`, which are paths in a request.
    """
    told: set[Path] = set()
    seen: set[object] = set()  # many ways may lead to a definition
    todo: list[tuple[Path, Constraints, Constraints]] = [((), _described(old.top), _described(new.top))]
    while todo and len(seen) < _MAX_PAIRS:
        path, before, after = todo.pop()
        if (before.key, after.key) in seen:
            continue
        seen.add((before.key, after.key))
        described = set(after.names())
        for name in before.names():
            inner = (*path, name)
            if name in described:
                todo.append((inner, _described(*before.at_key(name).known), _described(*after.at_key(name).known)))
                continue
            change = _dropped(before, after, inner)
            if inner not in reported and change.field not in told:
                told.add(change.field)
                yield change
        todo.append(((*path, 0), _described(*before.at_item().known), _described(*after.at_item().known)))


def _dropped(before: Constraints, after: Constraints, path: Path) -> SchemaChange:
    around = next(schema for schema in before.known if path[-1] in (schema.get("properties") or ()))
    place = (*around.pointer, "properties", path[-1])
    message = (
        f'"{cut(".".join(map(str, path)))}" is no longer described;'
        " requests may still hold it, but the broker may ignore it"
    )
    pointer = after.known[0].pointer if after.known else ()
    return SchemaChange("risky", "schema-property-dropped", place, pointer, message, place)


def _described(*schemas: Subschema) -> Constraints:
    """The schemas and all within them that judge the same value: what they speak of, not what they demand."""
    found: dict[Subschema, None] = {}
    todo = list(schemas)
    while todo:
        for part in todo.pop().conjuncts:
            if part not in found:
                found[part] = None
                todo += [inner for keyword, inner in below(part) if keyword in _OF_SAME_VALUE]
    return Constraints(tuple(found))


def plain_differences(
    old: SchemaTree, new: SchemaTree, reported: Collection[Path], secrets: Secrets
) -> Iterator[SchemaChange]:
    """The keywords that differ under the same pointer: defaults, keywords that allow more, one change for all wording.

    Skips an assertion at, above or below a reported pointer, and all definitions if anything is reported.
    """
    reworded: list[Path] = []
    told = _Reported(reported)
    for before, after, keyword in _differing(old, new):
        where = (*before.pointer, keyword)
        if keyword == "default":
            yield _changed("risky", "schema-default-changed", before, after, keyword, secrets)
        elif keyword and keyword not in before.tree.dialect.keywords | after.tree.dialect.keywords | STRUCTURE:
            reworded.append(where)
        elif not told.covers(before.pointer, keyword):
            yield _changed("safe", "schema-relaxed", before, after, keyword, secrets)
    if reworded:
        *place, first = reworded[0]
        more = f", and {len(reworded) - 1} more" if len(reworded) > 1 else ""
        message = f"wording changed ({cut(str(first))}{more}); that refuses nothing"
        yield SchemaChange("safe", "schema-wording", tuple(place), tuple(place), message, tuple(place))


class _Reported:
    """The pointers of reported changes."""

    def __init__(self, pointers: Collection[Path]) -> None:
        self._pointers = frozenset(pointers)
        self._around = {pointer[:length] for pointer in pointers for length in range(len(pointer) + 1)}

    def covers(self, pointer: Path, keyword: str) -> bool:
        """Return whether a change is reported at, above or below the keyword, or one that works together with it."""
        if self._pointers and any(step in _DEFINITIONS for step in pointer):
            return True
        related = [(*pointer, word) for word in keywords_together(keyword)] if keyword else [pointer]
        return any(
            place in self._around or any(place[:length] in self._pointers for length in range(len(place)))
            for place in related
        )


def _differing(old: SchemaTree, new: SchemaTree) -> Iterator[tuple[Subschema, Subschema, str]]:
    """The places that both schemas have, with each keyword that differs, and not only in schemas within.

    The keyword is empty if one of the schemas is `true` or `false`.
    """
    for pointer, before in old.nodes.items():
        after = new.nodes.get(pointer)
        if after is None or same_value(before.value, after.value):
            continue
        if not isinstance(before.value, dict) or not isinstance(after.value, dict):
            yield before, after, ""
            continue
        for keyword in sorted((before.value.keys() | after.value.keys()) - _UNTOLD):
            if _differs(before, after, keyword):
                yield before, after, keyword


def _differs(before: Subschema, after: Subschema, keyword: str) -> bool:
    """Return whether a keyword differs, and not only in schemas that both places hold under it."""
    values = (node.value.get(keyword, ABSENT) for node in (before, after))
    parts = [{part.pointer for word, part in below(node) if word == keyword} for node in (before, after)]
    return not same_value(*values) and not (parts[0] and parts[0] == parts[1])


def _changed(
    level: SchemaLevel, rule: str, before: Subschema, after: Subschema, keyword: str, secrets: Secrets
) -> SchemaChange:
    values = [node.value.get(keyword, ABSENT) if keyword else node.value for node in (before, after)]
    path = before.pointer
    where = (*path, keyword) if keyword else path
    if keyword in BY_NAME:
        values = [value if value is ABSENT else list(value) for value in values]
    named = subject(_names(path))
    shown = both_values(values, secrets, hidden=secrets.at(before, after))
    message = f"{named}: {keyword or cut(str(path[-1] if path else 'schema'))} changed{shown}; that refuses nothing"
    if keyword == "default":
        message = f"the default of {named} changed{shown}"
    pointers = [path if value is ABSENT else where for value in values]
    return SchemaChange(level, rule, pointers[0], pointers[1], message, where)


def _names(pointer: Path) -> list[str]:
    """The properties that a pointer leads through."""
    return [str(step) for keyword, step in pairwise(pointer) if keyword == "properties"]
