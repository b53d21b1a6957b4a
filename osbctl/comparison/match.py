"""Which object of the old catalog is which of the new one: by id alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from osbctl.findings import Path


class Thing(Protocol):
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


T = TypeVar("T", bound=Thing)


@dataclass(frozen=True, slots=True)
class Match(Generic[T]):
    """`kept` in both, `gone` from the new side, `fresh` on it, each in order."""

    kept: list[tuple[T, T]]
    gone: list[T]
    fresh: list[T]


def by_id(old: Iterable[T], new: Iterable[T]) -> Match[T]:
    """Match by id; of several with one id (or with none) the first with the first, and so on."""
    before, after = _numbered(old), _numbered(new)
    return Match(
        [(thing, after[key]) for key, thing in before.items() if key in after],
        [thing for key, thing in before.items() if key not in after],
        [thing for key, thing in after.items() if key not in before],
    )


def by_name(gone: list[T], fresh: list[T]) -> list[tuple[T, T]]:
    """Pairs of one name, compared without regard to case, taken out of both lists."""
    waiting = {folded(thing): thing for thing in reversed(fresh) if thing.name}
    pairs = [(thing, waiting.pop(folded(thing))) for thing in gone if folded(thing) in waiting]
    taken = {id(thing) for pair in pairs for thing in pair}
    gone[:] = [thing for thing in gone if id(thing) not in taken]
    fresh[:] = [thing for thing in fresh if id(thing) not in taken]
    return pairs


def folded(thing: Thing) -> str:
    """The name as platforms compare it."""
    return thing.name.casefold()


def _numbered(things: Iterable[T]) -> dict[tuple[str, int], T]:
    count: dict[str, int] = {}
    found = {}
    for thing in things:
        number = count.get(thing.id, 0)
        count[thing.id] = number + 1
        found[thing.id, number] = thing
    return found
