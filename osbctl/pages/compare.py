"""Comparison table of the plans of a service offering: one row for each price and feature."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from osbctl.catalog import ServicePlan
from osbctl.redaction import Redactor
from osbctl.views.words import Prices, flag_text, yes_or_no

NONE, HAS = "–", "✓"
_MARKS = " :=-–.,;!"
MAX_ROWS = 100
"""More rows are not compared; one says how many there are."""

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
    plans: Sequence[ServicePlan], prices: Sequence[Prices], bullets: Sequence[Sequence[str]], redactor: Redactor
) -> list[Row]:
    """Return the rows of prices, feature lines, fields and further metadata; none for a single plan."""
    if len(plans) < 2:
        return []
    result = [
        *_price_rows(prices),
        *_feature_rows(bullets),
        _make_row("Bindable", [flag_text(plan, "bindable") for plan in plans]),
        _make_row("Plan can be changed", [flag_text(plan, "plan_updateable") for plan in plans]),
    ]
    metadata = [_other_metadata(plan, redactor) for plan in plans]
    keys = dict.fromkeys(key for texts in metadata for key in texts)
    result += [_make_row(_key_in_words(key), [texts.get(key, NONE) for texts in metadata]) for key in keys]
    more = [_make_row(f"and {len(result) - MAX_ROWS:,} more rows", [NONE] * len(plans))]
    return result[:MAX_ROWS] + (more if len(result) > MAX_ROWS else [])


def _price_rows(prices: Sequence[Prices]) -> Iterable[Row]:
    currencies = dict.fromkeys(currency for price in prices for currency in price.monthly)
    for currency in currencies:
        yield _make_row(f"{currency} a month".strip(), [price.monthly_texts.get(currency, NONE) for price in prices])
    if any(price.others for price in prices):
        label = "Further costs" if currencies else "Costs"
        yield _make_row(label, ["; ".join(price.others) or NONE for price in prices])


def _feature_rows(bullets: Sequence[Sequence[str]]) -> Iterable[Row]:
    """A row for each feature line; lines that differ only in an amount, such as `10 GB storage`, share a row."""
    labels: dict[str, str] = {}
    cells: dict[str, list[dict[str, None]]] = {}
    for plan, lines in enumerate(bullets):
        for line in lines:
            label, amount = _split_label_and_amount(line)
            key = label.casefold().removesuffix("s")
            labels.setdefault(key, label)
            cells.setdefault(key, [{} for _ in bullets])[plan][amount] = None
    for key, label in labels.items():
        yield _make_row(label, ["; ".join(amounts) or NONE for amounts in cells[key]])


def _split_label_and_amount(line: str) -> tuple[str, str]:
    """The line without its only amount, and the amount; a line without one is a label."""
    amounts = _AMOUNT.findall(line)
    label = " ".join(_AMOUNT.sub(" ", line).split()).strip(_MARKS)
    return (label, amounts[0].strip(" .,")) if len(amounts) == 1 and label else (line, HAS)


def _other_metadata(plan: ServicePlan, redactor: Redactor) -> dict[str, str]:
    """Text of the remaining metadata by key."""
    return {
        key: _format_metadata(value, redactor)
        for key, value in plan.metadata.items()
        if key not in _KNOWN and isinstance(value, str | int | float) and not redactor.must_redact(key)
    }


def _format_metadata(value: str | float, redactor: Redactor) -> str:
    return yes_or_no(value) if isinstance(value, bool) else redactor.redact(value, 300) or str(value)


def _key_in_words(key: str) -> str:
    """A key in words: `highAvailability` is `high availability`, `maxIOPS` is `max IOPS`."""
    return " ".join(word if word.isupper() else word.lower() for word in _JOINTS.split(key) if word) or key


def _make_row(label: str, cells: Sequence[str]) -> Row:
    return Row(label[:1].upper() + label[1:], tuple(cells), len(set(cells)) == 1)
