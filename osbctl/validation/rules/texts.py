"""Texts that platforms may not be able to store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from osbctl.findings import Severity
from osbctl.paths import Path
from osbctl.platforms import Platform
from osbctl.rule import Category, rule
from osbctl.validation.node import CatalogNode, Hit, Node
from osbctl.validation.rules.naming import MAX_LENGTH


@rule("text-long", Severity.INFO, Category.ADVICE)
def text_long(catalog: CatalogNode) -> Iterator[Hit]:
    """A tag or a text of the metadata is longer than 255 characters.

    Platforms must store only so many. `longDescription` is meant to be long, and addresses may be: of them nothing is
    told.

    Source: OSB 2.17, guidance for supported string lengths: at least 255 characters
    """
    for thing, path, value in _shown(catalog):
        for place, text in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(text, str) and len(text) > MAX_LENGTH:
                at = (*path, place) if isinstance(value, list) else path
                yield thing.hit(f"{path[-1]} has a text of more than {MAX_LENGTH} characters", at, "shorten it")


def _shown(catalog: CatalogNode) -> Iterator[tuple[Node, Path, Any]]:
    """The texts and lists of texts that are stored for all to see: the path is from the service offering or plan."""
    with_metadata = catalog.metadata
    for key in ("displayName", "providerDisplayName", "bullets"):
        path = ("metadata", key)
        yield from ((thing, path, value) for thing, metadata in with_metadata if (value := metadata.get(key)))
    yield from ((thing, ("tags",), tags) for thing in catalog.things if (tags := thing.get("tags")))


@rule("text-nul", Severity.WARNING, Category.ADVICE)
def text_nul(catalog: Node) -> Iterator[Hit]:
    """A text holds the character NUL.

    A platform whose database is PostgreSQL cannot store it, and many tools end the text there. Of ids, names and
    descriptions the verdict on Service Manager tells, which refuses it; Cloud Foundry fails there with PostgreSQL, and
    takes it with MySQL.

    Bad: metadata: {displayName: "Postgres\\0"}
    Good: metadata: {displayName: Postgres}
    Source: PostgreSQL, Character Types: the character with code zero cannot be stored
    """
    if "\\u0000" not in json.dumps(catalog.value):
        return
    for path, text in _texts(catalog):
        refused = len(path) in (3, 5) and path[-1] in ("id", "name", "description")
        if "\0" in text and not refused:
            yield catalog.hit("a text holds the character NUL", path, "remove it")


@rule("cloudfoundry-mysql", Severity.INFO, Category.PLATFORM, only_for=Platform.CLOUD_FOUNDRY)
def cloudfoundry_mysql(catalog: Node) -> Iterator[Hit]:
    """A text holds a character beyond U+FFFF, as emoji are.

    Cloud Foundry stores it with PostgreSQL, and fails with MySQL, whose columns and connection take three bytes a
    character. Reported only where Cloud Foundry is among the platforms that are checked for
    (`--platform cloudfoundry`), or the rule is selected.

    Bad: description: A database 🐘
    Good: description: A database
    Source: cloudfoundry/cloud_controller_ng 3bbba906, lib/cloud_controller/db_connection/mysql_options_factory.rb
        (charset utf8, of three bytes); measured with MariaDB
    """
    for path, text in _texts(catalog):
        if text and max(text) > "\uffff":
            hint = "write it in other words, or ask its operator"
            yield catalog.hit("Cloud Foundry cannot store a character beyond U+FFFF with MySQL", path, hint)


def _texts(catalog: Node) -> Iterator[tuple[Path, str]]:
    """The text at each path of the catalog, with the key that it stands under."""
    stack: list[tuple[Path, object]] = [((), catalog.value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            stack += [((*path, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            stack += [((*path, place), inner) for place, inner in enumerate(value)]
        yield path, "".join(text for text in (value, *path[-1:]) if isinstance(text, str))
