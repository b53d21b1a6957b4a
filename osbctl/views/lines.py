"""A catalog as plain text: one line a plan, tab-separated lines, one service offering in detail, and Markdown."""

import re
from collections.abc import Iterator, Sequence

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.parameter_table import Parameter, parameters
from osbctl.paths import PARAMETER_PLACES
from osbctl.text import AnsiStyle, cut_to_width, display_width, escape_line, plural, wrap_line
from osbctl.views import bullets, feature_phrases, flag_text, plan_status, price_phrases, yes_or_no

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
    services, plans = catalog.counts
    totals = f"{plural(services, 'service offering')}, {plural(plans, 'plan')}"
    yield paint(f"{totals}; in full with --long, or --service NAME" if services else totals, "dim")


def _service_rows(service: ServiceOffering) -> Iterator[tuple[str, str, str, str]]:
    name = escape_line(service.name) or "(no name)"
    if not service.plans:
        yield name, "(no plan)", "", escape_line(service.description)
    for plan in service.plans:
        prices, status = price_phrases(plan), plan_status(plan)
        if prices:  # they say that it is paid
            status = status.removeprefix("paid").removeprefix(", ")
        price = ", ".join(filter(None, [status, *prices]))
        yield name, escape_line(plan.name) or "(no name)", price, escape_line(plan.description)


def _format_row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cut_to_width(cell, width) for cell, width in zip(row, widths, strict=True)]
    padded = (cell + " " * (width - display_width(cell)) for cell, width in zip(cells, widths, strict=True))
    return GAP.join(padded).rstrip()


COLUMNS = ("SERVICE", "PLAN", "PRICE", "BINDABLE", "COSTS", "BULLETS", "SERVICE ID", "PLAN ID", "DESCRIPTION")
_LINKS = {
    "displayName": "Display name",
    "providerDisplayName": "Provider",
    "longDescription": "About",
    "documentationUrl": "Documentation",
    "supportUrl": "Support",
}


def catalog_lines(catalog: Catalog) -> Iterator[str]:
    """Tab-separated lines: a header, then one per plan. An offering without plans has a line with empty columns."""
    yield "\t".join(COLUMNS)
    for service in catalog.services:
        name, id_ = escape_line(service.name), escape_line(service.id)
        for plan in service.plans:
            costs, includes = "; ".join(price_phrases(plan)), "; ".join(bullets(plan))
            status, bindable = plan_status(plan), flag_text(plan, "bindable")
            middle = (status, bindable, costs, includes, id_, escape_line(plan.id))
            yield "\t".join((name, escape_line(plan.name), *middle, escape_line(plan.description)))
        if not service.plans:
            yield "\t".join((name, "", "", "", "", "", id_, "", escape_line(service.description)))


def offering_lines(service: ServiceOffering, paint: AnsiStyle, width: int = 0) -> Iterator[str]:
    """The offering, its display information, its plans and their parameters, wrapped to `width` columns (0: not)."""
    yield wrap_line(paint(escape_line(service.name), "bold"), width, "  ")
    links = {label: escape_line(str(value)) for key, label in _LINKS.items() if (value := service.metadata.get(key))}
    facts = {
        "Id": escape_line(service.id),
        "Description": escape_line(service.description),
        "Features": ", ".join(feature_phrases(service)),
        **links,
    }
    for label, text in facts.items():
        yield wrap_line(f"  {paint(f'{label:<13}', 'dim')}  {text}", width, " " * 17)
    for plan in service.plans:
        yield ""
        yield wrap_line(f"  Plan {paint(escape_line(plan.name), 'bold')}", width, " " * 7)
        facts = {
            "Id": escape_line(plan.id),
            "Description": escape_line(plan.description),
            "Price": "; ".join([plan_status(plan), *price_phrases(plan)]),
            "Bindable": flag_text(plan, "bindable"),
        }
        for label, text in facts.items():
            yield wrap_line(f"    {paint(f'{label:<11}', 'dim')}  {text}", width, " " * 17)
        yield from (wrap_line(f"    • {line}", width, " " * 6) for line in bullets(plan))
    for place in PARAMETER_PLACES:
        yield from _parameter_lines(".".join(place), service.plans, paint, width)


