"""Texts and schemas of a catalog, fit for a page that anybody may read: without secrets, and of bounded size."""

from __future__ import annotations

from typing import Any

from osbctl.jsonschemas.walk import LITERALS
from osbctl.secrecy import looks_secret, without_secrets

MAX_TEXT = 20_000
"""Characters of one text that are shown."""
MAX_LEVELS = 40
"""Levels of a schema that a form is made of; real ones have up to 14."""


class Redactor:
    """Leaves secrets out, and counts them, so that the page can say so."""

    def __init__(self) -> None:
        self.left_out = 0

    def text(self, value: object, limit: int = MAX_TEXT) -> str:
        """A text without what is secret by how it is written; cut past `limit`, and says so; empty for no text."""
        if not isinstance(value, str):
            return ""
        cut = value if len(value) <= limit else f"{value[:limit]} … ({len(value):,} characters)"
        shown = without_secrets(cut)
        self.left_out += shown != cut
        return shown

    def secret(self, name: str) -> bool:
        """Whether what goes under `name` is left out."""
        hidden = looks_secret(name)
        self.left_out += hidden
        return hidden

    def schema(self, schema: Any) -> Any:
        """A copy of a parameter schema without the values that secret-named properties have; None past `MAX_LEVELS`."""
        try:
            # A reference may lead from a secret name to values anywhere: then none is kept.
            return self._schema(schema, _refers_from_secret(schema, False, 0), 0)
        except RecursionError:
            return None

    def _schema(self, value: Any, hidden: bool, level: int) -> Any:
        if level > MAX_LEVELS:
            raise RecursionError
        if isinstance(value, dict):
            kept = {}
            for key, inner in value.items():
                if hidden and key in LITERALS:
                    self.left_out += 1
                else:
                    kept[key] = self._schema(inner, hidden or looks_secret(key), level + 1)
            return kept
        if isinstance(value, list):
            return [self._schema(inner, hidden, level + 1) for inner in value]
        return self.text(value) if isinstance(value, str) else value


def _refers_from_secret(value: Any, hidden: bool, level: int) -> bool:
    if level > MAX_LEVELS:
        raise RecursionError
    if isinstance(value, dict):
        return any(
            (hidden and key == "$ref") or _refers_from_secret(inner, hidden or looks_secret(key), level + 1)
            for key, inner in value.items()
        )
    return isinstance(value, list) and any(_refers_from_secret(inner, hidden, level + 1) for inner in value)
