"""Which object of the old catalog is which of the new one: by id alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from osbctl.platforms.names import stored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from osbctl.paths import Path


class Identified(Protocol):
    """What has an id and a name: a service offering or a plan."""

    @property
    def id(self) -> str:
        """The id; empty where there is none."""

    @property
    def name(self) -> str:
        """The name; empty where there is none."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The object as it was written."""

    @property
    def path(self) -> Path:
        """Where it stands in its catalog."""


T = TypeVar("T", bound=Identified)


@dataclass(frozen=True, slots=True)
class Match(Generic[T]):
    """`kept` in both, `gone` from the new side, `fresh` on it, each in order."""

    kept: list[tuple[T, T]]
    gone: list[T]
    fresh: list[T]


def by_id(old: Sequence[T], new: Sequence[T]) -> Match[T]:
    """Match by id; of several with one id (or with none) those of one name, then the first with the first."""
    both = {(thing.id, thing.name) for thing in old} & {(thing.id, thing.name) for thing in new}
    before, after = _numbered(old, both), _numbered(new, both)
    return Match(
        [(thing, after[key]) for key, thing in before.items() if key in after],
        [thing for key, thing in before.items() if key not in after],
        [thing for key, thing in after.items() if key not in before],
    )


def by_name(gone: list[T], fresh: list[T]) -> list[tuple[T, T]]:
    """Pairs of one name, compared without regard to case and outer blanks, taken out of both lists."""
    waiting = {folded(thing): thing for thing in reversed(fresh) if thing.name}
    pairs = [(thing, waiting.pop(folded(thing))) for thing in gone if folded(thing) in waiting]
    taken = {id(thing) for pair in pairs for thing in pair}
    gone[:] = [thing for thing in gone if id(thing) not in taken]
    fresh[:] = [thing for thing in fresh if id(thing) not in taken]
    return pairs


def folded(thing: Identified) -> str:
    """The name as platforms compare it."""
    return stored(thing.name)


def _numbered(things: Sequence[T], first: set[tuple[str, str]]) -> dict[tuple[str, int], T]:
    """In order, each by its id and a running number among those of this id, which counts those in `first` first."""
    if len({thing.id for thing in things}) == len(things):
        return {(thing.id, 0): thing for thing in things}
    counts: Counter[str] = Counter()
    numbers = {}
    for thing in sorted(things, key=lambda thing: (thing.id, thing.name) not in first):
        numbers[id(thing)] = counts[thing.id]
        counts[thing.id] += 1
    return {(thing.id, numbers[id(thing)]): thing for thing in things}
