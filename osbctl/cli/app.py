"""The table of commands, and the typer application made from it.

Only the module of the command that was asked for is imported; all of them for help and completion.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

import osbctl
from osbctl.cli.output import use_color
from osbctl.text import Paint

COMMANDS = {
    "validate": "osbctl.cli.validate:validate",
    "fix": "osbctl.cli.fix:fix",
    "show": "osbctl.cli.show:show",
    "params": "osbctl.cli.params:params",
    "page": "osbctl.cli.page:page",
    "build": "osbctl.cli.build:build",
    "init": "osbctl.cli.scaffold:init",
    "new": "osbctl.cli.scaffold:new",
    "split": "osbctl.cli.scaffold:split",
    "diff": "osbctl.cli.diff:diff",
    "drift": "osbctl.cli.drift:drift",
    "fetch": "osbctl.cli.check:fetch",
    "brokers": "osbctl.cli.brokers:brokers",
    "check": "osbctl.cli.check:check",
    "serve": "osbctl.cli.serve:serve",
    "hash-password": "osbctl.cli.credentials:hash_password",
    "verify-password": "osbctl.cli.credentials:verify_password",
    "rules": "osbctl.cli.reference:rules",
    "schema": "osbctl.cli.reference:schema",
    "lsp": "osbctl.cli.reference:lsp",
}
"""Each command with the function, or the group of commands, that carries it out, in the order of the help."""

# The base of "no such option", "missing argument" and the like, which typer does not export by name.
_UsageError: Any = typer.BadParameter.__base__

_HELP = """Build, validate, compare and serve Open Service Broker catalogs.

Exit codes: 0 all well, 1 findings, 2 wrong usage, 3 could not run."""


def run_app(arguments: list[str]) -> int:
    """Run the command line `arguments` and return the exit code of the command."""
    try:
        result = build(arguments)(args=arguments, prog_name="osbctl", standalone_mode=False)
    except SystemExit:
        # typer ends the process with 1, the code of findings, only if the reader of its output has gone.
        raise BrokenPipeError from None
    except typer.Abort:
        return 130
    except _UsageError as error:
        error.show()
        return 2
    return result if isinstance(result, int) else 0


def build(arguments: list[str]) -> TyperGroup:
    """The typer group: with one command where `arguments` names it, else with all."""
    app = typer.Typer(
        help=_HELP,
        rich_markup_mode=None,  # rich's help swallows [brackets], and costs as long again as the command
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "color": use_color("auto", sys.stdout)},
    )
    app.callback()(_top)
    asked = arguments[0] if arguments and arguments[0] in COMMANDS else None
    for name in [asked] if asked else COMMANDS:
        module, _, function = COMMANDS[name].partition(":")
        command = getattr(import_module(module), function)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, short_help=_in_short(str(command.info.help)))
        else:
            app.command(name, short_help=_in_short(command.__doc__))(command)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    _name_values(group)
    context: Any = group.context_class
    if context.formatter_class.__name__ != "Painted":  # the class of contexts is the same at every call in one process
        context.formatter_class = _painted(context.formatter_class)
    return group


def _painted(formatter: Any) -> type:
    """The class that lays out the help, with headings and options in colour; typer leaves them out in a pipe."""
    paint = Paint(True)

    class Painted(formatter):  # type: ignore[misc]  # the class is typer's own, which exports none
        def write_heading(self, heading: str) -> None:
            super().write_heading(paint(heading, "bold"))

        def write_dl(self, rows: list[tuple[str, str]], *args: Any, **more: Any) -> None:
            super().write_dl([(paint(name, "info"), text) for name, text in rows], *args, **more)

    return Painted


def _name_values(command: Any) -> None:
    """Give each option's value a word in the help: typer would name its Python type."""
    for each in getattr(command, "commands", {}).values():
        _name_values(each)
    for option in command.params:
        kind = type(option.type).__name__
        if kind in _VALUES:
            word, option.type.name = _VALUES[kind]  # typer would say that a text is no valid int range
            if option.metavar is None and not getattr(option, "is_flag", False):
                option.metavar = word
        choices = list(map(str, getattr(option.type, "choices", ())))
        if option.metavar is None and len("|".join(choices)) > _ROOM:
            option.metavar = option.name.upper()
            sentence, _, rest = option.help.partition(".")
            option.help = f"{sentence}: {', '.join(choices)}.{rest}"
        if option.param_type_name == "argument" and option.required:
            # Typer would put it in braces.
            option.make_metavar = partial(_metavar, option.metavar or option.name.upper())
        if isinstance(option.envvar, list):
            option.envvar = _Variables(option.envvar)
        if kind.endswith("Range"):
            option.type._describe_range = partial(_range, option.type)  # typer would say x>=1


class _Variables(list[str]):
    """Variables of the environment that one option has; as Python writes a list, none would recognise them."""

    def __str__(self) -> str:
        return " or ".join(self)


def _metavar(word: str, *_: Any, **__: Any) -> str:
    return word


def _range(bounds: Any) -> str:
    low, high = bounds.min, bounds.max
    return f"at least {low}" if high is None else f"at most {high}" if low is None else f"{low} to {high}"


_ROOM = 60
"""Characters of the choices of an option that are written beside its name; more are words of its help."""

_VALUES = {
    "StringParamType": ("TEXT", "text"),
    **dict.fromkeys(("IntParamType", "IntRange"), ("N", "integer")),
    **dict.fromkeys(("FloatParamType", "FloatRange"), ("N", "number")),
}
"""Names of value types in the help and in errors, by click's type."""


def _in_short(text: str) -> str:
    """Summary of a command for the list: its first sentence, up to a colon or semicolon."""
    first = " ".join(text.partition("\n\n")[0].split())
    for end in (". ", ":", ";"):
        first = first.partition(end)[0]
    return first.rstrip(".")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"osbctl {osbctl.__version__}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool, Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
