"""`osbctl show` and `osbctl params`: print a catalog, or the parameters of a plan, for people."""

import sys
from typing import Annotated, Literal

from typer import Argument, Option

from osbctl.catalog import Catalog
from osbctl.cli import common
from osbctl.cli.connection import read_catalog
from osbctl.cli.output import terminal_width, use_color, wrap_width, write_json, write_lines, write_output
from osbctl.errors import UsageError
from osbctl.platforms import Platform, chosen_or_all
from osbctl.platforms.tools import Purpose
from osbctl.tasks.options import chosen_platforms, find_by_name_or_id, first_config
from osbctl.text import AnsiStyle


@common.expand_option_groups
def show(
    source: common.Source,
    service: Annotated[
        str | None,
        Option("--service", "-s", metavar="NAME", help="Show this service offering, by name or id, in full."),
    ] = None,
    long: Annotated[bool, Option("--long", "-l", help="Show every plan in full, not one line each.")] = False,
    format: Annotated[
        Literal["table", "json", "yaml", "markdown"], Option("--format", "-f", help="Output format.")
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


@common.expand_option_groups
def params(
    source: common.Source,
    service: Annotated[str, Argument(metavar="SERVICE", help="The service offering, by name or id.")],
    plan: Annotated[str, Argument(metavar="PLAN", help="The plan, by name or id.")],
    purpose: Annotated[Purpose, Option("--for", help="Purpose of the request.")] = Purpose.CREATE,
    request: Annotated[
        str | None,
        Option(
            "--parameters",
            "-c",
            metavar="JSON|@FILE",
            help="Check this request, @- from stdin. Put secrets into a file.",
        ),
    ] = None,
    previous: Annotated[
        str | None,
        Option(
            "--previous",
            metavar="JSON|@FILE",
            help="Parameters sent before an update; the broker of a brokerpak adds them.",
        ),
    ] = None,
    broker: Annotated[str, Option("--broker", "-b", metavar="NAME", help="Name of the broker, for the commands.")] = "",
    platforms: Annotated[
        list[Platform] | None,
        Option("--platform", "-p", help="Print the commands of this platform; repeatable.  [default: all]"),
    ] = None,
    format: common.TextOrJson = "text",
    stdin_filename: common.StdinFilename = None,
    *,
    where: common.LocationOptions,
) -> int:
    """Show the parameters of a plan with examples, or check a request and print the commands that send it.

    \b
    osbctl params catalog.yaml postgres small
    osbctl params catalog.yaml postgres small -c '{"size": 3}'
    osbctl params catalog.yaml postgres small -c @params.json --for update
    """
    from osbctl.reports.text_report import format_findings
    from osbctl.requests import report
    from osbctl.sources.read_bytes import check_stdin_used_once
    from osbctl.tasks.params import plan_parameters

    check_stdin_used_once([source, *("-" for given in (request, previous) if given == "@-")])
    common.check_options_used([source], env=where.env, stdin_filename=stdin_filename)
    if broker and request is None:
        raise UsageError("--broker is for the commands that send a request", "add -c JSON, or leave it out")
    document = read_catalog(source, where, stdin_filename=stdin_filename)
    chosen = chosen_or_all(chosen_platforms(platforms, first_config([source], where.config, stdin_filename)))
    result = plan_parameters(document, service, plan, purpose, request, broker, previous, chosen)
    if format == "json":
        write_json(report.params_json(result))
    else:
        color = use_color("auto", sys.stdout)
        faults = [format_findings(result.faults, color)] if result.faults else []
        write_lines([*faults, *report.params_lines(result, AnsiStyle(color), terminal_width())])
    return 1 if result.faults else 0
