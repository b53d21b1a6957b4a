"""Verdict of a platform on a catalog, and its reasons."""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from osbctl.paths import Path

MAX_REFUSALS = 10_000
"""Maximum number of reasons of one platform: a few megabytes can cause millions."""


class VerdictKind(StrEnum):
    """Verdict of a platform at registration."""

    ACCEPTS = "accepts"
    REFUSES = "refuses"
    CRASHES = "crashes"
    UNCLEAR = "unclear"
    UNREADABLE = "unreadable"


class Refusal(NamedTuple):
    """One reason of a platform to refuse a catalog: a rule's id, the place, and what the platform says of it.

    `message` is the platform's own line without indentation where its words are known, else ours.
    """

    rule: str
    path: Path
    message: str


class Outcome(NamedTuple):
    """A platform's treatment of a whole catalog.

    `messages` are the lines that the platform itself would print, in its order and indentation; empty
    where its words are not known. `doubts` are the reasons why it is unclear, which are no refusals: each with the rule
    that reports it, and a message that needs no more than its place.
    """

    kind: VerdictKind
    refusals: tuple[Refusal, ...] = ()
    messages: tuple[str, ...] = ()
    doubts: tuple[Refusal, ...] = ()

    @property
    def redacted(self) -> Outcome:
        """The same without secrets in its messages."""
        words = {one.message: redacted(one.message, one.path) for one in self.refusals}
        if all(before == after for before, after in words.items()):
            return self
        refusals = tuple(one._replace(message=words[one.message]) for one in self.refusals)
        lines = (line.replace(line.strip(), words.get(line.strip(), line.strip())) for line in self.messages)
        return self._replace(refusals=refusals, messages=tuple(lines))


def redacted(message: str, path: Path) -> str:
    """A platform's line without the value at `path` that it may quote, where that may be a secret."""
    from osbctl.redaction import SECRET, may_be_secret_name, redact_text  # only catalogs that are refused need it

    if "dashboard_client" in path or any(map(may_be_secret_name, path)):
        return re.sub(r"but has value .*", f"but has value {SECRET}", message, flags=re.DOTALL)
    return redact_text(message)


def bounded(refusals: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """The first `MAX_REFUSALS`, and one that says so where there are more."""
    several = iter(refusals)
    first = tuple(islice(several, MAX_REFUSALS))
    beyond = next(several, None)
    if beyond is None:
        return first
    return (*first, Refusal(beyond.rule, (), f"more than {MAX_REFUSALS:,} reasons; the rest is left out"))
