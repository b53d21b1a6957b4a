"""Redaction of schema parts that secret names refer to, and of the values and texts that messages show."""

import json
from collections import defaultdict
from typing import Any

from osbctl.jsonschemas.schema_tree import SchemaTree, Subschema
from osbctl.jsonschemas.walk import find_refs, resolve_ref
from osbctl.messages import may_be_secret_name, redact, redact_text
from osbctl.paths import BY_NAME, LITERALS, JsonPath, JsonValue, entries
from osbctl.text import ELLIPSIS, escape_line

MAX_TEXT = 60


def secret_ref_targets(schema: JsonValue) -> set[JsonPath]:
    """The places, with all below them, to which references lead from below a secret-named property.

    A reference that leads nowhere in the schema may lead anywhere: then it is the whole.
    """
    targets = [(path, resolve_ref(schema, ref) or ()) for path, ref in find_refs(schema)]
    below: dict[JsonPath, list[JsonPath]] = defaultdict(list)
    for path, target in targets:
        for length in range(len(path) + 1):
            below[path[:length]].append(target)
    found: set[JsonPath] = set()
    todo = [target for path, target in targets if any(map(may_be_secret_name, path))]
    while todo:
        place = todo.pop()
        if place not in found:
            found.add(place)
            todo += below[place]
    return found


def secret_literals(schema: JsonValue) -> frozenset[Any]:
    """The texts and numbers in the literals of secret-named parameters, and of what these refer to."""
    places, found = secret_ref_targets(schema), set[Any]()
    todo: list[tuple[JsonPath, JsonValue, bool, bool]] = [((), schema, False, () in places)]
    while todo:
        path, node, is_literal, is_secret = todo.pop()
        if is_literal and is_secret and not isinstance(node, dict | list) and node not in (None, "", True, False):
            found.add(node)
        holds_names = path[-1:] and path[-1] in BY_NAME
        for key, value in entries(node):
            at = (*path, key)
            literal = is_literal or (not holds_names and key in LITERALS)
            todo.append((at, value, literal, is_secret or at in places or may_be_secret_name(key)))
    return frozenset(found)


def is_at_or_below(path: JsonPath, places: set[JsonPath]) -> bool:
    """Return whether the path leads to one of the places, or to something below it."""
    return bool(places) and any(path[:length] in places for length in range(len(path) + 1))


def redact_and_cut(text: str, max_length: int = MAX_TEXT) -> str:
    """`text` without secrets, safe to print, at most so many characters."""
    plain = escape_line(redact_text(text)[: max_length + 1])
    return plain if len(plain) <= max_length else plain[: max_length - 1] + ELLIPSIS


class Secrets:
    """Redaction of two schemas and their example requests."""

    def __init__(self, *trees: SchemaTree) -> None:
        self._places = {tree: secret_ref_targets(tree.value) for tree in trees}
        self._known = frozenset().union(*(secret_literals(tree.value) for tree in trees))

    def may_be_secret(self, *places: Subschema) -> bool:
        """Return whether the values that one of these places speaks of may be secrets."""
        paths = [(place.path, self._places[place.tree]) for place in places]
        return any(is_at_or_below(path, secret) or any(map(may_be_secret_name, path)) for path, secret in paths)

    def format_value(self, value: JsonValue, max_length: int = MAX_TEXT) -> str:
        """A value out of a schema or a request as one line of JSON: cut short, escaped, without secrets."""
        # As many entries as may be visible: a long list is shown once for each of its entries.
        if isinstance(value, dict):
            value = {key: value[key] for key in list(value)[:max_length]}
        elif isinstance(value, list):
            value = value[:max_length]
        return redact_and_cut(json.dumps(redact(value, self._known), ensure_ascii=False), max_length)
