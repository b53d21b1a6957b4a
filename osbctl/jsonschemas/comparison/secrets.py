"""Redaction of schema parts that secret names refer to, and of the values and texts that messages show."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from osbctl.jsonschemas.walk import LITERALS, references, target_of
from osbctl.paths import JsonValue, Path, entries, value_at
from osbctl.redaction import may_be_secret_name, redact, redact_text
from osbctl.text import ELLIPSIS, escape_line

if TYPE_CHECKING:
    from osbctl.jsonschemas.schema_tree import SchemaTree, Subschema

MAX_TEXT = 60


def secret_places(schema: JsonValue) -> set[Path]:
    """The places, with all below them, to which references lead from below a secret-named property.

    A reference that leads nowhere in the schema may lead anywhere: then it is the whole.
    """
    targets = [(path, target_of(schema, ref) or ()) for path, ref in references(schema)]
    below: dict[Path, list[Path]] = defaultdict(list)
    for path, target in targets:
        for length in range(len(path) + 1):
            below[path[:length]].append(target)
    found: set[Path] = set()
    todo = [target for path, target in targets if any(map(may_be_secret_name, path))]
    while todo:
        place = todo.pop()
        if place not in found:
            found.add(place)
            todo += below[place]
    return found


def is_within(path: Path, places: set[Path]) -> bool:
    """Return whether the path leads to one of the places, or to something below it."""
    return bool(places) and any(path[:length] in places for length in range(len(path) + 1))


def cut(text: str, most: int = MAX_TEXT) -> str:
    """`text` without secrets, safe to print, at most so many characters."""
    plain = escape_line(redact_text(text)[: most + 1])
    return plain if len(plain) <= most else plain[: most - 1] + ELLIPSIS


class Secrets:
    """Redaction of two schemas and their example requests."""

    def __init__(self, *trees: SchemaTree) -> None:
        self._places = {tree: secret_places(tree.value) for tree in trees}
        self._known = frozenset(v for tree in trees for p in self._places[tree] for v in _literals(tree.value, p))

    def at(self, *places: Subschema) -> bool:
        """Return whether the values that one of these places speaks of may be secrets."""
        paths = [(place.pointer, self._places[place.tree]) for place in places]
        return any(is_within(path, secret) or any(map(may_be_secret_name, path)) for path, secret in paths)

    def shown(self, value: JsonValue, most: int = MAX_TEXT) -> str:
        """A value out of a schema or a request as one line of JSON: cut short, escaped, without secrets."""
        # As many entries as may be visible: a long list is shown once for each of its entries.
        if isinstance(value, dict):
            value = {key: value[key] for key in list(value)[:most]}
        elif isinstance(value, list):
            value = value[:most]
        return cut(json.dumps(redact(value, self._known), ensure_ascii=False), most)


def _literals(schema: JsonValue, place: Path) -> Iterator[JsonValue]:
    todo = [(value_at(schema, place), False)]
    while todo:
        here, literal = todo.pop()
        todo.extend((value, literal or key in LITERALS) for key, value in entries(here))
        if literal and not isinstance(here, dict | list) and here not in (None, "", True, False):
            yield here
