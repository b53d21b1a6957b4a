"""Texts of a catalog, fit for a page that anybody may read: without secrets, and of bounded size."""

from __future__ import annotations

from osbctl.secrecy import looks_secret, without_secrets

MAX_TEXT = 20_000
"""Characters of one text that are shown."""


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
