"""Which object of the old catalog is which of the new one, by id alone; and what became of its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeAlias, TypeVar

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.platforms.names import stored

Identified: TypeAlias = ServiceOffering | ServicePlan
"""What has an id and a name."""

T = TypeVar("T", bound="Identified")


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


class Renaming(Enum):
    """What kind of name an object took."""

    NEW = "new"
    REUSED = "reused"
    SWAPPED = "swapped"
    TAKEN = "taken"
    PASSED_ON = "passed on"


def is_all_the_same(match: Match[T]) -> bool:
    """Whether no name changed and none came: then there is nothing to be said of names."""
    return not match.fresh and all(old.name == new.name for old, new in match.kept)


def renamings(match: Match[T], taken: Mapping[int, T]) -> Iterator[tuple[T, T, Renaming]]:
    """The kept pairs with another name, each with the kind of name that the new one is; `taken` is of `still_held`.

    A name of a wrong type is none.
    """
    kept = match.kept
    before = {folded(old): number for number, (old, _) in enumerate(kept) if old.name}
    removed = {folded(thing) for thing in match.gone if thing.name}
    # Which pair's old name each renamed pair takes.
    takes = {
        number: before[folded(new)]
        for number, (old, new) in enumerate(kept)
        if folded(old) != folded(new) and folded(new) in before
    }
    circles = _in_circles(takes)
    moving = {number for number, (old, new) in enumerate(kept) if folded(old) != folded(new)}
    for number, (old, new) in enumerate(kept):
        if old.name != new.name and all(isinstance(thing.data.get("name"), str | None) for thing in (old, new)):
            if number in circles:
                yield old, new, Renaming.SWAPPED
            elif number in moving and folded(new) in removed:
                yield old, new, Renaming.REUSED
            elif number in moving and id(new) in taken:
                yield old, new, Renaming.TAKEN
            elif number in takes and takes[number] in moving:
                yield old, new, Renaming.PASSED_ON
            else:
                yield old, new, Renaming.NEW


def given_up(kept: list[tuple[T, T]]) -> set[str]:
    """The names, folded, that kept objects gave up."""
    return {folded(old) for old, new in kept if old.name and folded(old) != folded(new)}


def still_held(match: Match[T]) -> dict[int, T]:
    """By `id()` of each plan of the new catalog: who holds its name when Cloud Foundry saves it, if anybody does.

    It saves one plan after the other in the order of the new catalog, those that it has before new ones, and compares
    names without regard to case. A name that stands twice in the new catalog is left out: whoever
    judges that catalog alone says so.
    """
    before = {id(new): old for old, new in match.kept}
    every = (*(new for _, new in match.kept), *match.fresh)
    saved = sorted(every, key=lambda thing: (id(thing) not in before, thing.path))
    holders = {folded(thing): thing for thing in (*match.gone, *(old for old, _ in match.kept)) if thing.name}
    counts = Counter(thing.name for thing in saved)
    found = {}
    for thing in saved:
        name, old = folded(thing), before.get(id(thing))
        if old and holders.get(folded(old)) is old:
            del holders[folded(old)]
        if name in holders and counts[thing.name] == 1:
            found[id(thing)] = holders[name]
        elif name:
            holders[name] = thing
    return found


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
