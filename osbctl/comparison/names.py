"""Names that changed while the id stayed: a plain new name, one of a removed object, one passed on, or a swap."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from osbctl.comparison.match import T, folded

if TYPE_CHECKING:
    from collections.abc import Iterator


class Renaming(Enum):
    """What kind of name an object took."""

    NEW = "new"
    REUSED = "reused"
    SWAPPED = "swapped"
    PASSED_ON = "passed on"


def renamings(kept: list[tuple[T, T]], gone: list[T]) -> Iterator[tuple[T, T, Renaming]]:
    """The kept pairs with another name, each with the kind of name that the new one is."""
    before = {folded(old): number for number, (old, _) in enumerate(kept) if old.name}
    removed = {folded(thing) for thing in gone if thing.name}
    # Which pair's old name each renamed pair takes.
    takes = {
        number: before[folded(new)]
        for number, (old, new) in enumerate(kept)
        if folded(old) != folded(new) and folded(new) in before
    }
    circles, moving = _in_circles(takes), _renamed(kept)
    for number, (old, new) in enumerate(kept):
        if old.name != new.name:
            if number in circles:
                yield old, new, Renaming.SWAPPED
            elif number in takes and takes[number] in moving:
                yield old, new, Renaming.PASSED_ON
            elif folded(old) != folded(new) and folded(new) in removed:
                yield old, new, Renaming.REUSED
            else:
                yield old, new, Renaming.NEW


def given_up(kept: list[tuple[T, T]]) -> set[str]:
    """The names, folded, that kept objects gave up."""
    return {folded(old) for old, new in kept if old.name and folded(old) != folded(new)}


def _renamed(kept: list[tuple[T, T]]) -> set[int]:
    return {number for number, (old, new) in enumerate(kept) if folded(old) != folded(new)}


def _in_circles(takes: dict[int, int]) -> set[int]:
    found: set[int] = set()
    done: set[int] = set()
    for start in takes:
        trail: dict[int, None] = {}
        here: int | None = start
        while here is not None and here not in done:
            done.add(here)
            trail[here] = None
            here = takes.get(here)
        if here in trail:
            found.update(list(trail)[list(trail).index(here) :])
    return found
