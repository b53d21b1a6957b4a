"""`osbctl diff`: what changed between two catalogs, and whom it hurts."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from osbctl.changes import DiffFailOn
from osbctl.cli import options as common
from osbctl.cli.output import note, put
from osbctl.platforms import Platform
from osbctl.reports.changes import DiffFormat, DiffReport, render

if TYPE_CHECKING:
    from osbctl.changes import Change
    from osbctl.comparison.refusals import Refused
    from osbctl.sources.document import Document

_SOURCE = "A JSON or YAML file, a source folder, - for standard input, or REV:path for a file in git."


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help=f"The catalog as it is. {_SOURCE}", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The catalog as it shall be.", show_default=False)],
    platforms: Annotated[
        list[Platform] | None,
        typer.Option("--platform", "-p", help="Look at it as this platform does; repeatable.  [default: all]"),
    ] = None,
    instances: Annotated[
        str | None,
        typer.Option(
            "--instances",
            metavar="FILE",
            help="The plans that have instances: ids, one a line or as a JSON list, or the platform's export.",
        ),
    ] = None,
    fail_on: Annotated[
        DiffFailOn, typer.Option("--fail-on", help="Exit with 1 from this level on.")
    ] = DiffFailOn.BREAKING,
    allow: Annotated[
        str | None, typer.Option("--allow", metavar="FILE", help="Changes that are accepted (TOML, [[allow]] entries).")
    ] = None,
    format: Annotated[  # the option's own name
        DiffFormat | None,
        typer.Option("--format", "-f", help="The report's format.  [default: text; github inside GitHub Actions]"),
    ] = None,
    output: common.Output = None,
    at: common.At = "",
    color: common.ColorChoice = common.Color.AUTO,
) -> int:
    """Compare two catalogs: what a platform would refuse, what would break users, and what is safe.

    Prints nothing and exits with 0 when nothing changed.

    \b
    osbctl diff HEAD:catalog.yaml catalog.yaml
    osbctl diff --platform cloudfoundry --instances plans.txt old.json new.json
    osbctl diff --format markdown -o comment.md main:catalog.yaml catalog.yaml
    osbctl diff --format allow old.yaml new.yaml >> accepted-changes.toml
    """
    from osbctl.cli.validation_run import LazyRules

    before, after = _read(old, new, at)
    changes = _changes(before, after, frozenset(platforms or Platform), instances)
    sorted_out = _sort_out(changes, allow)
    report = DiffReport(
        old=before.name,
        new=after.name,
        changes=sorted_out.open,
        rules=LazyRules(),
        accepted=sorted_out.accepted,
        problems=sorted_out.problems,
        fail_on=fail_on,
        root=os.getcwd(),  # noqa: PTH109
        color=_color(color, output),
    )
    in_actions = os.environ.get("GITHUB_ACTIONS") == "true" and output is None
    put(render(report, format or (DiffFormat.GITHUB if in_actions else DiffFormat.TEXT)), output)
    for problem in report.problems:
        note(f"{allow}: {problem}")
    return int(report.failed)


def _read(old: str, new: str, at: str) -> tuple[Document, Document]:
    from osbctl.errors import UsageError
    from osbctl.sources.read import read_source

    if old == new == "-":
        raise UsageError("standard input cannot be both catalogs", "name a file for one of them")
    return read_source(old, at=at), read_source(new, at=at)


def _changes(old: Document, new: Document, view: frozenset[Platform], instances: str | None) -> list[Change]:
    from osbctl.comparison.catalogs import compare_catalogs
    from osbctl.comparison.instances import read_instances
    from osbctl.comparison.places import with_places
    from osbctl.comparison.refusals import new_refusals

    used = read_instances(instances) if instances else None
    changes = compare_catalogs(old.data, new.data, platforms=view, instances=used)
    if not changes:
        return []
    refused = _refused(new.data, view)
    known = _refused(old.data, view) if refused else []
    return with_places(changes + new_refusals(old.data, new.data, known, refused, changes), old, new)


def _refused(data: dict[str, Any], view: frozenset[Platform]) -> list[Refused]:
    from osbctl.comparison.refusals import Refused
    from osbctl.validation.platforms import judge_all

    return [
        Refused(platform, refusal.rule, refusal.path, refusal.message)
        for platform, outcome in judge_all(data).items()
        if platform in view
        for refusal in outcome.refusals
    ]


def _sort_out(changes: list[Change], allow: str | None) -> Any:
    import datetime

    from osbctl.comparison.allow import load_allowed, sort_out

    return sort_out(changes, load_allowed(allow) if allow else (), datetime.datetime.now(datetime.UTC).date())


def _color(color: common.Color, output: str | None) -> bool:
    from osbctl.cli.terminal import use_color

    return output in (None, "-") and use_color(color.value, sys.stdout)
