"""`osbctl params`: parameters of a plan with examples, checks of a request, and their report."""

import json
import sys
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from osbctl.catalog import ServicePlan
from osbctl.commands import options as common
from osbctl.commands.connection import read_catalog
from osbctl.commands.options import Argument, Option
from osbctl.commands.output import terminal_width, use_color, write_json, write_lines
from osbctl.commands.settings import chosen_platforms, find_by_name_or_id, first_config
from osbctl.errors import UsageError
from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.messages import may_be_secret_name, redact
from osbctl.parameter_table import Parameter, parameters
from osbctl.paths import get_at, pointer
from osbctl.platforms import Platform, chosen_or_all
from osbctl.platforms.tools import PARAMETERS_FILE, ProvisionRequest, Purpose
from osbctl.reports.text_report import format_findings
from osbctl.requests import (
    Command,
    Examples,
    as_go_compiles,
    build_commands,
    describe_inputs,
    generate_broker_examples,
    generate_examples,
    judge_request,
    request_errors,
)
from osbctl.sources.document import Document, not_object_finding, parse_document
from osbctl.sources.read import read_object
from osbctl.sources.read_bytes import STDIN, check_stdin_used_once
from osbctl.text import AnsiStyle, display_width, escape_line, escape_text, json_text, wrap_line

INLINE = "-c"
"""Source name of a request on the command line."""


@dataclass(frozen=True, slots=True)
class PlanParameters:
    """Parameters of one plan, for one purpose.

    `schema` is None if the plan has none. Without a request, `examples` may be set and `faults` is None; with one,
    `faults` are its errors, and `commands` is empty if there are any. `masked`: these lack values with secret names.
    """

    service: str
    plan: str
    purpose: Purpose
    schema: Any
    parameters: tuple[Parameter, ...]
    described: tuple[Purpose, ...]
    examples: Examples | None = None
    faults: tuple[Finding, ...] | None = None
    commands: tuple[Command, ...] = ()
    masked: bool = False
    is_brokerpak: bool = False

    @property
    def judge(self) -> str:
        """Words for what accepts or refuses a request."""
        return "cloud-service-broker" if self.is_brokerpak else "the plan's schema"


