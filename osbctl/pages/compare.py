"""The plans of a service offering side by side: a row for what each says, numbers beside numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from osbctl.catalog import ServicePlan
from osbctl.redaction import Redactor
from osbctl.views.words import Prices, number, yes

NONE, HAS = "–", "✓"
MAX_ROWS = 100
"""More rows are not compared."""

_KNOWN = {"displayName", "bullets", "costs", "imageUrl"}
_JOINTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+")
_AMOUNT = re.compile(
    r"(?<![\w.])(?:up to )?[~≤<]?\d[\d.,]*(?:\s?(?:[KMGTP]i?B|bytes|%|ms|seconds?|minutes?|hours?|days?)(?!\w))?",
    re.IGNORECASE,
)


class Row(NamedTuple):
    """One line of the comparison: a cell for each plan, in the order of the catalog."""

    label: str
    cells: tuple[str, ...]
    same: bool


def rows(
    plans: Sequence[ServicePlan], prices: Sequence[Prices], bullets: Sequence[Sequence[str]], secrets: Redactor
) -> list[Row]:
    """Rows of prices, bullets, features and further metadata; none where there is nothing to compare with."""
    if len(plans) < 2:
        return []
    found = [
        *_prices(prices),
        *_aligned([_amounts(lines) for lines in bullets]),
        _row("Bindable", [yes(plan.bindable) for plan in plans]),
        _row("Can be changed", [yes(plan.plan_updateable) for plan in plans]),
        *_aligned(_further(plans, secrets)),
    ]
    return found[:MAX_ROWS]


def _prices(prices: Sequence[Prices]) -> Iterable[Row]:
    currencies = dict.fromkeys(currency for one in prices for currency in one.texts)
    for currency in currencies:
        yield _row(f"{currency} a month".strip(), [one.texts.get(currency, NONE) for one in prices])
    if any(one.others for one in prices):
        yield _row("Further costs" if currencies else "Costs", ["; ".join(one.others) or NONE for one in prices])


def _aligned(plans: Sequence[dict[str, str]]) -> Iterable[Row]:
    """A row for each label, in the order in which the plans bring them."""
    for label in dict.fromkeys(label for plan in plans for label in plan):
        yield _row(label[:1].upper() + label[1:], [plan.get(label, NONE) for plan in plans])


def _amounts(lines: Iterable[str]) -> dict[str, str]:
    found: dict[str, dict[str, None]] = {}
    for label, amount in map(_bullet, lines):
        found.setdefault(label, {})[amount] = None
    return {label: "; ".join(amounts) for label, amounts in found.items()}


def _bullet(line: str) -> tuple[str, str]:
    """Subject and amount of a bullet: `10 GB storage` is `storage` of `10 GB`; the amount may be empty."""
    amounts = _AMOUNT.findall(line)
    label = " ".join(_AMOUNT.sub(" ", line, count=1).split()).strip(" :=-–,")
    return (label, amounts[0].strip(" .,")) if len(amounts) == 1 and label else (line, HAS)


def _further(plans: Sequence[ServicePlan], secrets: Redactor) -> list[dict[str, str]]:
    """Remaining metadata of each plan by readable key; the raw key if two would look the same."""
    keys = dict.fromkeys(key for plan in plans for key in plan.metadata)
    alike = Counter(map(_words, keys))
    return [
        {
            _words(key) if alike[_words(key)] == 1 else key: _value(value, secrets)
            for key, value in plan.metadata.items()
            if key not in _KNOWN and isinstance(value, str | int | float) and not secrets.secret(key)
        }
        for plan in plans
    ]


def _value(value: str | float, secrets: Redactor) -> str:
    return yes(value) if isinstance(value, bool) else secrets.text(value, 300) or number(value)


def _words(key: str) -> str:
    """A key in words: `highAvailability` is `high availability`, `maxIOPS` is `max IOPS`."""
    return " ".join(word if word.isupper() else word.lower() for word in _JOINTS.split(key) if word) or key


def _row(label: str, cells: Sequence[str]) -> Row:
    return Row(label, tuple(cells), len(set(cells)) == 1)
