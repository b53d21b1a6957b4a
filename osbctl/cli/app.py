"""The table of commands, and the typer application made from it: of one command, or of all for help and completion."""

import re
import sys
from functools import partial
from importlib import import_module
from typing import Annotated, Any, TypeAlias

import typer
from typer import Option
from typer.core import TyperGroup

import osbctl
from osbctl.cli.output import print_error, use_color
from osbctl.errors import UsageError
from osbctl.text import AnsiStyle

_Rows: TypeAlias = list[tuple[str, str]]

GROUPS = {
    "Write": {"init": "scaffold", "new": "scaffold", "split": "scaffold", "build": "build"},
    "Check": {"validate": "validate", "fix": "fix", "diff": "diff"},
    "Read": {"show": "show", "params": "show", "page": "page"},
    "Run": {"serve": "serve", "hash-password": "credentials", "verify-password": "credentials"},
    "Brokers": {"check": "check", "fetch": "check", "drift": "drift", "brokers": "brokers"},
    "Reference": {"rules": "reference", "schema": "reference", "lsp": "reference"},
}
"""Commands by their heading in the help, each with the module of its function or group of commands."""

COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}

_HEADINGS = {
    "Report": "format output concise quiet statistics color date",
    "Source": "at env profile stdin-filename config max-bytes",
    "Broker connection": "user password-stdin credentials database ca-file client-cert insecure timeout",
    "TLS": "tls-cert tls-key self-signed insecure-http trusted-proxy unix-socket",
    "Operation": "admin-listen admin-host log-format log-level access-log connections-per-address",
}
"""Options by their heading in the help; all others are in front."""

_TITLES = {option: title for title, options in _HEADINGS.items() for option in options.split()}

_MOST = 12
"""Most options of a command with a single heading."""

# The base of "no such option", "missing argument" and the like, which typer does not export by name.
_UsageError: Any = typer.BadParameter.__base__

_HELP = """Build, validate, compare and serve Open Service Broker catalogs.

Exit codes: 0 all well, 1 findings, 2 wrong usage, 3 could not run."""


def run_app(arguments: list[str]) -> int:
    """Run the command line `arguments` and return the exit code of the command."""
    try:
        result = build(arguments)(args=arguments, prog_name="osbctl", standalone_mode=False)
    except SystemExit:
        # typer exits with 1, the code of findings, only if its output was closed.
        raise BrokenPipeError from None
    except typer.Abort:
        return 130
    except _UsageError as error:
        if error.ctx is None or type(error).__name__ == "NoArgsIsHelpError":  # a call without a command: the help
            error.show()
            return 2
        message = error.format_message().rstrip(".")
        advice = f"see {error.ctx.command_path} --help"
        return print_error(UsageError(message[:1].lower() + message[1:], advice))
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
        command = getattr(import_module(f"osbctl.cli.{COMMANDS[name]}"), name.replace("-", "_"))
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, short_help=_short_help(str(command.info.help)))
        else:
            app.command(name, short_help=_short_help(command.__doc__))(command)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    _name_values(group)
    for option in getattr(group.commands.get("serve"), "params", ()):
        given = option.envvar or f"OSBCTL_{option.name.upper()}"
        option.envvar = _Variables(given) if isinstance(given, list) else given
    context: Any = group.context_class
    if context.formatter_class.__name__ != "Painted":  # the class of contexts is the same at every call in one process
        context.formatter_class = _painted(context.formatter_class)
    return group


class _Variables(list[str]):
    """Several environment variables of one option, as an error lists them."""

    def __str__(self) -> str:
        return " or ".join(self)


def _painted(formatter: Any) -> type:
    """A formatter of the help with groups and colours; typer removes the colours in a pipe."""
    paint = AnsiStyle(True)

    class Painted(formatter):  # type: ignore[misc]  # the class is typer's own, which exports none
        def write_heading(self, heading: str) -> None:
            self.heading = heading  # written by write_dl

        def write_dl(self, rows: _Rows, *args: Any, **more: Any) -> None:
            self.dedent()
            for number, (heading, group) in enumerate(_grouped(self.heading, rows).items()):
                if number:
                    self.write_paragraph()
                super().write_heading(paint(heading, "bold"))
                self.indent()
                super().write_dl([(paint(name, "info"), text) for name, text in group], *args, **more)
                self.dedent()
            self.indent()

    return Painted


def _grouped(heading: str, rows: _Rows) -> dict[str, _Rows]:
    """The rows below a heading of the help; many rows are divided below headings of their own."""
    texts = dict(rows)
    if heading == "Commands" and texts.keys() == COMMANDS.keys():
        wide = max(map(len, COMMANDS))
        return {title: [(name.ljust(wide), texts[name]) for name in group] for title, group in GROUPS.items()}
    return _by_title(rows) if heading == "Options" and len(rows) > _MOST else {heading: rows}


def _by_title(rows: _Rows) -> dict[str, _Rows]:
    titles = [_TITLES.get(_OPTION.findall(option)[0], "Options") for option, _ in rows]
    found: dict[str, _Rows] = {title: [] for title in ("Options", *_HEADINGS)}
    for row, title in zip(rows, titles, strict=True):
        found[title if titles.count(title) > 1 else "Options"].append(row)  # one option needs no heading
    return {title: group for title, group in found.items() if group}


def _name_values(command: Any) -> None:
    """Name the values of options in the help by words; typer would name their Python types."""
    for each in getattr(command, "commands", {}).values():
        _name_values(each)
    for option in command.params:
        kind = type(option.type).__name__
        if kind in _VALUES:
            word, option.type.name = _VALUES[kind]  # typer's error would name an "int range"
            if not getattr(option, "is_flag", False):
                option.metavar = option.metavar or word
        if kind.endswith("Range"):
            option.type._describe_range = partial(_range, option.type)  # typer would say x>=1
        if option.param_type_name == "argument" and option.required:  # typer would put it in braces
            option.make_metavar = partial(_first, option.metavar or option.name.upper())


def _first(word: str, *_: Any, **__: Any) -> str:
    return word


def _range(bounds: Any) -> str:
    low, high = bounds.min, bounds.max
    return f"at least {low}" if high is None else f"at most {high}" if low is None else f"{low} to {high}"


_OPTION = re.compile(r"--([\w-]+)")

_VALUES = {
    "StringParamType": ("TEXT", "text"),
    **dict.fromkeys(("IntParamType", "IntRange"), ("N", "integer")),
    **dict.fromkeys(("FloatParamType", "FloatRange"), ("N", "number")),
}
"""Names of value types in the help and in errors, by click's type."""


def _short_help(text: str) -> str:
    """A command's line in the list of commands: its docstring up to the first `. `, `:` or `;`."""
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
