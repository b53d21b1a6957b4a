"""The parts of a catalog in words, the same in every view. All text is safe to print."""

from __future__ import annotations

from typing import Any

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.text import safe


def costs(plan: ServicePlan) -> list[str]:
    """The prices of a plan, such as `99 USD, 79 EUR / MONTHLY`."""
    entries = plan.metadata.get("costs")
    found = []
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            amount = entry.get("amount")
            prices = amount.items() if isinstance(amount, dict) else ()
            text = ", ".join(f"{number(price)} {safe(str(currency)).upper()}" for currency, price in prices)
            unit = safe(str(entry.get("unit") or ""))
            found.append(" / ".join(part for part in (text, unit) if part))
    return found


def number(value: Any) -> str:
    """A number without needless zeros; anything else as text."""
    return str(int(value)) if type(value) is float and value.is_integer() and abs(value) < 1e15 else safe(str(value))


def bullets(plan: ServicePlan) -> list[str]:
    """The feature lines of a plan."""
    lines = plan.metadata.get("bullets")
    return [safe(line) for line in lines if isinstance(line, str)] if isinstance(lines, list) else []


def price(plan: ServicePlan) -> str:
    """`free` or `paid`, and whether the plan is to go."""
    return ", ".join(["free" if plan.free else "paid", *_deprecated(plan)])


def yes(value: bool) -> str:
    """`yes` or `no`."""
    return "yes" if value else "no"


def facts(service: ServiceOffering) -> list[str]:
    """What an offering says of itself beside its description, in short phrases."""
    words = ["bindable" if service.bindable else "not bindable"]
    words += ["plan can be changed"] if service.plan_updateable else []
    words += ["shareable"] if service.metadata.get("shareable") is True else []
    words += [f"tags: {', '.join(map(safe, service.tags))}"] if service.tags else []
    return words + _deprecated(service)


def _deprecated(thing: ServiceOffering | ServicePlan) -> list[str]:
    if not thing.deprecation:
        return []
    sunset = thing.deprecation.sunset
    return [f"deprecated, available until {sunset}" if sunset else "deprecated"]
