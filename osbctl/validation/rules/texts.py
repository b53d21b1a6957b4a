"""Texts that platforms may not be able to store, or that a template should have filled in."""

from collections.abc import Iterator

from osbctl.findings import Finding, Severity
from osbctl.paths import JsonPath, entries
from osbctl.placeholders import find_placeholders
from osbctl.platforms import Platform
from osbctl.rule import Category, rule
from osbctl.validation.node import CatalogNode, Node

MAX_LENGTH = 255
"""Characters that every platform stores of an id or a name (OSB 2.14, Guidance for string lengths)."""


@rule("long-name", Severity.WARNING, Category.ADVICE)
def long_name(catalog: CatalogNode) -> Iterator[Finding]:
    """An id or a name is longer than 255 characters.

    Platforms must store only 255. Cloud Foundry fails with MySQL (`varchar(255)`), and stores more with PostgreSQL.

    Source: OSB 2.14, guidance for supported string lengths: at least 255 characters
    """
    for key in ("id", "name"):
        for node, value in catalog.nonempty_texts(key):
            if len(value) > MAX_LENGTH:
                yield node.finding(f"{key} has more than {MAX_LENGTH} characters", key, "shorten it")


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
    todo: list[tuple[JsonPath, object]] = [((), catalog.value)]
    while todo:
        path, value = todo.pop()
        todo += [((*path, step), inner) for step, inner in entries(value)]
        text = "".join(text for text in (value, *path[-1:]) if isinstance(text, str))
        if text and max(text) > "\uffff":
            hint = "write it in other words, or ask its operator"
            yield catalog.finding("Cloud Foundry cannot store a character beyond U+FFFF with MySQL", path, hint)


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
    for path, placeholder in find_placeholders(catalog.value).items():
        shown = placeholder if len(placeholder) <= 40 else placeholder[:39] + "…"
        group_summary = f"values hold {shown!r}, which was not replaced"
        hint = "render the template, or write the value"
        yield catalog.finding(f"{shown!r} was not replaced", path, hint, group_summary=group_summary)
