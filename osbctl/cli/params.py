"""`osbctl params`: parameters of a plan, and checks of a request."""

from __future__ import annotations

import sys
from typing import Annotated

from typer import Argument, Option

from osbctl.cli import options as common
from osbctl.cli.output import use_color, width, write_json, write_lines
from osbctl.platforms.commands import Purpose
from osbctl.text import AnsiStyle


@common.spread
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
            help="Check this request: JSON, @FILE for a file, @- for standard input. Put secrets into a file.",
        ),
    ] = None,
    broker: Annotated[str, Option("--broker", "-b", metavar="NAME", help="Name of the broker, for the commands.")] = "",
    format: common.Format = common.TextOrJson.TEXT,
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
    from osbctl.cli.connection import read_catalog
    from osbctl.reports.text_report import finding_lines
    from osbctl.requests import report
    from osbctl.sources.read_bytes import check_stdin
    from osbctl.tasks.params import plan_parameters

    check_stdin([source, "-" if request == "@-" else ""])
    document = read_catalog(source, where, stdin_filename=stdin_filename)
    about = plan_parameters(document, service, plan, purpose, request, broker)
    if format is common.TextOrJson.JSON:
        write_json(report.params_json(about))
    else:
        faults = [finding_lines(about.faults)] if about.faults else []
        write_lines([*faults, *report.params_lines(about, AnsiStyle(use_color("auto", sys.stdout)), width())])
    return 1 if about.faults else 0
