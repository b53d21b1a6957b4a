"""The table of commands, and the Typer application made from it.

Only the command of a call is loaded: the help of all is made of the table.
"""

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperGroup

import osbctl
from osbctl.commands.options import Argument
from osbctl.commands.output import print_error
from osbctl.errors import UsageError

GROUPS = {
    "Write": {
        "init": "Write a source folder to start from: a service, two plans, a parameter schema.",
        "new": "Add a service offering or a plan to a source folder, with fresh GUIDs.",
        "split": "Split one catalog into a source folder that builds to the same catalog.",
        "build": "Compose the catalog of a source folder or a brokerpak.",
    },
    "Check": {
        "validate": "Check catalogs against the schema, the specification, good practice and each platform.",
        "fix": "Fix catalogs in place.",
        "diff": "Compare two catalogs: what a platform would refuse, what would break users, and what is safe.",
    },
    "Read": {
        "show": "Show a catalog: one line a plan at a terminal, tab-separated columns in a pipe.",
        "params": "Show the parameters of a plan with examples, or check a request and print the "
        "commands that send it.",
        "page": "Make a page of what is on offer: one HTML file that needs no server, no network, "
        "and no script to be read.",
    },
    "Run": {
        "serve": "Serve a catalog over HTTPS, at GET /v2/catalog, until SIGTERM or SIGINT.",
        "hash-password": "Make a credential record: a username and the salted SHA-512 hash of its password.",
        "verify-password": "Check a password against the records of a username, as the broker does.",
    },
    "Brokers": {
        "check": "Check a running broker: its answers, its catalog, and which platforms could register it.",
        "fetch": "Fetch the catalog of a running broker, as a platform does.",
        "drift": "Compare what a platform has stored of a broker with the broker's current catalog.",
        "brokers": "Register brokers and store their catalogs, as a platform does.",
    },
    "Reference": {
        "rules": "List the rules, or explain one: its meaning, its reason, and the platforms that "
        "refuse because of it.",
        "schema": "Print the JSON Schema of a catalog, for editors that complete and check fields.",
        "lsp": "Run the language server: findings, completion, fixes and explanations in your editor.",
    },
}
"""The first sentence of the help of each command, by its heading."""

_MODULES = {
    "init": "commands.scaffold",
    "new": "commands.scaffold",
    "split": "commands.scaffold",
    "hash-password": "commands.credentials",
    "verify-password": "commands.credentials",
    "fetch": "commands.check",
    "schema": "commands.rules",
    "lsp": "editor",
}
"""The module of each command that has none of its own name in `osbctl.commands`."""

MEANT = {"lint": "validate", "verify": "validate", "list": "show", "ls": "show", "fmt": "fix", "hash": "hash-password"}
"""Names of commands in other tools, each with the command here."""

COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}

# The base of "no such option", "missing argument" and the like, which typer does not export by name.
_UsageError: Any = typer.BadParameter.__base__

_HELP = """Build, validate, compare and serve Open Service Broker catalogs.

Exit codes: 0 all well, 1 findings, 2 wrong usage, 3 could not run."""


def run_app(arguments: list[str]) -> int:
    """Run the command line `arguments` and return the exit code of the command; `help COMMAND` prints its help."""
    if "_OSBCTL_COMPLETE" in os.environ:
        from osbctl.commands.completion import run_completion

        return run_completion(lambda words: make_command_group(find_command(words)))
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    try:
        result = make_command_group(find_command(arguments))(args=arguments, prog_name="osbctl", standalone_mode=False)
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


def find_command(arguments: Iterable[str]) -> list[str]:
    """The command that is called. Empty if the call is for help, or wrong."""
    return [word for word in arguments if word in COMMANDS][:1]


