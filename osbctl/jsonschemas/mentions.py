"""References within one schema, as it is written: where they stand, and where they lead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.paths import JsonValue, Path

_INDEX = re.compile("0|[1-9][0-9]{0,8}")
"""Of a list, in a JSON pointer (RFC 6901 §4); no list here has more."""
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def located(schema: JsonValue, ref: str) -> Path | None:
    """Where the JSON pointer `#/…` leads in the schema; None where it leads nowhere, or is no such pointer."""
    if ref != "#" and not ref.startswith("#/"):
        return None
    path: list[str | int] = []
    for part in ref.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        step = int(name) if isinstance(schema, list) and _INDEX.fullmatch(name) else name
        try:
            schema = schema[step]
        except (KeyError, IndexError, TypeError):
            return None
        path.append(step)
    return tuple(path)


def references(schema: JsonValue) -> Iterator[tuple[Path, str]]:
    """Every reference with the place of the schema that holds it; without recursion, however deep it stands."""
    todo: list[tuple[Path, JsonValue]] = [((), schema)]
    while todo:
        path, here = todo.pop()
        if isinstance(here, dict):
            yield from ((path, here[keyword]) for keyword in _REFERENCES if isinstance(here.get(keyword), str))
            todo.extend(((*path, key), value) for key, value in here.items() if isinstance(value, dict | list))
        elif isinstance(here, list):
            todo.extend(((*path, at), value) for at, value in enumerate(here) if isinstance(value, dict | list))
