"""The parts of a parameter schema that secret names refer to, and the literals there."""

from collections import defaultdict
from typing import Any

from osbctl.messages import may_be_secret_name
from osbctl.paths import BY_NAME, LITERALS, JsonPath, JsonValue, entries, find_refs, resolve_ref


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
