"""`osbctl diff`: what changed between two catalogs, and whom it hurts."""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from osbctl.changes import DiffFailOn
from osbctl.cli import fetch as as_fetch
from osbctl.cli import options as common
from osbctl.cli.connection import Connection, is_address
from osbctl.cli.output import note, put
from osbctl.errors import DocumentError, SourceError
from osbctl.platforms import Platform
from osbctl.reports.changes import DiffFormat, DiffReport, render

if TYPE_CHECKING:
    from osbctl.changes import Change
    from osbctl.sources.document import Document

_SOURCE = (
    "A JSON or YAML file, a source folder, - for standard input, REV:path for a file in git, or a broker's address."
)

Instances = Annotated[
    str | None,
    typer.Option(
        "--instances",
        metavar="FILE",
        help="The plans that have instances: ids, one a line or as a JSON list, or the platform's export.",
    ),
]
FailOn = Annotated[DiffFailOn, typer.Option("--fail-on", help="Exit with 1 from this level on.")]
Allow = Annotated[
    str | None, typer.Option("--allow", metavar="FILE", help="Changes that are accepted (TOML, [[allow]] entries).")
]
Format = Annotated[
    DiffFormat | None,
    typer.Option("--format", "-f", help="The report's format.  [default: text; github inside GitHub Actions]"),
]


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help=f"The catalog as it is. {_SOURCE}", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The catalog as it shall be.", show_default=False)],
    platforms: Annotated[
        list[Platform] | None,
        typer.Option("--platform", "-p", help="Look at it as this platform does; repeatable.  [default: all]"),
    ] = None,
    instances: Instances = None,
    fail_on: FailOn = DiffFailOn.BREAKING,
    allow: Allow = None,
    format: Format = None,  # the option's own name
    output: common.Output = None,
    at: common.At = "",
    color: common.ColorChoice = common.Color.AUTO,
    user: as_fetch.User = None,
    password_stdin: as_fetch.PasswordStdin = False,
    api_version: as_fetch.Version = "2.14",
    ca_file: as_fetch.CaFile = None,
    client_cert: as_fetch.ClientCert = None,
    insecure: as_fetch.Insecure = False,
    timeout: as_fetch.Timeout = 60.0,
    max_bytes: common.MaxBytes = common.LIMITS.bytes,
) -> int:
    """Compare two catalogs: what a platform would refuse, what would break users, and what is safe.

    Prints nothing and exits with 0 when nothing changed. A source that cannot be read is told on standard error, and in
    the report, too, unless that is text or allow. A broker is asked as osbctl fetch asks it.

    \b
    osbctl diff HEAD:catalog.yaml catalog.yaml
    osbctl diff --platform cloudfoundry --instances plans.txt old.json new.json
    osbctl diff --format markdown -o comment.md main:catalog.yaml catalog.yaml
    osbctl diff --format allow old.yaml new.yaml >> accepted-changes.toml
    osbctl diff --user platform https://broker.example.com catalog.yaml
    """
    gc.disable()  # as in validation: the run is short, and makes next to no garbage in circles
    connection = Connection(user, password_stdin, api_version, ca_file, client_cert, insecure, timeout, max_bytes)
    try:
        before, after = _read(old, new, at, connection)
    except (DocumentError, SourceError) as error:
        put_unread(error, DiffReport(shown(old), shown(new), [], {}), format, output)
        raise
    view = frozenset(platforms or Platform)
    changes = _changes(before, after, view, instances)
    report = make_report(before.name, after.name, changes, fail_on, allow, color, output)
    report = replace(report, notes=_refused_already(before, view) if changes else (), catalog=after.data)
    return put_report(report, format, output, allow)


def put_unread(
    error: DocumentError | SourceError,
    report: DiffReport,
    format: DiffFormat | None,  # the option's own name
    output: str | None,
) -> None:
    """Put out `report`, which knows the sides alone, with the error, in the formats that others read.

    There, an empty report or that of the last run looks like no change.
    """
    from osbctl.tasks.rules import LazyRules
    from osbctl.tasks.validate import unread

    chosen = effective_format(format, output)
    if chosen in (DiffFormat.TEXT, DiffFormat.ALLOW):  # standard error says it
        return
    root = os.getcwd()  # noqa: PTH109
    put(render(replace(report, rules=LazyRules(), root=root, errors=unread(error)), chosen), output)


