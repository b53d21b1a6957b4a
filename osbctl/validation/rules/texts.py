"""Texts that platforms may not be able to store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.findings import Severity
from osbctl.rule import Category, Need, Scope, rule
from osbctl.validation.rules.naming import MAX_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.paths import Path
    from osbctl.validation.node import Hit, Node


@rule(
    "text-long",
    severity=Severity.INFO,
    category=Category.ADVICE,
    scope=Scope.THING,
    source="OSB 2.17, guidance for supported string lengths: at least 255 characters",
)
def text_long(thing: Node) -> Iterator[Hit]:
    """A tag or a text of the metadata is longer than 255 characters.

    Platforms must store only so many. `longDescription` is meant to be long, and addresses may be: of them nothing is
    told.
    """
    metadata = thing.child("metadata")
    for key in ("displayName", "providerDisplayName", "bullets") if metadata else ():
        yield from _long(metadata, key) if metadata else ()
    yield from _long(thing, "tags")


def _long(holder: Node, key: str) -> Iterator[Hit]:
    value = holder.get(key)
    for place, text in enumerate(value) if isinstance(value, list) else [(-1, value)]:
        if isinstance(text, str) and len(text) > MAX_LENGTH:
            at = (key, place) if place >= 0 else (key,)
            yield holder.hit(f"{key} has a text of more than {MAX_LENGTH} characters", at, "shorten it")


@rule(
    "text-nul",
    severity=Severity.WARNING,
    category=Category.ADVICE,
    source="PostgreSQL, Character Types: the character with code zero cannot be stored",
    needs=Need.NUL,
)
def text_nul(catalog: Node) -> Iterator[Hit]:
    """A text holds the character NUL.

    A platform whose database is PostgreSQL cannot store it, and many tools end the text there. Of ids, names and
    descriptions the verdict on Service Manager tells, which refuses it.

    Bad::

        metadata: {displayName: "Postgres\\0"}

    Good::

        metadata: {displayName: Postgres}
    """
    stack: list[tuple[Path, object]] = [((), catalog.value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            stack += [((*path, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            stack += [((*path, place), inner) for place, inner in enumerate(value)]
        texts = (value, path[-1]) if path else ()
        refused = len(path) in (3, 5) and path[-1] in ("id", "name", "description")
        if not refused and any(isinstance(text, str) and "\0" in text for text in texts):
            yield catalog.hit("a text holds the character NUL", path, "remove it")
