"""Options that several commands share, as data, and the sources of a command line.

Each parameter of a command is an option, or a named tuple of options. `osbctl.commands.app` makes those of Typer from
them, so that a command can be called without Typer.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from osbctl.commands.output import draw_status_line, print_note
from osbctl.errors import UsageError
from osbctl.platforms import DEFAULT_API_VERSION, Platform
from osbctl.platforms import ApiVersion as ApiVersion
from osbctl.sources.read_bytes import report_name
from osbctl.text import plural


class Argument(NamedTuple):
    """An argument of a command: what its help says. `show_default` as in Typer."""

    metavar: str
    help: str
    show_default: bool = True


class Option:
    """An option of a command: its names, by default that of the parameter, and the rest as in Typer."""

    def __init__(
        self,
        *names: str,
        help: str,
        metavar: str | None = None,
        min: int | None = None,
        max: int | None = None,
        envvar: str | list[str] | None = None,
        callback: Callable[..., Any] | None = None,
        show_default: bool = True,
    ) -> None:
        self.names = names
        self.settings: dict[str, Any] = {
            "help": help,
            "metavar": metavar,
            "min": min,
            "max": max,
            "envvar": envvar,
            "callback": callback,
            "show_default": show_default,
        }


class CommandGroup(NamedTuple):
    """Commands below one name, such as `osbctl brokers list`, each by its own name."""

    help: str
    commands: Mapping[str, Callable[..., int]]


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


class LocationOptions(NamedTuple):
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
    from datetime import date

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


_NAMED = 10
"""Catalogs that a note names."""


def find_named_catalogs(
    sources: Sequence[str] | None, *, quiet: bool = False, exclude: Sequence[str] | None = None
) -> list[str]:
    """Replace each folder by the catalogs in it, unless it is a source folder or brokerpak; by default search `.`.

    A note says what was found, unless `quiet`. A folder without any stays: reading it says so.
    """
    named: list[str] = []
    for source in sources or ["."]:
        if not os.path.isdir(source):  # noqa: PTH112  # pathlib costs its import at every start
            named.append(source)
            continue
        known = {os.path.normpath(name) for name in named}
        named += [name for name in _search(source, quiet, exclude or ()) if os.path.normpath(name) not in known]
    return named


def select_catalogs(files: Sequence[str]) -> list[str]:
    """The sources that these files are, or are parts of, as a hook needs them; other files are left out."""
    from pathlib import Path

    from osbctl.sources.discovery import find_source_of, is_catalog_file, is_own_file, may_be_catalog

    own = [name for name in files if is_own_file(report_name(name)) and may_be_catalog(report_name(name))]
    found = (find_source_of(Path(name)) or (name if is_catalog_file(name) else "") for name in own)
    return [name for name in dict.fromkeys(found) if name]


def _search(folder: str, quiet: bool, exclude: Sequence[str]) -> Sequence[str]:
    from osbctl.sources.discovery import find_sources

    shows_progress = sys.stderr.isatty()

    def show(searched: int, total: int) -> None:
        if shows_progress:
            draw_status_line(f"searching {searched:,} of {total:,} files")

    try:
        found = find_sources(folder, show, exclude)
    finally:
        if shows_progress:
            draw_status_line("")
    if found.sources and found.sources != (folder,) and not quiet:
        names, more = map(report_name, found.sources[:_NAMED]), len(found.sources) - _NAMED
        others = f" and {more} more" if more > 0 else ""
        print_note(f"found {plural(len(found.sources), 'catalog')}: {', '.join(names)}{others}")
    return found.sources or (folder,)
