"""Redaction of schema parts that secret names refer to."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from osbctl.jsonschemas.walk import LITERALS, references, target_of
from osbctl.paths import JsonValue, Path, entries, value_at
from osbctl.redaction import may_be_secret_name, redact

if TYPE_CHECKING:
    from osbctl.jsonschemas.schema_tree import SchemaTree, Subschema


def secret_places(schema: JsonValue) -> set[Path]:
    """The places, with all below them, to which references lead from below a secret-named property.

    A reference that leads nowhere in the schema may lead anywhere: then it is the whole.
    """
    below: dict[Path, list[Path]] = defaultdict(list)
    todo: list[Path] = []
    for path, ref in references(schema):
        target = target_of(schema, ref) or ()
        if any(map(may_be_secret_name, path)):
            todo.append(target)
        for length in range(len(path) + 1):
            below[path[:length]].append(target)
    found: set[Path] = set()
    while todo:
        place = todo.pop()
        if place not in found:
            found.add(place)
            todo.extend(below.get(place, ()))
    return found


def is_within(path: Path, places: set[Path]) -> bool:
    """Return whether the path leads to one of the places, or to something below it."""
    return bool(places) and any(path[:length] in places for length in range(len(path) + 1))


class Secrets:
    """Redaction of two schemas and their example requests."""

    def __init__(self, *trees: SchemaTree) -> None:
        self._places = {tree: secret_places(tree.value) for tree in trees}
        self._known = frozenset(v for tree in trees for p in self._places[tree] for v in _literals(tree.value, p))

    def at(self, *places: Subschema) -> bool:
        """Return whether the values that one of these places speaks of may be secrets."""
        return any(
            any(map(may_be_secret_name, place.pointer)) or is_within(place.pointer, self._places[place.tree])
            for place in places
        )

    def line(self, value: JsonValue) -> str:
        """A value out of a schema or a request as one line of JSON, fit to be shown but not cut, not escaped."""
        return json.dumps(redact(value, self._known), ensure_ascii=False)


def _literals(schema: JsonValue, place: Path) -> Iterator[JsonValue]:
    todo = [(value_at(schema, place), False)]
    while todo:
        here, literal = todo.pop()
        todo.extend((value, literal or key in LITERALS) for key, value in entries(here))
        if literal and not isinstance(here, dict | list) and here not in (None, "", True, False):
            yield here
