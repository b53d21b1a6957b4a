"""Spellings of a number: 1 and 1.0 are equal, but only one of them is an integer in draft-04 (validation, 3.5)."""

from collections.abc import Iterable
from itertools import product

from osbctl.paths import JsonValue, entries

_MAX_NUMBERS = 8
"""Numbers in one value that are tried in both spellings: 256 values."""


def list_spellings(values: Iterable[JsonValue]) -> list[JsonValue] | None:
    """The values, each followed by its other spellings; None if one of them has too many."""
    found: list[JsonValue] = []
    for value in values:
        if _count_whole_numbers(value) > _MAX_NUMBERS:
            return None
        found += _spell(value)
    return found


def has_needless_point(value: JsonValue) -> bool:
    """Return whether a whole number in the value is written as 1.0."""
    is_pointed = isinstance(value, float) and value.is_integer()
    return is_pointed or any(has_needless_point(inner) for _, inner in entries(value))


def _count_whole_numbers(value: JsonValue) -> int:
    return len(_spell_number(value)) // 2 + sum(_count_whole_numbers(inner) for _, inner in entries(value))


def _spell(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return [dict(zip(value, inner, strict=True)) for inner in product(*map(_spell, value.values()))]
    if isinstance(value, list):
        return [list(inner) for inner in product(*map(_spell, value))]
    return _spell_number(value)


def _spell_number(value: JsonValue) -> list[JsonValue]:
    """The number as it is, and then in its other spelling if it has one; a value that is no number alone."""
    if isinstance(value, float) and value.is_integer():
        return [value, int(value)]
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            other = float(value)
        except OverflowError:  # from about 1.8e308
            return [value]
        return [value, other] if other == value else [value]
    return [value]