def shown(word: str) -> str:
    """What a report calls the source `word`: of an address all but the password.

    Raises:
        UsageError: it begins like an address and is none.
    """
    if not is_address(word):
        return word
    from osbctl.sources.access import shown as without_query
    from osbctl.sources.broker import split_url

    return without_query(split_url(word)[0])


def put_report(
    report: DiffReport,
    format: DiffFormat | None,  # the option's own name
    output: str | None,
    allow: str | None,
) -> int:
    """Put out `report` as the options say, what there is to add on standard error, and return the exit code."""
    put(render(report, effective_format(format, output)), output)
    for problem in report.problems:
        note(f"{allow}: {problem}")
    for sentence in report.notes:
        note(sentence)
    return int(report.failed)


def make_report(
    old: str,
    new: str,
    changes: list[Change],
    fail_on: DiffFailOn,
    allow: str | None,
    color: common.Color,
    output: str | None,
) -> DiffReport:
    """The report of `changes`, without those that the file `allow` accepts."""
    from osbctl.tasks.rules import LazyRules

    sorted_out = _sort_out(changes, allow)
    return DiffReport(
        old=old,
        new=new,
        changes=sorted_out.open,
        rules=LazyRules(),
        accepted=sorted_out.accepted,
        problems=sorted_out.problems,
        fail_on=fail_on,
        root=os.getcwd(),  # noqa: PTH109
        color=_color(color, output),
    )


def effective_format(asked: DiffFormat | None, output: str | None) -> DiffFormat:
    """The format that was asked for, else the one that suits where the report goes."""
    in_actions = os.environ.get("GITHUB_ACTIONS") == "true" and output is None
    return asked or (DiffFormat.GITHUB if in_actions else DiffFormat.TEXT)


def _read(old: str, new: str, at: str, connection: Connection) -> tuple[Document, Document]:
    from osbctl.errors import UsageError

    if [old, new, "-" if connection.password_stdin else ""].count("-") > 1:
        raise UsageError("standard input can be one thing only", "name files for the others")
    before = _source(old, at, connection)
    return before, _source(new, at, connection)


def _source(word: str, at: str, connection: Connection) -> Document:
    from osbctl.sources.limits import Limits
    from osbctl.sources.read import read_source

    if is_address(word):
        return connection.document(word)
    return read_source(word, limits=Limits(bytes=connection.max_bytes), at=at)


def _changes(old: Document, new: Document, view: frozenset[Platform], instances: str | None) -> list[Change]:
    from osbctl.comparison.catalogs import compare_catalogs
    from osbctl.comparison.places import with_places
    from osbctl.tasks.compare import now_refused

    used = _instances(instances, old, new) if instances else None
    changes = compare_catalogs(old.data, new.data, platforms=view, instances=used)
    if not changes:
        return []
    return with_places(changes + now_refused(old.data, new.data, changes, view), old, new)


def _instances(file: str, *sides: Document) -> frozenset[str]:
    from osbctl.catalog import Catalog
    from osbctl.comparison.instances import doubts, read_instances

    ids = read_instances(file)
    if doubt := doubts(ids, {plan.id for side in sides for plan in Catalog.of(side.data).plans}, file):
        note(doubt)
    return ids


def _refused_already(old: Document, view: frozenset[Platform]) -> list[str]:
    """A sentence where platforms refuse the old catalog, too: what they hold is then another one."""
    from osbctl.tasks.compare import refusals_of

    refusing = {refused.platform for refused in refusals_of(old.data, view)}
    labels = ", ".join(platform.label for platform in Platform if platform in refusing)
    told = f"{old.name} is refused as it is by {labels}: what is stored there, if anything, is an older catalog"
    return [told] if refusing else []


def _sort_out(changes: list[Change], allow: str | None) -> Any:
    import datetime

    from osbctl.comparison.allow import load_allowed, sort_out

    return sort_out(changes, load_allowed(allow) if allow else (), datetime.datetime.now(datetime.UTC).date())


def _color(color: common.Color, output: str | None) -> bool:
    from osbctl.cli.terminal import use_color

    return output in (None, "-") and use_color(color.value, sys.stdout)
