"""Pairing of old and new objects by id, and the origin of their new names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeAlias, TypeVar

from osbctl.catalog import ServiceOffering, ServicePlan

Identified: TypeAlias = ServiceOffering | ServicePlan
"""Object with an id and a name."""

T = TypeVar("T", bound="Identified")


@dataclass(frozen=True, slots=True)
class Match(Generic[T]):
    """`kept` in both, `gone` from the new side, `fresh` on it, each in order."""

    kept: list[tuple[T, T]]
    gone: list[T]
    fresh: list[T]


def by_id(old: Sequence[T], new: Sequence[T]) -> Match[T]:
    """Match by id. Of several objects of one id (or none), those of one name are matched first, the others in order."""
    both = {(thing.id, thing.name) for thing in old} & {(thing.id, thing.name) for thing in new}
    before, after = _numbered(old, both), _numbered(new, both)
    return Match(
        [(thing, after[key]) for key, thing in before.items() if key in after],
        [thing for key, thing in before.items() if key not in after],
        [thing for key, thing in after.items() if key not in before],
    )


def by_name(gone: list[T], fresh: list[T]) -> list[tuple[T, T]]:
    """Remove pairs of one name from both lists and return them; case and outer blanks do not count."""
    waiting = {folded(thing): thing for thing in reversed(fresh) if thing.name}
    pairs = []
    for thing in list(gone):
        if folded(thing) in waiting:
            other = waiting.pop(folded(thing))
            pairs.append((thing, other))
    _take_out(gone, [old for old, _ in pairs])
    _take_out(fresh, [new for _, new in pairs])
    return pairs


def _take_out(things: list[T], taken: list[T]) -> None:
    known = {id(thing) for thing in taken}
    things[:] = [thing for thing in things if id(thing) not in known]


def folded(thing: Identified) -> str:
    """The name without case and outer blanks. How platforms compare names stands in their `saving`."""
    return thing.name.strip().lower()


def _numbered(things: Sequence[T], first: set[tuple[str, str]]) -> dict[tuple[str, int], T]:
    """Objects by id and a running number among those of one id; those in `first` are counted first, by name."""
    if len({thing.id for thing in things}) == len(things):
        return {(thing.id, 0): thing for thing in things}
    counts: Counter[str] = Counter()
    numbers = {}
    named = sorted((thing for thing in things if (thing.id, thing.name) in first), key=lambda thing: thing.name)
    others = (thing for thing in things if (thing.id, thing.name) not in first)
    for thing in (*named, *others):
        numbers[id(thing)] = counts[thing.id]
        counts[thing.id] += 1
    return {(thing.id, numbers[id(thing)]): thing for thing in things}


class Renaming(Enum):
    """Origin of an object's new name."""

    NEW = "new"
    REUSED = "reused"
    SWAPPED = "swapped"
    PASSED_ON = "passed on"


def is_all_the_same(match: Match[T]) -> bool:
    """Return whether no name changed, and no object is new."""
    return not match.fresh and all(old.name == new.name for old, new in match.kept)


def renamings(match: Match[T]) -> Iterator[tuple[T, T, Renaming]]:
    """The kept pairs with another name, each with its origin. Values of a wrong type are no names."""
    kept = match.kept
    how = _kinds_of_names(kept, {folded(thing) for thing in match.gone if thing.name})
    for number, (old, new) in enumerate(kept):
        if old.name != new.name and _are_texts(old, new):
            yield old, new, how.get(number, Renaming.NEW)


def _kinds_of_names(kept: list[tuple[T, T]], removed: set[str]) -> dict[int, Renaming]:
    """The origins of names that are not new, by the number of the pair."""
    moving = {number: folded(new) for number, (old, new) in enumerate(kept) if folded(old) != folded(new)}
    before = {folded(old): number for number, (old, _) in enumerate(kept) if old.name}
    # Which pair's old name each renamed pair takes.
    takes = {number: before[name] for number, name in moving.items() if name in before}
    found = {number: Renaming.PASSED_ON for number, giver in takes.items() if giver in moving}
    found |= {number: Renaming.REUSED for number, name in moving.items() if name in removed}
    return found | dict.fromkeys(_in_circles(takes), Renaming.SWAPPED)


def _are_texts(*things: Identified) -> bool:
    return all(isinstance(thing.data.get("name"), str | None) for thing in things)


def given_up(kept: list[tuple[T, T]]) -> set[str]:
    """The names, folded, that kept objects gave up."""
    return {folded(old) for old, new in kept if old.name and folded(old) != folded(new)}


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