def _parameter_lines(place: str, plans: Sequence[ServicePlan], paint: AnsiStyle, width: int) -> Iterator[str]:
    """The parameters of all plans at one place, each once; if plans differ, each variant lists its plans."""
    described = [plan for plan in plans if place in plan.parameters]
    if not described:
        return
    only_for = _format_plan_names(described) if len(described) < len(plans) else ""
    yield ""
    yield wrap_line(f"  Parameters of {paint(place, 'bold')}{only_for}:", width, " " * 6)
    rows: dict[str, list[tuple[Parameter, ServicePlan]]] = {}
    for plan in described:
        for row in parameters(plan.parameters[place]):
            rows.setdefault(row.name, []).append((row, plan))
    if not rows:
        yield "    none described"
    column = min(max(map(display_width, rows), default=0), width // 3 or 1_000)
    for name, variants in rows.items():
        head = f"{paint(name, 'info')}{' ' * (column - display_width(name))}"
        for text, owners in _variants_by_plans(variants):
            suffix = paint(_format_plan_names(owners), "dim") if 0 < len(owners) < len(described) else ""
            yield wrap_line(f"    {head}  {text}{suffix}", width, " " * (column + 6))
            head = " " * column


def _variants_by_plans(rows: Sequence[tuple[Parameter, ServicePlan]]) -> Iterator[tuple[str, Sequence[ServicePlan]]]:
    """Facts of one parameter with their plans, then its description without plans."""
    for description in dict.fromkeys(row.description for row, _ in rows):
        same = [(row.summary, plan) for row, plan in rows if row.description == description]
        for facts in dict.fromkeys(facts for facts, _ in same):
            yield facts, [plan for other, plan in same if other == facts]
        if description:
            yield description, ()


def _format_plan_names(plans: Sequence[ServicePlan]) -> str:
    names = ", ".join(escape_line(plan.name) or "(no name)" for plan in plans)
    return f" (plan{'s' if len(plans) > 1 else ''} {names})" if plans else ""


_DOTS = re.compile(r"(\bwww|^\s*\d+)\.", re.IGNORECASE)
"""Dots that would create a link or a list item."""
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|<>~&$@:-])")


def markdown_lines(catalog: Catalog) -> Iterator[str]:
    """The lines of the page. Text of the catalog is escaped, including links."""
    for service in catalog.services:
        yield f"## {_escape(service.name) or '(no name)'}"
        yield ""
        yield _escape(service.description)
        yield ""
        yield f"{_code_span(service.id)} — {_escape(', '.join(feature_phrases(service)))}"
        yield ""
        yield "| Plan | Description | Price | Bindable | Includes | Id |"
        yield "|---|---|---|---|---|---|"
        for plan in service.plans:
            price = "<br>".join(map(_escape, (plan_status(plan), *price_phrases(plan))))
            includes = "<br>".join(map(_escape, bullets(plan)))
            cells = (_escape(plan.name), _escape(plan.description), price, flag_text(plan, "bindable"), includes)
            yield f"| {' | '.join(cells)} | {_code_span(plan.id)} |"
        yield ""
        for plan in service.plans:
            yield from _parameter_tables(plan)


def _parameter_tables(plan: ServicePlan) -> Iterator[str]:
    for place, schema in plan.parameters.items():
        rows = list(parameters(schema))
        if rows:
            yield f"Parameters of plan {_escape(plan.name)}, {_escape(place)}:"
            yield ""
            yield "| Name | Type | Required | Default | Description |"
            yield "|---|---|---|---|---|"
            for row in rows:
                cells = (row.name, row.full_type, yes_or_no(row.required), row.default, row.description)
                yield f"| {' | '.join(map(_escape, cells))} |"
            yield ""


def _escape(text: str) -> str:
    text = _DOTS.sub(r"\1\\.", _MARKUP.sub(r"\\\1", escape_line(text)))
    return text.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\&", "&amp;")


def _code_span(text: str) -> str:
    shown = escape_line(text).replace("`", "'").replace("|", "\\|")
    return f"`{shown}`" if shown.strip() else "(no id)"
