"""A catalog as tables for a terminal: one per service offering, with a row per plan."""

from collections.abc import Iterator
from io import StringIO

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from osbctl.catalog import Catalog, ServiceOffering
from osbctl.text import display_width, escape_line, plural
from osbctl.views import bindable_text, bullets, feature_phrases, flag_text, is_free, plan_status, price_phrases

NARROW = 100
"""On a narrower terminal, plans are a list, because a table would be cut."""

GUID = 36
"""Length of a GUID; the column of names and ids is wide enough for one."""


def render(catalog: Catalog, width: int, *, colored: bool) -> str:
    """Render `catalog` for a terminal of `width` columns, with long cells wrapped.

    As a string, because rich's own printing exits with 1 at a broken pipe.
    """
    file = StringIO()
    # With a width but no height, rich assumes 80 columns if TERM is dumb.
    console = Console(
        file=file, width=width, height=25, color_system="standard" if colored else None, no_color=not colored,
        force_terminal=colored, highlight=False,
    )  # fmt: skip
    for part in _catalog_parts(catalog, width):
        console.print(part)
    return file.getvalue()


def _catalog_parts(catalog: Catalog, width: int) -> Iterator[RenderableType]:
    for service in catalog.services:
        head = Text().append(escape_line(service.name) or "(no name)", style="bold")
        gap = "\n" if width < NARROW else "  "
        yield head.append(f"{gap}{escape_line(service.id)}", style="dim")
        yield Text(escape_line(service.description))
        yield Text(", ".join(feature_phrases(service)), style="dim")
        yield from _plan_list(service) if width < NARROW else [_plan_table(service)]
    services, plans = catalog.counts
    yield Text(f"{plural(services, 'service offering')}, {plural(plans, 'plan')}", style="dim")


def _plan_table(service: ServiceOffering) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", leading=1)
    longest = max(
        (display_width(escape_line(text)) for plan in service.plans for text in (plan.name, plan.id)), default=0
    )
    table.add_column("Plan", overflow="fold", width=max(4, min(GUID, longest)))
    table.add_column("Description", overflow="fold", ratio=2)
    table.add_column("Price", overflow="fold")
    table.add_column("Bindable")
    if any(bullets(plan) for plan in service.plans):
        table.add_column("Includes", overflow="fold", ratio=2)
    for plan in service.plans:
        price = Text(plan_status(plan), style="green" if is_free(plan) else "yellow")
        for cost in price_phrases(plan):
            price.append(f"\n{cost}", style="default")
        features = "\n".join(f"• {line}" for line in bullets(plan))
        name = Text().append(escape_line(plan.name), style="bold").append(f"\n{escape_line(plan.id)}", style="dim")
        row = name, Text(escape_line(plan.description)), price, Text(flag_text(plan, "bindable")), Text(features)
        table.add_row(*row[: len(table.columns)])
    return table


def _plan_list(service: ServiceOffering) -> Iterator[RenderableType]:
    for plan in service.plans:
        name = Text(f"\n  {escape_line(plan.name)}", style="bold")
        yield name.append(f"  {plan_status(plan)}, {bindable_text(plan)}", style="not bold")
        yield Text(f"    {escape_line(plan.id)}", style="dim", overflow="fold")
        lines = (escape_line(plan.description), *price_phrases(plan))
        yield from (Padding(Text(line, overflow="fold"), (0, 0, 0, 4), expand=False) for line in lines)
        for line in bullets(plan):
            hanging = Table.grid(padding=(0, 1, 0, 0))
            hanging.add_row(Text("    •"), Text(line, overflow="fold"))
            yield hanging
    yield Text("")
