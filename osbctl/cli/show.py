"""`osbctl show`: print a catalog for people."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, Any

from typer import Option

from osbctl.catalog import Catalog
from osbctl.cli import options as common
from osbctl.cli.output import use_color, width, wrap_width, write_lines, write_output
from osbctl.tasks.rules import object_named
from osbctl.text import AnsiStyle, json_text


class ShowFormat(StrEnum):
    """Format of a shown catalog."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    MARKDOWN = "markdown"


@common.spread
def show(
    source: common.Source,
    service: Annotated[
        str | None,
        Option("--service", "-s", metavar="NAME", help="Show this service offering, by name or id, in full."),
    ] = None,
    format: Annotated[ShowFormat, Option("--format", "-f", help="Output format.")] = ShowFormat.TABLE,
    stdin_filename: common.StdinFilename = None,
    color: common.ColorChoice = common.Color.AUTO,
    *,
    where: common.LocationOptions,
) -> int:
    """Show a catalog: a table at a terminal, tab-separated columns in a pipe.

    \b
    osbctl show catalog.yaml
    osbctl show --service postgres catalog.yaml
    osbctl show --format markdown catalog.yaml > CATALOG.md
    osbctl show --format json catalog.yaml | jq '.services[].name'
    """
    from osbctl.cli.connection import read_catalog

    document = read_catalog(source, where, stdin_filename=stdin_filename)
    catalog = document.catalog
    chosen = object_named(catalog.services, service, "there is no service") if service is not None else None
    if format in (ShowFormat.JSON, ShowFormat.YAML):
        write_output(_data(chosen.data if chosen else document.data, format))
    elif format is ShowFormat.MARKDOWN:
        from osbctl.views import markdown

        write_lines(markdown.markdown_lines(Catalog((chosen,)) if chosen else catalog))
    elif chosen:
        from osbctl.views import plain

        write_lines(plain.offering_lines(chosen, AnsiStyle(use_color(color.value, sys.stdout)), wrap_width(sys.stdout)))
    else:
        _table(catalog, color)
    return 0


def _data(data: Any, view: ShowFormat) -> str:
    if view is ShowFormat.JSON:
        return json_text(data)
    from osbctl.sources.yaml_text import dump

    return dump(data)


def _table(catalog: Catalog, color: common.Color) -> None:
    if not sys.stdout.isatty() and color is not common.Color.ALWAYS:
        from osbctl.views import plain

        write_lines(plain.catalog_lines(catalog))
        return
    from osbctl.views import table

    write_output(table.render(catalog, width(), colored=use_color(color.value, sys.stdout)))
