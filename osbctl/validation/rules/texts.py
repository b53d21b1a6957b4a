"""Texts that platforms may not be able to store, or that a template should have filled in."""

import json
from collections.abc import Iterator

from osbctl.findings import Finding, Severity
from osbctl.paths import Path, entries
from osbctl.placeholders import placeholders
from osbctl.platforms import Platform
from osbctl.rule import Category, rule
from osbctl.validation.node import CatalogNode, Node

MAX_LENGTH = 255
"""Characters that every platform stores of a text (OSB 2.14, Guidance for string lengths)."""


@rule("long-name", Severity.WARNING, Category.ADVICE)
def long_name(catalog: CatalogNode) -> Iterator[Finding]:
    """An id or a name is longer than 255 characters.

    Platforms must store only 255. Cloud Foundry fails with MySQL (`varchar(255)`), and stores more with PostgreSQL.

    Source: OSB 2.14, guidance for supported string lengths: at least 255 characters
    """
    for key in ("id", "name"):
        for thing, value in catalog.texts(key):
            if len(value) > MAX_LENGTH:
                yield thing.hit(f"{key} has more than {MAX_LENGTH} characters", key, "shorten it")


@rule("long-description", Severity.INFO, Category.ADVICE)
def long_description(catalog: CatalogNode) -> Iterator[Finding]:
    """A description is longer than 255 characters.

    Platforms must store only 255; Cloud Foundry stores 10,000. `metadata.longDescription` may be longer.

    Source: OSB 2.17, guidance for supported string lengths: at least 255 characters
    """
    for thing, value in catalog.texts("description"):
        if len(value) > MAX_LENGTH:
            message = f"the description of {thing.label} has more than {MAX_LENGTH} characters"
            yield thing.hit(message, "description", "shorten it; metadata.longDescription may hold the rest")


@rule("long-text", Severity.INFO, Category.ADVICE)
def long_text(catalog: CatalogNode) -> Iterator[Finding]:
    """A tag or a text of the metadata is longer than 255 characters.

    Platforms must store only 255. `longDescription` and addresses are not checked.

    Source: OSB 2.17, guidance for supported string lengths: at least 255 characters
    """
    for thing in catalog.things:
        metadata = thing.child("metadata")
        fields = [(metadata, key) for key in ("displayName", "providerDisplayName", "bullets")] + [(thing, "tags")]
        for holder, key in fields:
            value = holder.get(key)
            texts = [(key, value)] if isinstance(value, str) else [((key, at), text) for at, text in entries(value)]
            for at, text in texts:
                if isinstance(text, str) and len(text) > MAX_LENGTH:
                    yield holder.hit(f"{key} has a text of more than {MAX_LENGTH} characters", at, "shorten it")


@rule("text-nul", Severity.WARNING, Category.ADVICE)
def text_nul(catalog: Node) -> Iterator[Finding]:
    """A text holds the character NUL.

    A platform with PostgreSQL cannot store it, and many tools end the text there. In ids, names and descriptions,
    Service Manager refuses it, and Cloud Foundry fails with PostgreSQL.

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
def cloudfoundry_mysql(catalog: Node) -> Iterator[Finding]:
    """A text holds a character beyond U+FFFF, as emoji are.

    Cloud Foundry stores it with PostgreSQL, and fails with MySQL, whose columns and connection have three bytes for a
    character. Reported only with `--platform cloudfoundry`, or if selected.

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
        stack += [((*path, step), inner) for step, inner in entries(value)]
        yield path, "".join(text for text in (value, *path[-1:]) if isinstance(text, str))


@rule("placeholder-unresolved", Severity.WARNING, Category.ADVICE)
def placeholder_unresolved(catalog: Node) -> Iterator[Finding]:
    """A value still holds a placeholder of a template.

    The platform would store it unchanged. No other rule checks a value with a placeholder. If a platform's verdict
    depends on that value, the verdict is *unclear*.

    Bad: id: ((plan_id))
    Good: id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
    Source: BOSH and Concourse ((var)), Spruce (( grab x )), Helm and Jinja {{ }}, shells ${VAR}, ERB <%= %>, printf,
        and what people write for people: <name>, REPLACE_WITH_NAME
    """
    for path, placeholder in placeholders(catalog.value).items():
        shown = placeholder if len(placeholder) <= 40 else placeholder[:39] + "…"
        group_summary = f"values hold {shown!r}, which was not replaced"
        hint = "render the template, or write the value"
        yield catalog.hit(f"{shown!r} was not replaced", path, hint, group_summary=group_summary)