class _Commands(TyperGroup):
    """The list of all commands below the headings of `GROUPS`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # the interface of typer
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([*commands.items()])


def make_command_group(names: Iterable[str]) -> TyperGroup:
    """The typer group with these commands; of the others it has the names and what they do, but not their options.

    Each option of `serve` may come from an environment variable, too.
    """
    app = _make_app(_HELP, cls=_Commands, callback=_root_callback)
    for name, summary in COMMANDS.items():
        if name not in names:
            app.command(name, help=summary)(_root_callback)
            continue
        module = import_module(f"osbctl.{_MODULES.get(name, f'commands.{name}')}")
        loaded = getattr(module, name.replace("-", "_"))
        if isinstance(loaded, dict):  # of commands below this one
            below = _make_app(module.__doc__ or "")
            for word, function in loaded.items():
                below.command(word)(_with_typer_options(function))
            app.add_typer(below, name=name)
        else:
            app.command(name)(_with_typer_options(loaded))
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for option in group.commands["serve"].params if "serve" in names else ():
        option.envvar = option.envvar or f"OSBCTL_{str(option.name).upper()}"
    return group


def _make_app(
    text: str, cls: type[TyperGroup] | None = None, callback: Callable[..., None] | None = None
) -> typer.Typer:
    return typer.Typer(
        cls=cls,
        callback=callback,
        help=text,
        rich_markup_mode=None,  # rich's help swallows [brackets], and costs as long again as the command
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _with_typer_options(command: Callable[..., int]) -> Callable[..., int]:
    """The command as a function of single options, with the types and defaults from which Typer makes them."""
    parameters = _parameters_of(command)

    def call(**values: Any) -> int:
        return command(**{one.name: _value_of(one, values) for one in parameters})

    options = [_to_typer(option) for one in parameters for option in _options_of(one)]
    call.__signature__ = Signature(options)  # type: ignore[attr-defined]
    call.__annotations__, call.__doc__ = {}, command.__doc__
    return call


@functools.cache
def _parameters_of(target: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a command, or the fields of a named tuple, with their types."""
    types = get_type_hints(target, include_extras=True)
    parameters = signature(target).parameters.values()
    return [one.replace(annotation=types[one.name], kind=Parameter.KEYWORD_ONLY) for one in parameters]


def _options_of(parameter: Parameter) -> list[Parameter]:
    """The options that a parameter of a command stands for: itself, or those of its named tuple."""
    if _is_group(parameter):
        return [option for field in _parameters_of(parameter.annotation) for option in _options_of(field)]
    return [parameter] if get_origin(parameter.annotation) is Annotated else []


def _value_of(parameter: Parameter, values: Mapping[str, Any]) -> Any:
    """The value of a parameter of a command, from the `values` of its options."""
    if _is_group(parameter):
        fields = [field for field in _parameters_of(parameter.annotation) if _options_of(field)]
        return parameter.annotation(**{field.name: _value_of(field, values) for field in fields})
    value = values[parameter.name]
    return tuple(value or ()) if _is_repeatable(parameter) else value


def _is_group(parameter: Parameter) -> bool:
    return hasattr(parameter.annotation, "_fields")


def _is_repeatable(option: Parameter) -> bool:
    return get_origin(get_args(option.annotation)[0]) is tuple


def _to_typer(option: Parameter) -> Parameter:
    kind, described = get_args(option.annotation)
    if _is_repeatable(option):
        kind = list[get_args(kind)[0]] | None  # type: ignore[misc]  # mypy takes no types that are made at run time
        option = option.replace(default=option.default or None)
    offer = _offer(described.complete) if described.complete else None
    if isinstance(described, Argument):
        made = typer.Argument(metavar=described.metavar, help=described.help, autocompletion=offer, readable=False)
    else:
        names = described.names or ((f"--{option.name.replace('_', '-')}",) if kind is bool else ())
        made = typer.Option(*names, **described.settings, autocompletion=offer, readable=False)
    # `readable` False: the command itself says that a file cannot be read, with the exit code for that.
    return option.replace(annotation=Annotated[kind, made])


def _offer(values: str) -> Callable[..., list[str]]:
    """A function that offers values in a shell; what makes them is loaded when it is called."""

    def offer(ctx: typer.Context, incomplete: str) -> list[str]:
        module = import_module("osbctl.commands.completion")
        return [*getattr(module, f"complete_{values}")(ctx, incomplete)]

    return offer


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"osbctl {osbctl.__version__}")
        raise typer.Exit


def _root_callback(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
