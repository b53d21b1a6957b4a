"""A catalog in a terminal as one line a plan, in the habit of `cf marketplace`."""

from collections.abc import Iterator, Sequence

from osbctl.catalog import Catalog, ServiceOffering
from osbctl.text import AnsiStyle, cut_to_width, display_width, escape_line, plural
from osbctl.views import words

HEADINGS = ("service", "plan", "price", "description")
GAP = "   "
WIDEST = 32
"""Terminal cells that a column before the description takes at most."""


def overview_lines(catalog: Catalog, width: int, paint: AnsiStyle) -> Iterator[str]:
    """The lines of the table, each cut to `width` terminal cells; names are cut only where they leave no room."""
    rows = [row for service in catalog.services for row in _service_rows(service)]
    room = max(30, width) - 3 * len(GAP)
    widths = [min(WIDEST, max(map(display_width, column))) for column in list(zip(HEADINGS, *rows, strict=True))[:3]]
    while sum(widths) > room - room // 4:  # the description keeps a quarter
        widths[widths.index(max(widths))] -= 1
    widths.append(room - sum(widths))
    yield paint(_format_row(HEADINGS, widths), "bold")
    yield from (_format_row(row, widths) for row in rows)
    services, plans = len(catalog.services), sum(1 for _ in catalog.plans)
    totals = f"{plural(services, 'service offering')}, {plural(plans, 'plan')}"
    yield paint(f"{totals}; in full with --long, or --service NAME" if services else totals, "dim")


def _service_rows(service: ServiceOffering) -> Iterator[tuple[str, str, str, str]]:
    name = escape_line(service.name) or "(no name)"
    if not service.plans:
        yield name, "(no plan)", "", escape_line(service.description)
    for plan in service.plans:
        prices, status = words.price_phrases(plan), words.plan_status(plan)
        if prices:  # they say that it is paid
            status = status.removeprefix("paid").removeprefix(", ")
        price = ", ".join(filter(None, [status, *prices]))
        yield name, escape_line(plan.name) or "(no name)", price, escape_line(plan.description)


def _format_row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cut_to_width(cell, width) for cell, width in zip(row, widths, strict=True)]
    padded = (cell + " " * (width - display_width(cell)) for cell, width in zip(cells, widths, strict=True))
    return GAP.join(padded).rstrip()
