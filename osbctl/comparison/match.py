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
    """`kept` in both, `removed` only on the old side, `added` only on the new one, each in order."""

    kept: list[tuple[T, T]]
    removed: list[T]
    added: list[T]


def match_by_id(old: Sequence[T], new: Sequence[T]) -> Match[T]:
    """Match by id. Of several objects of one id (or none), those of one name are matched first, the others in order."""
    both = {(item.id, item.name) for item in old} & {(item.id, item.name) for item in new}
    old_by_key, new_by_key = _index_by_id_and_number(old, both), _index_by_id_and_number(new, both)
    return Match(
        [(item, new_by_key[key]) for key, item in old_by_key.items() if key in new_by_key],
        [item for key, item in old_by_key.items() if key not in new_by_key],
        [item for key, item in new_by_key.items() if key not in old_by_key],
    )


def pop_pairs_by_name(removed: list[T], added: list[T]) -> list[tuple[T, T]]:
    """Remove pairs of one name from both lists and return them; case and outer blanks do not count."""
    waiting = {fold_name(item): item for item in reversed(added) if item.name}
    pairs = []
    for item in list(removed):
        if fold_name(item) in waiting:
            other = waiting.pop(fold_name(item))
            pairs.append((item, other))
    taken = {id(item) for pair in pairs for item in pair}
    for items in (removed, added):
        items[:] = [item for item in items if id(item) not in taken]
    return pairs


def fold_name(item: Identified) -> str:
    """The name without case and outer blanks. How platforms compare names stands in their `updates`."""
    return item.name.strip().lower()


def _index_by_id_and_number(items: Sequence[T], counted_first: set[tuple[str, str]]) -> dict[tuple[str, int], T]:
    """Objects by id and a running number among those of one id; those in `counted_first` come first, by name."""
    counts: Counter[str] = Counter()
    numbers = {}
    named = sorted((item for item in items if (item.id, item.name) in counted_first), key=lambda item: item.name)
    others = (item for item in items if (item.id, item.name) not in counted_first)
    for item in (*named, *others):
        numbers[id(item)] = counts[item.id]
        counts[item.id] += 1
    return {(item.id, numbers[id(item)]): item for item in items}
