"""References within one schema, as it is written: where they stand, and where they lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.paths import entries, located

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.paths import JsonValue, Path

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def target_of(schema: JsonValue, ref: str) -> Path | None:
    """Where the reference `#/…` leads in the schema; None where it leads nowhere, or holds no such pointer."""
    return located(schema, unquoted(ref[1:])) if ref == "#" or ref.startswith("#/") else None


def references(schema: JsonValue) -> Iterator[tuple[Path, str]]:
    """Every reference with the place of the schema that holds it; without recursion, however deep it stands."""
    todo: list[tuple[Path, JsonValue]] = [((), schema)]
    while todo:
        path, here = todo.pop()
        if isinstance(here, dict):
            yield from ((path, here[keyword]) for keyword in _REFERENCES if isinstance(here.get(keyword), str))
        todo.extend(((*path, key), value) for key, value in entries(here) if isinstance(value, dict | list))


def unquoted(fragment: str) -> str:
    """A JSON pointer in the fragment of a URI (RFC 6901, section 6), as it is."""
    if "%" not in fragment:
        return fragment
    from urllib.parse import unquote

    return unquote(fragment)
