"""The manual page `man/osbctl.1`, made from the help of the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference import VARIABLES, commands
from reference_commands import GENERAL

if TYPE_CHECKING:
    from collections.abc import Iterator


def man_page() -> Iterator[str]:
    yield '.\\" Written from the program by tools/make_docs.py'
    yield ".TH OSBCTL 1"
    yield ".SH NAME\nosbctl \\- build, validate, compare and serve Open Service Broker catalogs"
    yield ".SH SYNOPSIS\n.B osbctl\n.I COMMAND\n[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]"
    yield ".SH COMMANDS"
    for name, command in commands():
        yield from command_section(name, command)
    yield ".SH EXIT STATUS\n0 all well, 1 findings, 2 wrong usage, 3 could not run, 130 interrupted."
    yield ".SH ENVIRONMENT"
    for variable, meaning in VARIABLES.items():
        yield from tagged(variable, meaning.replace("`", ""))


def command_section(name: str, command: Any) -> Iterator[str]:
    """Usage, purpose, arguments and options, and examples."""
    context = command.make_context(f"osbctl {name}", [], resilient_parsing=True)
    yield f".SS {text(' '.join([f'osbctl {name}', *command.collect_usage_pieces(context)]))}"
    about, _, examples = (command.help or "").partition("\n\n\b\n")
    yield "\n.PP\n".join(text(" ".join(part.split())) for part in about.split("\n\n"))
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record and not GENERAL & set(parameter.opts):
            yield from tagged(*record)
    if examples:
        yield f".PP\n.nf\n.RS\n{text(examples.strip())}\n.RE\n.fi"


def tagged(name: str, meaning: str) -> list[str]:
    return [".TP", f".B {text(name)}", text(" ".join(meaning.split()))]


def text(words: str) -> str:
    """`words` as roff reads them: without requests, and with dashes that can be copied."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in escaped.split("\n"))
