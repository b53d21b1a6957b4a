"""One service offering in full, as plain lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.jsonschemas.parameters import parameters
from osbctl.text import cells, safe
from osbctl.views import words

_LINKS = {
    "displayName": "Display name",
    "providerDisplayName": "Provider",
    "longDescription": "About",
    "documentationUrl": "Documentation",
    "supportUrl": "Support",
}


def lines(service: ServiceOffering) -> Iterator[str]:
    """The offering, its display information, and each plan with its parameters."""
    yield safe(service.name)
    yield f"  Id             {safe(service.id)}"
    yield f"  Description    {safe(service.description)}"
    yield f"  Features       {', '.join(words.facts(service))}"
    for key, label in _LINKS.items():
        if value := service.metadata.get(key):
            yield f"  {label:<14} {safe(str(value))}"
    for plan in service.plans:
        yield ""
        yield from _plan(plan)


def _plan(plan: ServicePlan) -> Iterator[str]:
    yield f"  Plan {safe(plan.name)}"
    yield f"    Id           {safe(plan.id)}"
    yield f"    Description  {safe(plan.description)}"
    yield f"    Price        {'; '.join([words.price(plan), *words.costs(plan)])}"
    yield f"    Bindable     {words.yes(plan.bindable)}"
    for line in words.bullets(plan):
        yield f"    • {line}"
    for place, schema in plan.parameters.items():
        yield f"    Parameters of {place}:"
        yield from _parameters(schema)


def _parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    rows = list(parameters(schema))
    if not rows:
        yield "      none described"
    width = max((cells(row.name) for row in rows), default=0)
    for row in rows:
        yield f"      {row.name}{' ' * (width - cells(row.name))}  {row.facts}"
        if row.description:
            yield f"      {' ' * width}  {row.description}"
