"""Pairing of old and new objects by id, or by name."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
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
    taken = {id(thing) for pair in pairs for thing in pair}
    for things in (gone, fresh):
        things[:] = [thing for thing in things if id(thing) not in taken]
    return pairs


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