def params(
    source: common.Source,
    service: Annotated[str, Argument("SERVICE", "The service offering, by name or id.", complete="services")],
    plan: Annotated[str, Argument("PLAN", "The plan, by name or id.", complete="plans")],
    purpose: Annotated[Purpose, Option("Purpose of the request.", "--for")] = Purpose.CREATE,
    request: Annotated[
        str | None,
        Option(
            "Check this request, @- from stdin. Put secrets into a file.", "--parameters", "-c", metavar="JSON|@FILE"
        ),
    ] = None,
    previous: Annotated[
        str | None,
        Option("Parameters sent before an update; the broker of a brokerpak adds them.", metavar="JSON|@FILE"),
    ] = None,
    broker: Annotated[str, Option("Name of the broker, for the commands.", "--broker", "-b", metavar="NAME")] = "",
    platforms: Annotated[
        tuple[Platform, ...],
        Option("Print the commands of this platform; repeatable.  [default: all]", "--platform", "-p"),
    ] = (),
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
    check_stdin_used_once([source, *("-" for given in (request, previous) if given == "@-")])
    common.check_options_used([source], env=where.env, stdin_filename=stdin_filename)
    if broker and request is None:
        raise UsageError("--broker is for the commands that send a request", "add -c JSON, or leave it out")
    document = read_catalog(source, where, stdin_filename=stdin_filename)
    chosen = chosen_or_all(chosen_platforms(platforms, first_config([source], where.config, stdin_filename)))
    result = plan_parameters(document, service, plan, purpose, request, broker, previous, chosen)
    if format == "json":
        write_json(params_json(result))
    else:
        color = use_color("auto", sys.stdout)
        faults = [format_findings(result.faults, color)] if result.faults else []
        write_lines([*faults, *params_lines(result, AnsiStyle(color), terminal_width())])
    return 1 if result.faults else 0


def plan_parameters(
    document: Document,
    service: str,
    plan: str,
    purpose: Purpose,
    request: str | None = None,
    broker: str = "",
    previous: str | None = None,
    platforms: Collection[Platform] = tuple(Platform),
) -> PlanParameters:
    """The parameters of `plan` of `service` in the catalog of `document`.

    `request` is JSON, `@FILE` for a file that holds it, or `@-` for standard input; so are the parameters that were
    sent in `previous` requests, which the broker of a brokerpak adds to an update. Commands that send it are those of
    `platforms`.

    Raises UsageError (there is no such service offering or plan, or `previous` without an update of an instance of a
    brokerpak), SourceError (the file cannot be opened, or the schema cannot be applied), DocumentError (the request,
    or what should hold the schema, is no JSON object).
    """
    offering = find_by_name_or_id(document.catalog.services, service, "there is no service")
    found = find_by_name_or_id(offering.plans, plan, f"service {offering.name!r} has no plan")
    _check_described(document, found, purpose)
    schema = found.parameters.get(purpose.schema_location)
    rules = document.requests.get((found.path, "bind" if purpose is Purpose.BIND else "create"))
    if found.judged and not rules:
        schema = get_at(found.judged, (*purpose.schema_location.split("."), "parameters"))
    described = tuple(other for other in Purpose if other.schema_location in found.parameters)
    rows = tuple(parameters(schema)) if schema is not None else ()
    about = PlanParameters(service, plan, purpose, schema, rows, described)
    if rules:
        update = purpose is Purpose.UPDATE
        rows = tuple(describe_inputs(rules, update=update))
        about = replace(about, schema=rules.schema, parameters=rows, is_brokerpak=True)
    if previous is not None:
        _check_previous(is_update=request is not None and purpose is Purpose.UPDATE, is_brokerpak=about.is_brokerpak)
    if request is None:
        if rules:
            return replace(about, examples=generate_broker_examples(rules, update=update))
        return replace(about, examples=None if schema is None else generate_examples(schema))
    sent = _read_request(request)
    sent_before = None if previous is None else _read_request(previous).data
    wrong: list[Finding] = []
    if rules:
        wrong = judge_request(rules, sent.data, update=update, previous=sent_before)
    if schema is not None and all(one.path for one in wrong):  # else the schema may be what the broker cannot apply
        known = {(one.rule, one.path) for one in wrong}
        applied = as_go_compiles(schema) if rules else schema
        wrong += [one for one in request_errors(applied, sent.data) if (one.rule, one.path) not in known]
    if wrong:
        return replace(about, faults=_locate_findings(wrong, sent))
    # The tools of platforms know a service offering by its name, even where its id was asked for.
    provision = ProvisionRequest(offering.name or service, found.name or plan, broker, sent.data, sent.name)
    shown = _commands_to_show(replace(provision, parameters=redact(sent.data)), purpose, platforms)
    masked = shown != _commands_to_show(provision, purpose, platforms)
    return replace(about, faults=(), commands=shown, masked=masked)


def _commands_to_show(
    provision: ProvisionRequest, purpose: Purpose, platforms: Collection[Platform]
) -> tuple[Command, ...]:
    """The commands that send a request, with a file for what is in none yet."""
    if provision.file in (INLINE, STDIN):
        content = json.dumps(provision.parameters, indent=2, ensure_ascii=False) + "\n"
        provision = replace(provision, file=PARAMETERS_FILE, content=content)
    return tuple(build_commands(provision, purpose, platforms))


def _check_previous(*, is_update: bool, is_brokerpak: bool) -> None:
    """Raise UsageError if the parameters of earlier requests have no effect on this one."""
    if not is_update:
        raise UsageError("--previous is for a request to update an instance", "add --for update and -c")
    if not is_brokerpak:
        raise UsageError("--previous is for brokerpaks", "leave it out: only their broker adds what was sent before")


def _check_described(document: Document, plan: ServicePlan, purpose: Purpose) -> None:
    """Raise DocumentError if something else than an object stands where the parameter schema of a plan should be."""
    value: Any = plan.data
    path = plan.path
    for step in ("schemas", *purpose.schema_location.split("."), "parameters"):
        value, path = value.get(step), (*path, step)
        if value is None:
            return
        if not isinstance(value, dict):
            finding = not_object_finding(document, value, path)
            raise DocumentError((finding._replace(hint="a parameter schema is an object; {} accepts anything"),))


def _read_request(text: str) -> Document:
    """Parse a request: JSON, `@FILE` for a file that holds it, or `@-` for standard input."""
    try:
        data = text.encode("utf-8", sys.getfilesystemencodeerrors())  # as Python decoded it
        sent = read_object(text[1:]) if text.startswith("@") else parse_document(data, INLINE)
    except DocumentError as error:
        hint = "parameters are a JSON object"
        findings = (f._replace(hint=hint) if f.rule == "not-an-object" else f for f in error.findings)
        raise DocumentError(tuple(findings)) from None
    if sent.syntax != "json":
        message = "a request is JSON; platforms do not read YAML here"
        raise DocumentError((Finding("syntax", Severity.ERROR, message, (), Location(sent.name, 1, 1)),))
    return sent


def _locate_findings(findings: list[Finding], sent: Document) -> tuple[Finding, ...]:
    locations = sent.locate({finding.path for finding in findings})
    for path, place in locations.items():
        if any(map(may_be_secret_name, path)):  # also where a catalog would have keywords of a schema
            locations[path] = place._replace(excerpt="")
    findings.sort(key=lambda finding: (locations[finding.path].line, locations[finding.path].column))
    return tuple(finding._replace(location=locations[finding.path]) for finding in findings)


_REQUESTS = {"create": "create an instance", "update": "update an instance", "bind": "bind an instance"}


def params_lines(params: PlanParameters, paint: AnsiStyle, width: int) -> Iterator[str]:
    """Text report for a terminal of `width` columns; safe to print."""
    name = paint(f"{escape_line(params.service)} / {escape_line(params.plan)}", "bold")
    if params.faults is None:
        yield f"{name}: parameters to {_REQUESTS[params.purpose]}"
        yield from _description_lines(params, paint, width)
        return
    if params.faults:
        yield f"{name}: {params.judge} {paint('refuses', 'refuses')} this request to {_REQUESTS[params.purpose]}"
        return
    checked = f"{params.judge} {paint('accepts', 'accepts')}"
    if params.schema is None:
        checked = "the plan describes no parameters for"
    yield f"{name}: {checked} this request to {_REQUESTS[params.purpose]}"
    if params.masked:
        yield "Values with secret names are left out below; add them before you send it."
    yield from _command_lines(params.commands, paint)


def _description_lines(params: PlanParameters, paint: AnsiStyle, width: int) -> Iterator[str]:
    if params.schema is None:
        others = ", ".join(f"--for {purpose}" for purpose in params.described)
        yield f"  none described{f'; described are those of {others}' if others else ''}"
        return
    yield from _parameter_lines(params.parameters, paint, width)
    if params.examples is None:
        return
    if params.examples.why:
        yield f"\nNo example: {escape_line(params.examples.why)}"
        return
    same = params.examples.smallest == params.examples.fullest
    judge = "the schema" if not params.is_brokerpak else params.judge
    yield f"\nExample that {judge} accepts:" if same else f"\nSmallest request that {judge} accepts:"
    yield _indented_json(params.examples.smallest)
    if not same:
        yield "\nFullest:"
        yield _indented_json(params.examples.fullest)
    yield f"\nCheck a request: osbctl params … --for {params.purpose} -c @params.json"


def _parameter_lines(rows: tuple[Parameter, ...], paint: AnsiStyle, width: int) -> Iterator[str]:
    if not rows:
        yield "  the schema names none"
    wide = min(max((display_width(row.name) for row in rows), default=0), width // 3)
    for row in rows:
        head = f"  {paint(row.name, 'info')}{' ' * (wide - display_width(row.name))}  "
        yield wrap_line(head + row.summary, width, " " * (wide + 4))
        if row.description:
            yield wrap_line(" " * (wide + 4) + row.description, width, " " * (wide + 4))


def _command_lines(commands: tuple[Command, ...], paint: AnsiStyle) -> Iterator[str]:
    files: dict[str, str] = {}
    for command in commands:
        yield f"\n{command.tool} (bash)" if command.shell else f"\n{command.tool}"
        yield textwrap.indent(escape_text(command.text or f"no command: {command.why}").rstrip("\n"), "    ")
        if command.content:
            files[command.file] = command.content
    for file, content in files.items():
        yield f"\n{paint(escape_line(file), 'bold')}"
        yield textwrap.indent(escape_text(content).rstrip("\n"), "    ")


def _indented_json(value: Any) -> str:
    return textwrap.indent(json_text(value).rstrip("\n"), "  ")


def params_json(params: PlanParameters) -> dict[str, Any]:
    """JSON report (`schemas/params-1.json`)."""
    found = params.examples
    return {
        "version": 1,
        "service": params.service,
        "plan": params.plan,
        "for": params.purpose.value,
        "described": params.schema is not None,
        "parameters": [row._asdict() for row in params.parameters],
        "examples": found and {"smallest": found.smallest, "fullest": found.fullest, "why": found.why},
        "accepted": None if params.faults is None else not params.faults,
        "faults": [_fault_json(fault) for fault in params.faults or ()],
        "masked": params.masked,
        "commands": [
            {"tool": c.tool, "shell": c.shell, "command": c.text, "file": c.file, "content": c.content, "why": c.why}
            for c in params.commands
        ],
    }


def _fault_json(fault: Finding) -> dict[str, Any]:
    place = fault.location or Location("", 0, 0)
    return {
        "keyword": fault.rule,
        "message": fault.message,
        "hint": fault.advice,
        "pointer": pointer(fault.path),
        "source": place.source,
        "line": place.line,
        "column": place.column,
    }
