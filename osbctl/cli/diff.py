"""`osbctl diff`: what changed between two catalogs, and whom it hurts."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Annotated

from typer import Argument, Option

from osbctl.cli import options as common
from osbctl.cli.changes_report import ChangesDisplay
from osbctl.cli.connection import BrokerConnection, read_addressed, shown
from osbctl.cli.spread import spread
from osbctl.errors import SourceError
from osbctl.findings import DocumentError
from osbctl.platforms import Platform

_SOURCE = (
    "A JSON or YAML file, a source folder, - for standard input, REV:path for a file in git, or a broker's address."
)


@spread
def diff(
    old: Annotated[str, Argument(metavar="OLD", help=f"The current catalog. {_SOURCE}", show_default=False)],
    new: Annotated[str, Argument(metavar="NEW", help="The new catalog.", show_default=False)],
    platforms: Annotated[
        list[Platform] | None,
        Option("--platform", "-p", help="Look at it as this platform does; repeatable.  [default: all]"),
    ] = None,
    instances: common.Instances = None,
    at: common.At = "",
    *,
    display: ChangesDisplay,
    connection: BrokerConnection,
) -> int:
    """Compare two catalogs: what a platform would refuse, what would break users, and what is safe.

    Prints nothing and exits with 0 when nothing changed. Why a source cannot be read stands on standard error, and in
    the report, too, unless that is text or allow. A broker is asked as osbctl fetch asks it.

    \b
    osbctl diff HEAD:catalog.yaml catalog.yaml
    osbctl diff --platform cloudfoundry --instances plans.txt old.json new.json
    osbctl diff --format markdown -o comment.md main:catalog.yaml catalog.yaml
    osbctl diff --format allow old.yaml new.yaml >> accepted-changes.toml
    osbctl diff --user platform https://broker.example.com catalog.yaml
    osbctl brokers show data -f json --version -1 | osbctl diff - catalog.yaml
    """
    gc.disable()  # as in validation: the run is short, and makes next to no garbage in circles
    connection.check_stdin(old, new)
    display.check_output(old, new, instances, *connection.how.files)
    try:
        before, after = read_addressed(connection, old, at), read_addressed(connection, new, at)
    except (DocumentError, SourceError) as error:
        display.put_unread(error, shown(old), shown(new))
        raise
    from osbctl.tasks.compare import compare

    report = display.report(compare(before, after, frozenset(platforms or Platform), instances))
    return display.put(replace(report, catalog=after.data))
