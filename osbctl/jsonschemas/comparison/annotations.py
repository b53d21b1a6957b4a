"""Differences in what a schema says without refusing anything: defaults and wording."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from osbctl.jsonschemas.comparison.changes import ABSENT, SchemaChange
from osbctl.jsonschemas.comparison.facts import items
from osbctl.jsonschemas.comparison.secrets import Secrets
from osbctl.jsonschemas.comparison.wording import cut, default_changed
from osbctl.jsonschemas.roots import BARE, Root, Subschema
from osbctl.jsonschemas.same import same_value
from osbctl.paths import Path

_MOST_DESCRIBED = 5_000
"""Schemas looked at for what they describe, each as often as it is met on another way."""


def default_changes(old: Root, new: Root, secrets: Secrets) -> Iterator[SchemaChange]:
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


def dropped_changes(old: Root, new: Root, reported: Collection[Path]) -> Iterator[SchemaChange]:
    """Properties that are no longer described, though requests may still hold them: the broker may not heed them.

    Reported of the outermost only, and not of those in `reported`, which are named by their keys in a request.
    """
    before, after = _described(old), _described(new)
    if before is None or after is None:
        return
    seen: set[Path] = set()  # a definition is met on many ways
    for steps, place in sorted(before.items(), key=lambda entry: len(entry[0])):
        dropped = steps not in after and steps not in reported and steps[:-1] in after and steps[-1] not in _OF_ALL
        if dropped and place.pointer not in seen:
            seen.add(place.pointer)
            name = cut(".".join(map(str, steps)))
            message = f'"{name}" is no longer described; requests may still hold it, but the broker may ignore it'
            pointer = after[steps[:-1]].pointer
            yield SchemaChange("risky", "schema-property-dropped", place.pointer, pointer, message, place.pointer)


_ITEM, _OTHER_KEY = 0, ("*",)
_OF_ALL = (_ITEM, _OTHER_KEY)
"""Steps to all items of a list, and to all properties that have no name."""


def _described(root: Root) -> dict[tuple[object, ...], Subschema] | None:
    """Every part of a request that the schema speaks of, by the steps that lead there; None where they are too many."""
    found: dict[tuple[object, ...], Subschema] = {}
    todo: list[tuple[Subschema, tuple[object, ...], frozenset[Subschema]]] = [(root.top, (), frozenset())]
    for _ in range(_MOST_DESCRIBED):
        if not todo:
            return found
        place, steps, above = todo.pop()
        found.setdefault(steps, place)
        if place not in above:
            trail = above | {place}
            todo += [(inner, (*steps, *step), trail) for inner, step in _inside(place)]
    return None


def _inside(place: Subschema) -> Iterator[tuple[Subschema, tuple[object, ...]]]:
    """The schemas of the same value, with no step, and those of its parts, with one."""
    for part in place.plain():
        for keyword in ("anyOf", "oneOf"):
            yield from ((branch, ()) for branch in part.children(keyword))
        for keyword in ("if", "then", "else"):
            if part.get(keyword) is not None:
                yield part.child(keyword), ()
        for keyword in ("properties", "dependentSchemas", "patternProperties"):
            for name in part.get(keyword) or ():
                step = {"properties": (name,), "dependentSchemas": ()}.get(keyword, (_OTHER_KEY,))
                yield part.child(keyword, name), step
        if part.get("additionalProperties") is not None:
            yield part.child("additionalProperties"), (_OTHER_KEY,)
        prefix, rest = items(part)
        yield from ((item, (_ITEM,)) for item in (*prefix, *([rest] if rest else [])))


def wording_changes(old: Root, new: Root) -> list[SchemaChange]:
    """One change at most, for all titles, descriptions and other annotations together."""
    found = [path for pair in _both(old, new) for path in _reworded(*pair)]
    if not found:
        return []
    first = found[0]
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    message = f"wording changed ({cut(str(first[-1]))}{more}); that refuses nothing"
    return [SchemaChange("safe", "schema-wording", first[:-1], first[:-1], message, first[:-1])]


def _reworded(before: Subschema, after: Subschema) -> Iterator[Path]:
    asserted = before.root.dialect.keywords | after.root.dialect.keywords
    for keyword in sorted((before.value.keys() | after.value.keys()) - asserted - BARE):
        if not same_value(before.value.get(keyword, ABSENT), after.value.get(keyword, ABSENT)):
            yield (*before.pointer, keyword)


def _both(old: Root, new: Root) -> Iterator[tuple[Subschema, Subschema]]:
    """The places that both schemas have under the same pointer."""
    for pointer, before in old.places.items():
        after = new.places.get(pointer)
        if after is not None and isinstance(before.value, dict) and isinstance(after.value, dict):
            yield before, after
