"""Comparison table of the plans of a service offering: one row for each price and feature."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from osbctl.catalog import ServicePlan
from osbctl.redaction import Redactor
from osbctl.views.words import Prices, flag, number, yes

NONE, HAS = "–", "✓"
_MARKS = " :=-–.,;!"
MAX_ROWS = 100
"""More rows are not compared."""

_KNOWN = {"displayName", "bullets", "costs", "imageUrl"}
_JOINTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+")
_AMOUNT = re.compile(
    r"(?<![\w.])(?:up to )?[~≤<]?\d[\d.,]*(?:\s?(?:[KMGTP]i?B|bytes|%|ms|seconds?|minutes?|hours?|days?)(?!\w))?",
    re.IGNORECASE,
)


class Feature(NamedTuple):
    """One feature line of a plan: `10 GB fast storage` has the amount `10 GB` and the words of `fast storage`."""

    line: str
    amount: str
    words: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The words as they are compared: without case, marks and the `s` of a plural."""
        return tuple(word.casefold().strip(_MARKS).removesuffix("s") for word in self.words)


_Cells: TypeAlias = Sequence[Sequence[Feature]]


class Row(NamedTuple):
    """One line of the comparison: a cell for each plan, in the order of the catalog."""

    label: str
    cells: tuple[str, ...]
    same: bool


def rows(
    plans: Sequence[ServicePlan], prices: Sequence[Prices], bullets: Sequence[Sequence[str]], secrets: Redactor
) -> list[Row]:
    """Return the rows of prices, feature lines, fields and further metadata; none for a single plan."""
    if len(plans) < 2:
        return []
    found = [
        *_prices(prices),
        *_features([list(map(_feature, lines)) for lines in bullets]),
        _row("Bindable", [flag(plan, "bindable") for plan in plans]),
        _row("Plan can be changed", [flag(plan, "plan_updateable") for plan in plans]),
    ]
    further = _further(plans, secrets)
    labels = dict.fromkeys(label for plan in further for label in plan)
    found += [_row(label, [plan.get(label, NONE) for plan in further]) for label in labels]
    return found[:MAX_ROWS]


def _prices(prices: Sequence[Prices]) -> Iterable[Row]:
    currencies = dict.fromkeys(currency for one in prices for currency in one.monthly)
    for currency in currencies:
        yield _row(f"{currency} a month".strip(), [one.texts.get(currency, NONE) for one in prices])
    if any(one.others for one in prices):
        yield _row("Further costs" if currencies else "Costs", ["; ".join(one.others) or NONE for one in prices])


def _features(plans: _Cells) -> Iterable[Row]:
    """A row for each feature. Lines with one last word share a row, unless a plan has two of them."""
    for cells in _grouped(plans, lambda feature: feature.keys[-1:]):
        if all(len(set(cell)) < 2 for cell in cells):
            yield _feature_row(cells)
        else:
            yield from map(_feature_row, _grouped(cells, lambda feature: feature.keys))


def _grouped(plans: _Cells, key: Callable[[Feature], tuple[str, ...]]) -> Iterable[_Cells]:
    groups: dict[tuple[str, ...], list[list[Feature]]] = {}
    for at, features in enumerate(plans):
        for feature in features:
            groups.setdefault(key(feature), [[] for _ in plans])[at].append(feature)
    return groups.values()


def _feature_row(cells: _Cells) -> Row:
    """A row whose label is the last words that all features have in common; the other words are values."""
    found = [feature for cell in cells for feature in cell]
    lengths = range(1, min(len(feature.words) for feature in found) + 1)
    shared = max((n for n in lengths if len({feature.keys[-n:] for feature in found}) == 1), default=1)
    label = " ".join(found[0].words[-shared:])
    amounts = ["; ".join(dict.fromkeys(_value(feature, shared) for feature in cell)) or NONE for cell in cells]
    return _row(label, amounts)


def _value(feature: Feature, shared: int) -> str:
    """The line without its last `shared` words; where these do not end it, the amount and the other words."""
    written = feature.line.split()
    if feature.words[:-shared] and tuple(written[-shared:]) == feature.words[-shared:]:
        return " ".join(written[:-shared])
    return " ".join(filter(None, [feature.amount, *feature.words[:-shared]])) or HAS


def _feature(line: str) -> Feature:
    amounts = _AMOUNT.findall(line)
    words = " ".join(_AMOUNT.sub(" ", line, count=1).split()).strip(_MARKS)
    if len(amounts) == 1 and words:
        return Feature(line, amounts[0].strip(" .,"), tuple(words.split()))
    return Feature(line, "", tuple(line.split()) or ("",))


def _further(plans: Sequence[ServicePlan], secrets: Redactor) -> list[dict[str, str]]:
    """Remaining metadata of each plan by readable key; the raw key if two would look the same."""
    keys = dict.fromkeys(key for plan in plans for key in plan.metadata)
    alike = Counter(map(_words, keys))
    return [
        {
            _words(key) if alike[_words(key)] == 1 else key: _metadata_text(value, secrets)
            for key, value in plan.metadata.items()
            if key not in _KNOWN and isinstance(value, str | int | float) and not secrets.secret(key)
        }
        for plan in plans
    ]


def _metadata_text(value: str | float, secrets: Redactor) -> str:
    return yes(value) if isinstance(value, bool) else secrets.text(value, 300) or number(value)


def _words(key: str) -> str:
    """A key in words: `highAvailability` is `high availability`, `maxIOPS` is `max IOPS`."""
    return " ".join(word if word.isupper() else word.lower() for word in _JOINTS.split(key) if word) or key


def _row(label: str, cells: Sequence[str]) -> Row:
    return Row(label[:1].upper() + label[1:], tuple(cells), len(set(cells)) == 1)
