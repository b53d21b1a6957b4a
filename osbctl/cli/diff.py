"""`osbctl diff`: changes between two catalogs, and their effects."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from osbctl.changes import DiffFailOn
from osbctl.cli import common
from osbctl.cli.common import ColorChoice, Date, Output
from osbctl.cli.connection import BrokerConnection, read_source_or_broker, source_name
from osbctl.cli.output import is_github_log, print_note, report_style, write_output
from osbctl.comparison.allow import load_allow_entries, triage_changes
from osbctl.errors import OsbctlError, SourceError
from osbctl.findings import DocumentError
from osbctl.platforms import chosen_or_all
from osbctl.reports.changes import DIFF, ComparisonNames, DiffFormat, DiffReport, render
from osbctl.sources.catalogs import require_services
from osbctl.tasks.options import all_rules

if TYPE_CHECKING:
    from osbctl.tasks.compare import Comparison


@dataclass(frozen=True, slots=True)
class ChangesDisplay:
    """Options of a report of changes."""

    fail_on: Annotated[DiffFailOn, Option(help="Exit with 1 at changes of this level or above.")] = DiffFailOn.BREAKING
    allow: Annotated[str | None, Option(metavar="FILE", help="Accepted changes: TOML with [[allow]] entries.")] = None
    format: Annotated[
        DiffFormat | None,
        Option("--format", "-f", help="Format of the report.  [default: text; github inside GitHub Actions]"),
    ] = None
    output: Output = None
    date: Date = ""
    color: ColorChoice = "auto"
    words: ComparisonNames = DIFF

    @property
    def effective_format(self) -> DiffFormat:
        """The chosen format; by default text, or annotations inside GitHub Actions."""
        return self.format or (DiffFormat.GITHUB if is_github_log(self.output) else DiffFormat.TEXT)

    def _build_report(self, old_name: str, new_name: str, **content: Any) -> DiffReport:
        """A report on two catalogs by their names; `content` are other fields of it."""
        color, width = report_style(self.output, self.color)
        return DiffReport(
            old_name,
            new_name,
            content.pop("changes", ()),
            all_rules,
            fail_on=self.fail_on,
            root=os.getcwd(),  # noqa: PTH109
            color=color,
            width=width,
            words=self.words,
            date=self.date,
            **content,
        )

    def make_report(self, comparison: Comparison, **content: Any) -> DiffReport:
        """The report of a comparison, with accepted changes apart; `content` as in `_build_report`."""
        allowed = load_allow_entries(self.allow) if self.allow else ()
        sorted_changes = triage_changes(comparison.changes, allowed, datetime.now(UTC).date())
        return self._build_report(
            comparison.old,
            comparison.new,
            changes=sorted_changes.open,
            accepted=sorted_changes.accepted,
            problems=sorted_changes.problems,
            notes=comparison.notes,
            **content,
        )

    def print_report(self, report: DiffReport) -> int:
        """Print the report, its notes on standard error, and return the exit code."""
        write_output(render(report, self.effective_format), self.output)
        print_note(*(f"{self.allow}: {problem}" for problem in report.problems), *report.notes)
        return int(report.failed)

    def print_error_report(self, error: OsbctlError, old_name: str, new_name: str) -> None:
        """Print why a side cannot be read, in the machine formats; else an empty report would look like no change."""
        if self.effective_format not in (DiffFormat.TEXT, DiffFormat.ALLOW):
            report = self.make_error_report(error, old_name, new_name)
            write_output(render(report, self.effective_format), self.output)

    def make_error_report(self, error: OsbctlError, old_name: str, new_name: str) -> DiffReport:
        """The report that says why nothing was compared."""
        from osbctl.tasks.validate import error_findings

        return self._build_report(old_name, new_name, errors=error_findings(error, new_name))


@common.expand_option_groups
def diff(
    old: Annotated[str, Argument(metavar="OLD", help=f"The current catalog. {common.ADDRESSED}", show_default=False)],
    new: Annotated[str, Argument(metavar="NEW", help="The new catalog.", show_default=False)],
    platforms: common.JudgedPlatforms = None,
    instances: common.Instances = None,
    *,
    where: common.LocationOptions,
    display: ChangesDisplay,
    connection: BrokerConnection,
) -> int:
    """Compare two catalogs: what a platform would refuse, what would break users, and what is safe.

    Exits with 0 if nothing changed; text, markdown, github and allow are empty then. If a catalog cannot be read,
    the reason is on standard error and in every report format except text and allow. A broker is fetched as by
    osbctl fetch.

    \b
    osbctl diff HEAD:catalog.yaml catalog.yaml
    osbctl diff --platform cloudfoundry --instances plans.txt old.json new.json
    osbctl diff --format markdown -o comment.md main:catalog.yaml catalog.yaml
    osbctl diff --format allow old.yaml new.yaml >> accepted-changes.toml
    osbctl diff --user platform https://broker.example.com catalog.yaml
    osbctl brokers show data -f json --version -1 | osbctl diff - catalog.yaml
    """
    from osbctl.tasks.options import chosen_platforms, first_config
    from osbctl.tasks.output_checks import check_output

    connection.check_stdin(old, new)
    connection.check_used(where, old, new)
    check_output(display.output, [old, new, instances, display.allow, where.config, where.env, *connection.files])
    config = first_config((new, old), where.config)
    judged = chosen_or_all(chosen_platforms(platforms, config))
    connection = connection.with_configured_version(config)
    try:
        before, after = read_source_or_broker(connection, old, where), read_source_or_broker(connection, new, where)
        require_services(before, as_list=True)
    except (DocumentError, SourceError) as error:
        display.print_error_report(error, source_name(old), source_name(new))
        raise
    from osbctl.tasks.compare import compare_documents

    comparison = compare_documents(before, after, frozenset(judged), instances)
    return display.print_report(display.make_report(comparison, catalog=after.data))
