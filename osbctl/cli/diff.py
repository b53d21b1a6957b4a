"""`osbctl diff`: what changed between two catalogs, and whom it hurts."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from osbctl.changes import DiffFailOn
from osbctl.cli import options as common
from osbctl.cli.connection import BrokerConnection, read_addressed, source_name
from osbctl.cli.options import Color, ColorChoice, Date, Output
from osbctl.cli.output import annotates, print_note, report_style, write_output
from osbctl.errors import SourceError
from osbctl.findings import DocumentError
from osbctl.platforms import Platform
from osbctl.reports.changes import DIFF, ComparisonNames, DiffFormat, DiffReport, render
from osbctl.tasks.rules import LazyRules

if TYPE_CHECKING:
    from osbctl.tasks.compare import Comparison


@dataclass(frozen=True, slots=True)
class ChangesDisplay:
    """Options of the report of changes."""

    fail_on: Annotated[DiffFailOn, Option(help="Exit with 1 from this level on.")] = DiffFailOn.BREAKING
    allow: Annotated[
        str | None, Option(metavar="FILE", help="Changes that are accepted (TOML, [[allow]] entries).")
    ] = None
    format: Annotated[
        DiffFormat | None,
        Option("--format", "-f", help="The report's format.  [default: text; github inside GitHub Actions]"),
    ] = None
    output: Output = None
    date: Date = ""
    color: ColorChoice = Color.AUTO
    words: ComparisonNames = DIFF

    @property
    def effective_format(self) -> DiffFormat:
        """The format that was asked for, else the one that suits where the report goes."""
        return self.format or (DiffFormat.GITHUB if annotates(self.output) else DiffFormat.TEXT)

    def check_output(self, *inputs: str | None) -> None:
        """Raise UsageError where the report would be written over a file that must not be lost."""
        from osbctl.tasks.outputs import check_output

        check_output(self.output, [*inputs, self.allow])

    def empty(self, old: str, new: str) -> DiffReport:
        """A report that knows its sides alone."""
        color, width = report_style(self.output, self.color)
        return DiffReport(
            old=old,
            new=new,
            changes=[],
            rules=LazyRules(),
            fail_on=self.fail_on,
            root=os.getcwd(),  # noqa: PTH109
            color=color,
            width=width,
            words=self.words,
            date=self.date,
        )

    def report(self, found: Comparison) -> DiffReport:
        """The report of a comparison, without what is accepted."""
        from osbctl.tasks.compare import sort_accepted

        apart = sort_accepted(found.changes, self.allow)
        return replace(
            self.empty(found.old, found.new),
            changes=apart.open,
            accepted=apart.accepted,
            problems=apart.problems,
            notes=found.notes,
        )

    def put(self, report: DiffReport) -> int:
        """Put out `report`, what there is to add on standard error, and return the exit code."""
        write_output(render(report, self.effective_format), self.output)
        for problem in report.problems:
            print_note(f"{self.allow}: {problem}")
        for sentence in report.notes:
            print_note(sentence)
        return int(report.failed)

    def put_unread(self, error: DocumentError | SourceError, old: str, new: str) -> None:
        """Put out why a side cannot be read, in the formats that others read.

        There, an empty report or that of the last run looks like no change. Text is silent: standard error says it.
        """
        from osbctl.tasks.validate import unread

        if self.effective_format not in (DiffFormat.TEXT, DiffFormat.ALLOW):
            write_output(
                render(replace(self.empty(old, new), errors=unread(error)), self.effective_format), self.output
            )


_SOURCE = (
    "A JSON or YAML file, a source folder, a brokerpak, - for standard input, REV:path in git, or a broker's address."
)


@common.spread
def diff(
    old: Annotated[str, Argument(metavar="OLD", help=f"The current catalog. {_SOURCE}", show_default=False)],
    new: Annotated[str, Argument(metavar="NEW", help="The new catalog.", show_default=False)],
    platforms: Annotated[
        list[Platform] | None,
        Option("--platform", "-p", help="Look at it as this platform does; repeatable.  [default: all]"),
    ] = None,
    instances: common.Instances = None,
    *,
    where: common.LocationOptions,
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
    display.check_output(old, new, instances, *connection.files)
    try:
        before, after = read_addressed(connection, old, where), read_addressed(connection, new, where)
    except (DocumentError, SourceError) as error:
        display.put_unread(error, source_name(old), source_name(new))
        raise
    from osbctl.tasks.compare import compare_documents

    report = display.report(compare_documents(before, after, frozenset(platforms or Platform), instances))
    return display.put(replace(report, catalog=after.data))
