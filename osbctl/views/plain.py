"""A catalog for a pipe: a line a plan, columns split by tabs, nothing cut and nothing wrapped."""

from __future__ import annotations

from collections.abc import Iterator

from osbctl.catalog import Catalog
from osbctl.text import safe
from osbctl.views import words

COLUMNS = ("SERVICE", "PLAN", "PRICE", "BINDABLE", "COSTS", "BULLETS", "SERVICE ID", "PLAN ID", "DESCRIPTION")


def lines(catalog: Catalog) -> Iterator[str]:
    """The lines: a head, then one for each plan; an offering without plans has one with empty columns."""
    yield "\t".join(COLUMNS)
    for service in catalog.services:
        name, id_ = safe(service.name), safe(service.id)
        for plan in service.plans:
            costs, bullets = "; ".join(words.costs(plan)), "; ".join(words.bullets(plan))
            cells = (words.price(plan), words.yes(plan.bindable), costs, bullets, id_, safe(plan.id))
            yield "\t".join((name, safe(plan.name), *cells, safe(plan.description)))
        if not service.plans:
            yield "\t".join((name, "", "", "", "", "", id_, "", safe(service.description)))
