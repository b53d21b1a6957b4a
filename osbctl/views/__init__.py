"""From a catalog to something that people read; phrases for plans and prices that all views share.

All text is safe to print.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.text import escape_line

_LARGE = 10**12
"""Larger amounts are not formatted."""
_MONTHLY = {"monthly", "month", "per month", "a month", "/month", "/ month", "each month", "mo", "per mo"}
_PERIODS = {"hourly": "an hour", "daily": "a day", "weekly": "a week", "yearly": "a year", "annually": "a year"}


class Prices(NamedTuple):
    """`monthly`: total per currency; `others`: costs that are not monthly amounts, as text."""

    monthly: dict[str, Decimal]
    others: list[str]

    @property
    def monthly_texts(self) -> dict[str, str]:
        """The monthly totals, formatted."""
        return {currency: format_amount(total) for currency, total in self.monthly.items()}


def parse_prices(plan: ServicePlan) -> Prices:
    """The prices of `plan`, currencies in the order of the catalog."""
    prices = Prices({}, [])
    entries = plan.metadata.get("costs")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            _add_cost(prices, entry)
    return prices


def _add_cost(prices: Prices, entry: Mapping[str, Any]) -> None:
    unit = escape_line(str(entry.get("unit") or "")).strip()
    is_monthly = " ".join(re.split(r"[\s_-]+", unit.casefold())).strip() in _MONTHLY
    amounts = entry.get("amount")
    if not isinstance(amounts, dict):
        amounts = {"": "" if amounts is None else amounts}
    for name, amount in amounts.items():
        currency = escape_line(name).upper()
        if is_monthly and (value := _to_decimal(amount)) is not None:
            prices.monthly[currency] = prices.monthly.get(currency, Decimal()) + value
        else:
            text = f"{format_amount(amount)} {currency}".strip()
            period = _PERIODS.get(unit.casefold(), "")
            prices.others.append(f"{text} {period}" if text and period else " / ".join(filter(None, (text, unit))))


def format_amount(amount: Any) -> str:
    """Format an amount: `1,200`, or with two decimals; other values as text."""
    value = _to_decimal(amount)
    if value is None:
        return escape_line(str(amount))
    if abs(value) >= _LARGE:
        return str(value)
    whole = int(value)
    if value == whole:
        return f"{whole:,}"
    return f"{value:,.2f}" if value == round(value, 2) else str(value)


def _to_decimal(amount: Any) -> Decimal | None:
    if isinstance(amount, Decimal):
        return amount
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        return None
    # Twelve digits: a price that a program computed ends in binary noise, such as 52.44000000000001.
    return Decimal(f"{amount:.12g}" if isinstance(amount, float) else amount)


def price_phrases(plan: ServicePlan) -> list[str]:
    """The prices of a plan as phrases, such as `99 USD or 79 EUR a month`."""
    prices = parse_prices(plan)
    monthly = " or ".join(f"{total} {currency}".strip() for currency, total in prices.monthly_texts.items())
    return [*([f"{monthly} a month"] if monthly else []), *filter(None, prices.others)]


def bullets(plan: ServicePlan) -> list[str]:
    """The bullets of a plan."""
    lines = plan.metadata.get("bullets")
    return [escape_line(line) for line in lines if isinstance(line, str)] if isinstance(lines, list) else []


def plan_status(plan: ServicePlan) -> str:
    """`free`, `paid` or `unclear` (see `ServicePlan.unclear`), and the deprecation of the plan."""
    word = "unclear" if "free" in plan.unclear else "free" if plan.free else "paid"
    return ", ".join([word, *_deprecation_phrases(plan)])


def is_free(plan: ServicePlan) -> bool:
    """Return whether a plan is certainly free."""
    return plan.free and "free" not in plan.unclear


def yes_or_no(value: bool) -> str:
    """`yes` or `no`."""
    return "yes" if value else "no"


def flag_text(item: ServiceOffering | ServicePlan, key: Literal["bindable", "plan_updateable"]) -> str:
    """`yes`, `no`, or `unclear` if the catalog has something else than a boolean."""
    return "unclear" if key in item.unclear else yes_or_no(getattr(item, key))


def bindable_text(item: ServiceOffering | ServicePlan) -> str:
    """`bindable`, `not bindable`, or that it is unclear."""
    return {"yes": "bindable", "no": "not bindable"}.get(flag_text(item, "bindable"), "bindable: unclear")


def feature_phrases(service: ServiceOffering) -> list[str]:
    """Properties of an offering in short phrases."""
    phrases = [bindable_text(service)]
    phrases += ["plan can be changed"] if service.plan_updateable else []
    phrases += ["shareable"] if service.metadata.get("shareable") is True else []
    phrases += [f"tags: {', '.join(map(escape_line, service.tags))}"] if service.tags else []
    return phrases + _deprecation_phrases(service)


def _deprecation_phrases(item: ServiceOffering | ServicePlan) -> list[str]:
    if not item.is_deprecated:
        return []
    return [f"deprecated, available until {item.sunset}" if item.sunset else "deprecated"]
