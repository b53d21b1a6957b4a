"""The sources of a page: where each word leads, what the page calls the broker, and what it is compared with."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from osbctl.cli.connection import is_address, shown
from osbctl.cli.sources import NamedSources
from osbctl.errors import UsageError
from osbctl.registry.location import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from osbctl.tasks.page import Shelf


@dataclass(frozen=True, slots=True)
class PageSources(NamedSources):
    """Reads sources as the options say."""

    def shelves(self, words: Sequence[str], since: Sequence[str] = ()) -> list[Shelf]:
        """One shelf for each word. `since` has a revision for all of them, or an earlier catalog for each.

        Raises:
            OsbctlError: a source cannot be read, or the words make no sense together.
        """
        from osbctl.tasks.page import Shelf

        self.connection.check_stdin(*words, *since)
        before = self._earlier(words, since)
        return [
            Shelf(name, self.read(word), self.read(old) if old else None)
            for name, word, old in zip(self._names(words), words, before, strict=True)
        ]

    def _earlier(self, words: Sequence[str], since: Sequence[str]) -> Sequence[str]:
        if not since:
            return [""] * len(words)
        if len(since) == 1 and self._is_revision(since[0]):
            if wrong := next((word for word in words if not os.path.isfile(word)), None):  # noqa: PTH113
                raise UsageError(
                    f"{wrong} is not a file, so git has no revision of it", "name an earlier catalog with --since"
                )
            return [f"{since[0]}:{word}" for word in words]
        if len(since) != len(words):
            raise UsageError("--since needs one revision, or an earlier catalog for each source", "repeat --since")
        for word, old in zip(words, since, strict=True):
            if word == old and self.is_registered(word):
                advice = f"name an earlier one: {word}@-1 is the one before, {word}@2026-11-01 that of a day"
                raise UsageError(f"--since {word}: this is the same catalog", advice)
        return since

    def _is_revision(self, word: str) -> bool:
        apart = word == "-" or ":" in word or os.path.exists(word)  # noqa: PTH110
        return not apart and not self.is_registered(word)

    def _names(self, words: Sequence[str]) -> list[str]:
        """What the page calls the brokers: short names, and the words themselves where two would be the same."""
        short = [named(word)[0] if self.is_registered(word) else _short(word) for word in words]
        return [name if short.count(name) == 1 else shown(word) for name, word in zip(short, words, strict=True)]


def _short(word: str) -> str:
    if is_address(word):
        return urlsplit(word).hostname or shown(word)
    return PurePath(word.rpartition(":")[2]).stem or word
