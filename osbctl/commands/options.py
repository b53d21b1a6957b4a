"""Options that several commands share, as data, and the sources of a command line.

Each parameter of a command is an option, or a named tuple of options. `osbctl.commands.app` makes those of Typer from
them, so that a command can be called without Typer.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, Unpack

from osbctl.commands.output import draw_status_line, print_note
from osbctl.errors import SourceError, UsageError
from osbctl.findings import FailOn
from osbctl.platforms import DEFAULT_API_VERSION, Platform
from osbctl.platforms import ApiVersion as ApiVersion
from osbctl.reports import Format
from osbctl.sources.read_bytes import is_in_git, report_name
from osbctl.text import plural

Completion = Literal["rules", "services", "plans", "objects", "new", "brokers", "sources"]
"""What a shell offers as values of an option: `complete_rules` of `osbctl.commands.completion`, and the like."""


class _TyperSettings(TypedDict, total=False):
    metavar: str
    min: int
    max: int
    envvar: str | list[str]
    callback: Callable[..., Any]


class Argument:
    """An argument of a command, and what its help says."""

    def __init__(self, metavar: str, help: str, *, complete: Completion | None = None) -> None:
        self.metavar, self.help, self.complete = metavar, help, complete


class Option:
    """An option of a command: its help, its names (by default that of the parameter), and settings of Typer.

    One of type `tuple` may be repeated, and one of type `bool` takes no value.
    """

    def __init__(
        self, help: str, *names: str, complete: Completion | None = None, **settings: Unpack[_TyperSettings]
    ) -> None:
        self.names, self.complete = names, complete
        self.settings: dict[str, Any] = {"help": help, **settings}


_SOURCE = "A JSON or YAML file, a source folder, a brokerpak, - for standard input, or REV:path in git."

ADDRESSED = (
    "A file, a source folder, a brokerpak, - for standard input, REV:path in git, a broker's address, or broker:NAME."
)
Exclude = Annotated[
    tuple[str, ...], Option("Skip these paths in a folder, for example tests/*; repeatable.", metavar="PATTERN")
]
CATALOGS_IN_FOLDER = " Of another folder, the catalogs in it.  [default: .]"
Sources = Annotated[tuple[str, ...], Argument("SOURCE...", f"{_SOURCE}{CATALOGS_IN_FOLDER}")]
Source = Annotated[str, Argument("SOURCE", _SOURCE)]
At = Annotated[str, Option("JSON pointer to the catalog inside a larger document.", metavar="POINTER")]
Env = Annotated[
    str | None, Option("Variables of a brokerpak's broker: .env, .envrc, or its configuration in YAML.", metavar="FILE")
]
StdinFilename = Annotated[str | None, Option("Name of stdin in reports.", metavar="NAME")]
ColorChoice = Annotated[
    Literal["auto", "always", "never"], Option("When to colour the output; auto respects NO_COLOR.", "--color")
]
TextOrJson = Annotated[Literal["text", "json"], Option("Output format.", "--format", "-f")]
Output = Annotated[str | None, Option("Write the report to FILE.", "--output", "-o", metavar="FILE")]
Config = Annotated[str | None, Option("Use this configuration, not the closest one.", metavar="FILE")]


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
    from osbctl.sources.folder.source_tree import is_brokerpak

    if source == "-" or "://" in source:
        return False
    return is_brokerpak(source) or not (os.path.exists(source) or ":" in source)  # noqa: PTH110


def _parse_date(text: str) -> str:
    """The given date, or that of the HEAD commit. Raises UsageError: it is not a date."""
    from datetime import date

    if text == "commit":
        from osbctl.sources.read_bytes import head_commit_date

        return head_commit_date()
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise UsageError(f"{text!r} is not a date", "write it as YYYY-MM-DD, or as commit") from None


Date = Annotated[
    str, Option("Date on an HTML report: YYYY-MM-DD, or commit (HEAD's).", metavar="DATE", callback=_parse_date)
]
CountedPlatforms = Annotated[
    tuple[Platform, ...],
    Option("Judge as this platform does, and what it refuses as an error; repeatable.", "--platform", "-p"),
]
JudgedPlatforms = Annotated[
    tuple[Platform, ...], Option("Judge as this platform does; repeatable.  [default: all]", "--platform", "-p")
]
FailingSeverity = Annotated[
    FailOn | None, Option("Exit with 1 at findings of this severity or above.  [default: error]", "--fail-on")
]
ReportFormat = Annotated[
    Format | None, Option("Format of the report.  [default: text; github inside GitHub Actions]", "--format", "-f")
]
CheckedVersion = Annotated[
    ApiVersion | None, Option(f"API version to apply.  [default: {DEFAULT_API_VERSION}]", "--api-version")
]
Ignore = Annotated[tuple[str, ...], Option("Do not report this rule; repeatable.", metavar="RULE", complete="rules")]
MaxBytes = Annotated[int, Option("Size limit of a source, in bytes.", metavar="N", min=1)]

BrokerName = Annotated[str, Argument("NAME", "The broker's name.", complete="brokers")]
Database = Annotated[
    str | None,
    Option(
        "SQLite file, or postgresql+psycopg://USER@HOST/DATABASE.  [default: a file in your data folder]",
        metavar="FILE|URL",
        envvar="OSBCTL_DATABASE",
    ),
]
BrokerPasswordStdin = Annotated[
    bool, Option("Read the password from standard input, not OSBCTL_BROKER_<NAME>_PASSWORD.", "--password-stdin")
]
Credentials = Annotated[
    str | None, Option("Records made with --include-password; a label is the name of its broker.", metavar="FILE")
]
Instances = Annotated[
    str | None,
    Option(
        "Plans with instances: ids, one per line or as a JSON list; the platform's export; or none for no plan.",
        metavar="FILE",
    ),
]


_NAMED = 10
"""Catalogs that a note names."""


def find_named_catalogs(sources: Sequence[str], *, quiet: bool = False, exclude: Sequence[str] = ()) -> list[str]:
    """Replace each folder by the catalogs in it, unless it is a source folder or brokerpak; by default search `.`.

    A note says what was found, unless `quiet`. A folder without any stays: reading it says so. Raises SourceError: all
    are excluded.
    """
    named: list[str] = []
    for source in sources or ["."]:
        if not os.path.isdir(source):  # noqa: PTH112  # pathlib costs its import at every start
            named.append(source)
            continue
        known = {os.path.normpath(name) for name in named}
        named += [name for name in _search(source, quiet, exclude) if os.path.normpath(name) not in known]
    if not named:
        raise SourceError("--exclude leaves no catalog", "name fewer paths")
    return named


def select_catalogs(files: Sequence[str], exclude: Sequence[str] = ()) -> list[str]:
    """The sources that the files of a hook are, or are parts of; other files are left out, also those that are gone."""
    from pathlib import Path

    from osbctl.sources.discovery import excludes, find_source_of, is_catalog_file, is_own_file, may_be_catalog

    is_excluded = excludes(exclude)

    @cache
    def find_folder(place: Path, suffix: str) -> str | None:
        return find_source_of(place / f"part{suffix}")

    def source_of(file: str) -> str:
        if file == "-" or os.path.isdir(file) or (":" in file and not os.path.lexists(file) and is_in_git(file)):  # noqa: PTH112
            return file
        name = report_name(file)
        if not is_own_file(name) or not may_be_catalog(name) or is_excluded(name):
            return ""
        return find_folder(Path(file).parent, Path(file).suffix) or (file if is_catalog_file(file) else "")

    return [source for source in dict.fromkeys(map(source_of, files)) if source]


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
    every = found.sources + found.closed
    if exclude and not every and find_sources(folder).sources:
        return ()
    return every or (folder,)
