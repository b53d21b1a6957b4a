"""What ends a question about schemas without an answer."""

from __future__ import annotations


class UndecidableError(Exception):
    """A schema is beyond what can be reasoned about; the text says why. Never leaves this room."""
