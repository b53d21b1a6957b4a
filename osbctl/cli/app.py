"""The table of commands, and the typer application made from it: of one command, or of all for help and completion."""

import os
import re
from importlib import import_module
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

import osbctl
from osbctl.cli.output import print_error
from osbctl.errors import UsageError

GROUPS = {
    "Write": {"init": "scaffold", "new": "scaffold", "split": "scaffold", "build": "build"},
    "Check": {"validate": "validate", "fix": "fix", "diff": "diff"},
    "Read": {"show": "show", "params": "show", "page": "page"},
    "Run": {"serve": "serve", "hash-password": "credentials", "verify-password": "credentials"},
    "Brokers": {"check": "check", "fetch": "check", "drift": "drift", "brokers": "brokers"},
    "Reference": {"rules": "reference", "schema": "reference", "lsp": "reference"},
}
"""Commands by their heading in the help, each with the module of its function or group of commands."""

MEANT = {"lint": "validate", "verify": "validate", "list": "show", "ls": "show", "fmt": "fix", "hash": "hash-password"}
"""Names of commands in other tools, each with the command here."""

COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}

# The base of "no such option", "missing argument" and the like, which typer does not export by name.
_UsageError: Any = typer.BadParameter.__base__

_HELP = """Build, validate, compare and serve Open Service Broker catalogs.

Exit codes: 0 all well, 1 findings, 2 wrong usage, 3 could not run."""


def run_app(arguments: list[str]) -> int:
    """Run the command line `arguments` and return the exit code of the command; `help COMMAND` prints its help."""
    if "_OSBCTL_COMPLETE" in os.environ:
        from osbctl.cli.completion import run_completion

        return run_completion(make_command_group)
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    try:
        result = make_command_group(arguments)(args=arguments, prog_name="osbctl", standalone_mode=False)
    except SystemExit:
        # typer exits with 1, the code of findings, only if its output was closed.
        raise BrokenPipeError from None
    except typer.Abort:
        return 130
    except _UsageError as error:
        if error.ctx is None or type(error).__name__ == "NoArgsIsHelpError":  # a call without a command: the help
            error.show()
            return 2
        message = error.format_message().rstrip(".").replace("argument(s)", "arguments")
        message = re.sub(r"'\['(\w+)', '(\w+)'\]'", r"\1 or \2", message)  # the variables of --port
        advice = f"see {error.ctx.command_path} --help"
        if message.startswith("No such command") and arguments[0] in MEANT:
            message, advice = f"no such command '{arguments[0]}'", f"osbctl {MEANT[arguments[0]]} does that"
        elif "'--credentials'" in message and arguments[0] == "serve":
            advice = "make one: osbctl hash-password platform --generate -o credentials.json"
        return print_error(UsageError(message[:1].lower() + message[1:], advice))
    return result if isinstance(result, int) else 0


class _Commands(TyperGroup):
    """The list of all commands below the headings of `GROUPS`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # the interface of typer
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(1_000)) for name in names])


def make_command_group(arguments: list[str]) -> TyperGroup:
    """The typer group: with one command where `arguments` names it, else with all.

    Each option of `serve` may come from an environment variable, too.
    """
    app = typer.Typer(
        cls=_Commands,
        help=_HELP,
        rich_markup_mode=None,  # rich's help swallows [brackets], and costs as long again as the command
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root_callback)
    requested = arguments[0] if arguments and arguments[0] in COMMANDS else None
    for name in [requested] if requested else COMMANDS:
        command = getattr(import_module(f"osbctl.cli.{COMMANDS[name]}"), name.replace("-", "_"))
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for option in getattr(group.commands.get("serve"), "params", ()):
        option.envvar = option.envvar or f"OSBCTL_{option.name.upper()}"
    return group


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"osbctl {osbctl.__version__}")
        raise typer.Exit


def _root_callback(
    version: Annotated[
        bool, Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
