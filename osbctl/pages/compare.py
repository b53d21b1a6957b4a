"""Comparison table of the plans of a service offering: one row for each price and feature."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from osbctl.catalog import ServicePlan
from osbctl.redaction import Redactor
from osbctl.views.words import Prices, flag, yes

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
        *_features(bullets),
        _row("Bindable", [flag(plan, "bindable") for plan in plans]),
        _row("Plan can be changed", [flag(plan, "plan_updateable") for plan in plans]),
    ]
    further = [_further(plan, secrets) for plan in plans]
    keys = dict.fromkeys(key for texts in further for key in texts)
    found += [_row(_words(key), [texts.get(key, NONE) for texts in further]) for key in keys]
    return found[:MAX_ROWS]


def _prices(prices: Sequence[Prices]) -> Iterable[Row]:
    currencies = dict.fromkeys(currency for one in prices for currency in one.monthly)
    for currency in currencies:
        yield _row(f"{currency} a month".strip(), [one.texts.get(currency, NONE) for one in prices])
    if any(one.others for one in prices):
        yield _row("Further costs" if currencies else "Costs", ["; ".join(one.others) or NONE for one in prices])


def _features(plans: Sequence[Sequence[str]]) -> Iterable[Row]:
    """A row for each feature line; lines that differ only in an amount, such as `10 GB storage`, share a row."""
    labels: dict[str, str] = {}
    cells: dict[str, list[dict[str, None]]] = {}
    for at, lines in enumerate(plans):
        for line in lines:
            label, amount = _label_and_amount(line)
            key = label.casefold().removesuffix("s")
            labels.setdefault(key, label)
            cells.setdefault(key, [{} for _ in plans])[at][amount] = None
    for key, label in labels.items():
        yield _row(label, ["; ".join(amounts) or NONE for amounts in cells[key]])


def _label_and_amount(line: str) -> tuple[str, str]:
    """The line without its only amount, and the amount; a line without one is a label."""
    amounts = _AMOUNT.findall(line)
    label = " ".join(_AMOUNT.sub(" ", line).split()).strip(_MARKS)
    return (label, amounts[0].strip(" .,")) if len(amounts) == 1 and label else (line, HAS)


def _further(plan: ServicePlan, secrets: Redactor) -> dict[str, str]:
    """Text of the remaining metadata by key."""
    return {
        key: _metadata_text(value, secrets)
        for key, value in plan.metadata.items()
        if key not in _KNOWN and isinstance(value, str | int | float) and not secrets.secret(key)
    }


def _metadata_text(value: str | float, secrets: Redactor) -> str:
    return yes(value) if isinstance(value, bool) else secrets.text(value, 300) or str(value)


def _words(key: str) -> str:
    """A key in words: `highAvailability` is `high availability`, `maxIOPS` is `max IOPS`."""
    return " ".join(word if word.isupper() else word.lower() for word in _JOINTS.split(key) if word) or key


def _row(label: str, cells: Sequence[str]) -> Row:
    return Row(label[:1].upper() + label[1:], tuple(cells), len(set(cells)) == 1)
