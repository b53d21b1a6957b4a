"""What a plan costs: monthly totals where the unit is known to be a month, everything else as the catalog has it.

`metadata.costs` is a convention of Cloud Foundry (catalog metadata, Cost Object): amounts by currency, and a unit that
is any text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from osbctl.catalog import ServicePlan
from osbctl.text import safe

_LARGE = 10**12
"""From here on, amounts are as they were written."""
_MONTHLY = {"monthly", "month", "per month", "a month", "/month", "/ month", "each month", "mo", "per mo"}


class Costs(NamedTuple):
    """`monthly`: the total of each currency, `texts`: the same for people; `others`: what is no monthly amount."""

    monthly: dict[str, Decimal]
    texts: dict[str, str]
    others: list[str]


def costs(plan: ServicePlan) -> Costs:
    """The costs of `plan`, currencies in the order of the catalog."""
    found = Costs({}, {}, [])
    entries = plan.metadata.get("costs")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            _add(found, entry)
    for currency, total in found.monthly.items():
        found.texts[currency] = amount_text(total)
    return found


def _add(found: Costs, entry: Mapping[str, Any]) -> None:
    unit = safe(str(entry.get("unit") or "")).strip()
    for currency, amount in _amounts(entry.get("amount")):
        if is_monthly(unit) and (value := _decimal(amount)) is not None:
            found.monthly[currency] = found.monthly.get(currency, Decimal()) + value
        else:
            found.others.append(" / ".join(filter(None, (f"{amount_text(amount)} {currency}".strip(), unit))))


def _amounts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for currency, amount in value.items():
            yield _currency(currency), amount
    else:
        yield "", "" if value is None else value


@lru_cache(1_000)
def is_monthly(unit: str) -> bool:
    """Whether a unit means a calendar month."""
    return " ".join(unit.casefold().replace("_", " ").replace("-", " ").split()) in _MONTHLY


@lru_cache(1_000)
def _currency(name: str) -> str:
    return safe(name).upper()


def amount_text(amount: Any) -> str:
    """An amount for people: `1,200`, two decimals where there is one; what is no number as text."""
    value = _decimal(amount)
    if value is None:
        return safe(str(amount))
    if abs(value) >= _LARGE:
        return str(value)
    whole = int(value)
    if value == whole:
        return f"{whole:,}"
    # A float of this size has three decimals to spare, and is written in a third of the time.
    return f"{float(value):,.2f}" if value == round(value, 2) else str(value)


def _decimal(amount: Any) -> Decimal | None:
    if isinstance(amount, Decimal):
        return amount
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        return None
    return Decimal(str(amount))
