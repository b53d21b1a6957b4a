"""`osbctl show`: print a catalog for people."""

import sys
from typing import Annotated, Literal

from osbctl.catalog import Catalog
from osbctl.commands import options as common
from osbctl.commands.connection import read_catalog
from osbctl.commands.options import Option
from osbctl.commands.output import terminal_width, use_color, wrap_width, write_json, write_lines, write_output
from osbctl.commands.settings import find_by_name_or_id
from osbctl.text import AnsiStyle


def show(
    source: common.Source,
    service: Annotated[
        str | None,
        Option(
            "Show this service offering, by name or id, in full.",
            "--service",
            "-s",
            metavar="NAME",
            complete="services",
        ),
    ] = None,
    long: Annotated[bool, Option("Show every plan in full, not one line each.", "--long", "-l")] = False,
    format: Annotated[
        Literal["table", "json", "yaml", "markdown"], Option("Output format.", "--format", "-f")
    ] = "table",
    stdin_filename: common.StdinFilename = None,
    color: common.ColorChoice = "auto",
    *,
    where: common.LocationOptions,
) -> int:
    """Show a catalog: one line a plan at a terminal, tab-separated columns in a pipe.

    \b
    osbctl show catalog.yaml
    osbctl show --long catalog.yaml
    osbctl show --service postgres catalog.yaml
    osbctl show --format markdown catalog.yaml > CATALOG.md
    osbctl show --format json catalog.yaml | jq '.services[].name'
    """
    common.check_options_used([source], env=where.env, stdin_filename=stdin_filename)
    document = read_catalog(source, where, stdin_filename=stdin_filename)
    services = document.catalog.services
    chosen = find_by_name_or_id(services, service, "there is no service") if service is not None else None
    if format == "json":
        write_json(chosen.data if chosen else document.data)
    elif format == "yaml":
        from osbctl.sources.yaml_text import dump

        write_output(dump(chosen.data if chosen else document.data))
    else:
        catalog = document.catalog.redacted
        if chosen:
            catalog = Catalog(tuple(each for each in catalog.services if each.path == chosen.path))
        _print_for_people(catalog, format, color, in_full=bool(chosen), long=long)
    return 0


def _print_for_people(catalog: Catalog, format: str, color: str, *, in_full: bool, long: bool) -> None:
    """Print a redacted catalog as Markdown or a table; `in_full`: its only service offering."""
    from osbctl.views import lines

    if format == "markdown":
        write_lines(lines.markdown_lines(catalog))
    elif in_full:
        (chosen,) = catalog.services
        write_lines(lines.offering_lines(chosen, AnsiStyle(use_color(color, sys.stdout)), wrap_width(sys.stdout)))
    elif long:
        from osbctl.views import table

        write_output(table.render(catalog, terminal_width(), colored=use_color(color, sys.stdout)))
    elif sys.stdout.isatty() or color == "always":
        write_lines(lines.overview_lines(catalog, terminal_width(), AnsiStyle(use_color(color, sys.stdout))))
    else:
        write_lines(lines.catalog_lines(catalog))
