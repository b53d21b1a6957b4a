"""Plain lines: a catalog for a pipe, and one service offering in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.parameter_table import parameters
from osbctl.text import cells, safe
from osbctl.views import words

COLUMNS = ("SERVICE", "PLAN", "PRICE", "BINDABLE", "COSTS", "BULLETS", "SERVICE ID", "PLAN ID", "DESCRIPTION")
_LINKS = {
    "displayName": "Display name",
    "providerDisplayName": "Provider",
    "longDescription": "About",
    "documentationUrl": "Documentation",
    "supportUrl": "Support",
}


def catalog_lines(catalog: Catalog) -> Iterator[str]:
    """A line a plan, columns split by tabs, nothing cut and nothing wrapped: a head, then the plans.

    An offering without plans has a line with empty columns.
    """
    yield "\t".join(COLUMNS)
    for service in catalog.services:
        name, id_ = safe(service.name), safe(service.id)
        for plan in service.plans:
            costs, bullets = "; ".join(words.costs(plan)), "; ".join(words.bullets(plan))
            cells = (words.price(plan), words.yes(plan.bindable), costs, bullets, id_, safe(plan.id))
            yield "\t".join((name, safe(plan.name), *cells, safe(plan.description)))
        if not service.plans:
            yield "\t".join((name, "", "", "", "", "", id_, "", safe(service.description)))


def offering_lines(service: ServiceOffering) -> Iterator[str]:
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
