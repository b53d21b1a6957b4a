"""Placeholders that some template language should have filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from osbctl.fields import PARTS, known
from osbctl.findings import Severity
from osbctl.paths import Path
from osbctl.rule import Category, rule
from osbctl.validation.node import Hit, Node

_WORDS = re.compile(r"\(\(!?[\w./:-]+\)\)|(?<![\w%])%[sdv](?![\w%])")
_BRACKETS = (("{{", "}}"), ("${", "}"), ("<%", "%>"))
"""Looked for by `str.find`: a pattern would look for the end from each beginning anew, which is quadratic."""

_SIGNS = ("((", "{{", "${", "<%", "%")
_PASSED_ON = ("service_metadata", "plan_metadata", "cost")
_LITERAL = {"pattern", "default", "examples", "enum", "const"}
"""Keywords of a parameter schema whose text is the service's own: `${…}` there is likely meant."""


def holds_placeholder(text: str) -> bool:
    """Whether `text` holds what a template language should have replaced."""
    return _found(text) is not None


def _found(text: str) -> str | None:
    if not any(map(text.__contains__, _SIGNS)):  # half the time of a loop, of each id and name
        return None
    if text.startswith("((") and text.endswith("))"):
        return text  # Spruce's operators, such as (( grab meta.id )), stand for a whole value
    match = _WORDS.search(text)
    if match:
        return match[0]
    return next(filter(None, (_between(text, *pair) for pair in _BRACKETS)), None)


def _between(text: str, opening: str, closing: str) -> str | None:
    """The first stretch from `opening` to `closing` that has something in between."""
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            return None
        if end > start + len(opening):
            return text[start : end + len(closing)]
        start = text.find(opening, end)
    return None


@rule("placeholder-unresolved", Severity.WARNING, Category.ADVICE, needs="placeholders")
def placeholder_unresolved(catalog: Node) -> Iterator[Hit]:
    """A value still holds a placeholder of a template.

    The platform would store it as it stands, an id for ever. Nothing else is said of a value with a placeholder:
    what will stand there is not known.

    Bad: id: ((plan_id))
    Good: id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
    Source: BOSH and Concourse ((var)), Spruce (( grab x )), Helm and Jinja {{ }}, shells ${VAR}, ERB <%= %>, printf
    """
    for path, text in _texts(catalog.value):
        placeholder = _found(text)
        if placeholder:
            shown = placeholder if len(placeholder) <= 40 else placeholder[:39] + "…"
            several = f"values hold {shown!r}, which was not replaced"
            yield catalog.hit(f"{shown!r} was not replaced", path, "render the template first", several=several)


def _texts(catalog: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Every string that a platform reads, in order, outside of what belongs to parameter schemas alone."""
    stack: list[tuple[Path, Any, str]] = [((), catalog, "catalog")]
    while stack:
        here, item, kind = stack.pop()
        if isinstance(item, str):
            yield here, item
        elif isinstance(item, dict):
            parts = PARTS.get(kind, {})
            inside = [(key, inner) for key, inner in item.items() if _is_read(key, kind, here)]
            stack += [((*here, key), inner, parts.get(key, "")) for key, inner in reversed(inside)]
        elif isinstance(item, list):
            stack += [((*here, index), inner, kind) for index, inner in reversed([*enumerate(item)])]


def _is_read(key: str, kind: str, holder: Path) -> bool:
    """Whether a platform reads the field: metadata is passed on whole, elsewhere an unknown field goes unnoticed."""
    if not kind or kind in _PASSED_ON:
        return "parameters" not in holder or key not in _LITERAL
    return key in known(kind)
