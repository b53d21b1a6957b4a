"""What a platform would answer to a catalog, and its reasons."""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from osbctl.paths import Path

MAX_REFUSALS = 10_000
"""So many reasons of one platform are kept: nobody reads more, and a few megabytes can hold millions."""


class VerdictKind(StrEnum):
    """What a platform does with a catalog when the broker is registered."""

    ACCEPTS = "accepts"
    REFUSES = "refuses"
    CRASHES = "crashes"
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
    where its words are not known.
    """

    kind: VerdictKind
    refusals: tuple[Refusal, ...] = ()
    messages: tuple[str, ...] = ()


def bounded(refusals: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """The first `MAX_REFUSALS`, and one that says so where there are more."""
    several = iter(refusals)
    first = tuple(islice(several, MAX_REFUSALS))
    beyond = next(several, None)
    if beyond is None:
        return first
    return (*first, Refusal(beyond.rule, (), f"more than {MAX_REFUSALS:,} reasons; the rest is left out"))
