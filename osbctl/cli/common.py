"""Options that several commands share, and decorators that add options to a command."""

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from datetime import date
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, Literal, get_origin, get_type_hints

from typer import Argument, Option

from osbctl.errors import UsageError
from osbctl.platforms import DEFAULT_API_VERSION, Platform
from osbctl.platforms import ApiVersion as ApiVersion

_SOURCE = "A JSON or YAML file, a source folder, a brokerpak, - for standard input, or REV:path in git."

ADDRESSED = (
    "A file, a source folder, a brokerpak, - for standard input, REV:path in git, a broker's address, or broker:NAME."
)
Exclude = Annotated[
    list[str] | None,
    Option("--exclude", metavar="PATTERN", help="Skip these paths in a folder, for example tests/*; repeatable."),
]
CATALOGS_IN_FOLDER = " Of another folder, the catalogs in it.  [default: .]"
Sources = Annotated[
    list[str] | None,
    Argument(metavar="SOURCE...", help=f"{_SOURCE}{CATALOGS_IN_FOLDER}", show_default=False),
]
Source = Annotated[str, Argument(metavar="SOURCE", help=_SOURCE, show_default=False)]
At = Annotated[str, Option("--at", metavar="POINTER", help="JSON pointer to the catalog inside a larger document.")]
Env = Annotated[
    str | None,
    Option(
        "--env", metavar="FILE", help="Variables of a brokerpak's broker: .env, .envrc, or its configuration in YAML."
    ),
]
StdinFilename = Annotated[str | None, Option("--stdin-filename", metavar="NAME", help="Name of stdin in reports.")]
ColorChoice = Annotated[
    Literal["auto", "always", "never"], Option("--color", help="When to colour the output; auto respects NO_COLOR.")
]
TextOrJson = Annotated[Literal["text", "json"], Option("--format", "-f", help="Output format.")]
Output = Annotated[str | None, Option("--output", "-o", metavar="FILE", help="Write the report to FILE.")]


Config = Annotated[str | None, Option("--config", metavar="FILE", help="Use this configuration, not the closest one.")]


@dataclass(frozen=True)
class LocationOptions:
    """Options that locate the catalog in a source, and the configuration."""

    at: At = ""
    env: Env = None
    config: Config = None


def check_options_used(sources: Sequence[str], *, env: str | None = None, stdin_filename: str | None = None) -> None:
    """Raise UsageError for an option that none of `sources` can use: it, or a source, is a mistake."""
    if stdin_filename is not None and "-" not in sources:
        raise UsageError("--stdin-filename names standard input, and no source is -", "write - as the source")
    if env is not None and not any(map(_may_be_brokerpak, sources)):
        raise UsageError("--env is for brokerpaks, and no source is one", "name the folder with its manifest.yml")


def _may_be_brokerpak(source: str) -> bool:
    """Return whether a source is a brokerpak, or is not there, which is reported when it is read."""
    from osbctl.sources.folder.brokerpak import is_brokerpak

    if source == "-" or "://" in source:
        return False
    return is_brokerpak(source) or not (os.path.exists(source) or ":" in source)  # noqa: PTH110


def _parse_date(text: str) -> str:
    """The given date, or that of the HEAD commit. Raises UsageError: it is none."""
    if text == "commit":
        from osbctl.sources.read_bytes import head_commit_date

        return head_commit_date()
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise UsageError(f"{text!r} is not a date", "write it as YYYY-MM-DD, or as commit") from None


Date = Annotated[
    str,
    Option(metavar="DATE", callback=_parse_date, help="Date on an HTML report: YYYY-MM-DD, or commit (HEAD's)."),
]
CountedPlatforms = Annotated[
    list[Platform] | None,
    Option("--platform", "-p", help="Judge as this platform does, and what it refuses as an error; repeatable."),
]
JudgedPlatforms = Annotated[
    list[Platform] | None, Option("--platform", "-p", help="Judge as this platform does; repeatable.  [default: all]")
]
CheckedVersion = Annotated[
    ApiVersion | None, Option("--api-version", help=f"API version to apply.  [default: {DEFAULT_API_VERSION}]")
]
Ignore = Annotated[list[str] | None, Option("--ignore", metavar="RULE", help="Do not report this rule; repeatable.")]
MaxBytes = Annotated[int, Option("--max-bytes", metavar="N", min=1, help="Size limit of a source, in bytes.")]

BrokerName = Annotated[str, Argument(metavar="NAME", help="The broker's name.", show_default=False)]
Database = Annotated[
    str | None,
    Option(
        "--database",
        metavar="FILE|URL",
        envvar="OSBCTL_DATABASE",
        help="SQLite file, or postgresql+psycopg://USER@HOST/DATABASE.  [default: a file in your data folder]",
        show_default=False,
    ),
]
BrokerPasswordStdin = Annotated[
    bool,
    Option("--password-stdin", help="Read the password from standard input, not OSBCTL_BROKER_<NAME>_PASSWORD."),
]
Credentials = Annotated[
    str | None,
    Option("--credentials", metavar="FILE", help="Records made with --include-password; a label can name the broker."),
]
Instances = Annotated[
    str | None,
    Option(
        "--instances",
        metavar="FILE",
        help="Plans with instances: ids, one per line or as a JSON list; the platform's export; or none for no plan.",
    ),
]


def expand_option_groups(command: Callable[..., int]) -> Callable[..., int]:
    """Replace each parameter of `command` that is a dataclass by those of its fields that are options."""
    parameters = signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {param.name: param.annotation for param in parameters if is_dataclass(param.annotation)}

    @functools.wraps(command)
    def call(**values: Any) -> int:
        group_values = {
            name: group(**{field.name: values.pop(field.name) for field in _option_fields(group)})
            for name, group in groups.items()
        }
        return command(**values, **group_values)

    # Typer makes its options of this signature, not of the function that it calls.
    expanded = [_option_fields(param.annotation) if param.name in groups else [param] for param in parameters]
    by_keyword = [option.replace(kind=Parameter.KEYWORD_ONLY) for options in expanded for option in options]
    call.__signature__ = Signature(by_keyword)  # type: ignore[attr-defined]
    return call


@functools.cache
def _option_fields(group: type) -> list[Parameter]:
    """The fields of a dataclass that are options, as parameters of a command."""
    kinds = get_type_hints(group, include_extras=True)  # of a base class by the names of that one's module
    fields = [field.replace(annotation=kinds[field.name]) for field in signature(group).parameters.values()]
    return [field for field in fields if get_origin(field.annotation) is Annotated]
