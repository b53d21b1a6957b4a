"""Report of `osbctl params`, as text and JSON (`schemas/params-1.json`)."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from osbctl.findings import Finding
from osbctl.parameter_table import Parameter
from osbctl.paths import pointer
from osbctl.platforms.tools import Purpose
from osbctl.requests.commands import Command
from osbctl.requests.parameters import Examples
from osbctl.text import AnsiStyle, display_width, escape_line, escape_text, json_text, wrap_line


@dataclass(frozen=True, slots=True)
class PlanParameters:
    """Parameters of one plan, for one purpose.

    `schema` is None if the plan has none. Without a request, `examples` may be set and `faults` is None; with one,
    `faults` are its errors, and `commands` is empty if there are any.
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
        yield "Values with secret names are left out below; add them to the file before sending it."
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
        "commands": [
            {"tool": c.tool, "shell": c.shell, "command": c.text, "file": c.file, "content": c.content, "why": c.why}
            for c in params.commands
        ],
    }


def _fault_json(fault: Finding) -> dict[str, Any]:
    place = fault.location
    return {
        "keyword": fault.rule,
        "message": fault.message,
        "hint": fault.advice,
        "pointer": pointer(fault.path),
        "source": place.source if place else "",
        "line": place.line if place else 0,
        "column": place.column if place else 0,
    }
