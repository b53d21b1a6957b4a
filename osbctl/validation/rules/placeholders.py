"""Placeholders that some template language should have filled in."""

from __future__ import annotations

from collections.abc import Iterator

from osbctl.findings import Severity
from osbctl.placeholders import placeholders
from osbctl.rule import Category, rule
from osbctl.validation.node import Hit, Node


@rule("placeholder-unresolved", Severity.WARNING, Category.ADVICE)
def placeholder_unresolved(catalog: Node) -> Iterator[Hit]:
    """A value still holds a placeholder of a template.

    The platform would store it as it stands, an id for ever. Nothing else is said of a value with a placeholder:
    what will stand there is not known. Where a platform's verdict depends on it, that verdict is *unclear*.

    Bad: id: ((plan_id))
    Good: id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
    Source: BOSH and Concourse ((var)), Spruce (( grab x )), Helm and Jinja {{ }}, shells ${VAR}, ERB <%= %>, printf,
        and what people write for people: <name>, REPLACE_WITH_NAME
    """
    for path, placeholder in placeholders(catalog.value).items():
        shown = placeholder if len(placeholder) <= 40 else placeholder[:39] + "…"
        several = f"values hold {shown!r}, which was not replaced"
        hint = "render the template, or write the value"
        yield catalog.hit(f"{shown!r} was not replaced", path, hint, several=several)
