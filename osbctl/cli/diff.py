"""`osbctl diff`: what a change of a catalog would do on each platform."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from osbctl.changes import Change, DiffFailOn
from osbctl.cli import options as common
from osbctl.cli.output import note, put
from osbctl.platforms import Platform
from osbctl.reports.changes_report import DiffFormat

if TYPE_CHECKING:
    from osbctl.comparison.refusals import Refused


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The catalog that platforms have: any source.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The catalog that they would get: any source.")],
    platforms: Annotated[
        list[Platform] | None, typer.Option("--platform", "-p", help="Look at this platform only; repeatable.")
    ] = None,
    instances: Annotated[
        str | None, typer.Option(metavar="FILE", help="The plans that have instances: ids, or a platform's export.")
    ] = None,
    fail_on: Annotated[DiffFailOn, typer.Option(help="Exit with 1 from this level on.")] = DiffFailOn.BREAKING,
    format: Annotated[DiffFormat, typer.Option("--format", "-f", help="The report's format.")] = DiffFormat.TEXT,
    output: common.Output = None,
    allow: Annotated[
        str | None, typer.Option("--allow", metavar="FILE", help="Changes that were accepted, as TOML.")
    ] = None,
    at: common.At = "",
) -> int:
    """Compare two catalogs: which changes a platform refuses, which break users, which are safe.

    Services and plans are matched by id, as platforms do. No output and exit code 0 where nothing changed.

    \b
    osbctl diff main:catalog.yaml catalog.yaml
    osbctl diff --platform cloudfoundry --fail-on refused old.json new.json
    osbctl diff --format allow old.json new.json >> accepted.toml
    """
    from osbctl.comparison.catalogs import compare_catalogs
    from osbctl.comparison.instances import read_instances
    from osbctl.comparison.places import with_places
    from osbctl.comparison.refusals import new_refusals
    from osbctl.sources.read import read_source

    before, after = read_source(old, at=at), read_source(new, at=at)
    in_view = tuple(platforms or Platform)
    known = read_instances(instances) if instances else None
    changes = compare_catalogs(before.data, after.data, platforms=in_view, instances=known)
    if changes:
        then, now = _refused(before.data, in_view), _refused(after.data, in_view)
        changes = [*changes, *new_refusals(before.data, after.data, then, now, changes)]
    open_changes = _accepted(changes, allow) if allow else changes
    placed = with_places(open_changes, before, after)
    from osbctl.reports.changes_report import render

    put(render(placed, format), output)
    return int(any(fail_on.counts(change) for change in placed))


def _refused(data: dict[str, Any], in_view: Sequence[Platform]) -> Iterator[Refused]:
    """What validation knows that the platforms in view refuse in a catalog."""
    from osbctl.comparison.refusals import Refused
    from osbctl.validation.platforms import judge_all

    for platform, outcome in judge_all(data).items():
        if platform in in_view:
            for refusal in outcome.refusals:
                yield Refused(platform, refusal.rule, refusal.path, refusal.message)


def _accepted(changes: list[Change], allow: str) -> list[Change]:
    """The changes that no entry of the allow file covers; stale entries are named."""
    import datetime

    from osbctl.comparison.allow import load_allowed, sort_out

    outcome = sort_out(changes, load_allowed(allow), datetime.datetime.now(datetime.UTC).date())
    for problem in outcome.problems:
        note(f"{allow}: {problem}")
    return outcome.open
