"""`osbctl params`: the parameters that a plan takes, and the request that a developer sends."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from osbctl.cli import options as common
from osbctl.cli.output import put
from osbctl.cli.terminal import width
from osbctl.platforms.commands import Purpose


class ParamsFormat(StrEnum):
    """How the parameters are shown."""

    TEXT = "text"
    JSON = "json"


def params(
    source: common.Source,
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="The service offering, by name or id.")],
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="The plan, by name or id.")],
    purpose: Annotated[Purpose, typer.Option("--for", help="What the request is for.")] = Purpose.CREATE,
    request: Annotated[
        str | None,
        typer.Option(
            "--parameters",
            "-c",
            metavar="JSON|@FILE",
            help="Check this request: JSON, @FILE for a file, @- for standard input. Put secrets into a file.",
        ),
    ] = None,
    broker: Annotated[
        str, typer.Option("--broker", "-b", metavar="NAME", help="Name this broker in the commands.")
    ] = "",
    format: Annotated[ParamsFormat, typer.Option("--format", "-f", help="How to show it.")] = ParamsFormat.TEXT,
    at: common.At = "",
    stdin_filename: common.StdinFilename = None,
) -> int:
    """Show the parameters of a plan with examples, or check a request and print the commands that send it.

    \b
    osbctl params catalog.yaml postgres small
    osbctl params catalog.yaml postgres small -c '{"size": 3}'
    osbctl params catalog.yaml postgres small -c @params.json --for update
    """
    from osbctl.reports.text_report import finding_lines
    from osbctl.requests import report
    from osbctl.sources.read import read_source
    from osbctl.tasks.params import plan_parameters

    document = read_source(source, at=at, stdin_filename=stdin_filename)
    about = plan_parameters(document, service, plan, purpose, request, broker)
    if format is ParamsFormat.JSON:
        put(json.dumps(report.as_json(about), indent=2) + "\n", None)
    else:
        faults = finding_lines(about.faults) + "\n" if about.faults else ""
        put(faults + "\n".join(report.lines(about, width())) + "\n", None)
    return 1 if about.faults else 0
