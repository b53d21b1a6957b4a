"""`osbctl diff`: changes between two catalogs, and their effects."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from osbctl.changes import DiffFailOn
from osbctl.cli import common
from osbctl.cli.common import ColorChoice, Date, Output
from osbctl.cli.connection import BrokerConnection, read_source_or_broker, source_name
from osbctl.cli.output import is_github_log, print_error, print_note, report_style, write_output
from osbctl.cli.searched import find_named_catalogs
from osbctl.comparison.allow import load_allow_entries, triage_changes
from osbctl.containment import run_on_each
from osbctl.errors import OsbctlError, SourceError, UsageError
from osbctl.findings import DocumentError
from osbctl.platforms import Platform, chosen_or_all
from osbctl.reports.changes import DIFF, ComparisonNames, DiffFormat, DiffReport, render
from osbctl.sources.catalogs import require_services
from osbctl.sources.read_bytes import is_revision
from osbctl.tasks.options import all_rules

if TYPE_CHECKING:
    from osbctl.sources.document import Document
    from osbctl.tasks.compare import Comparison
    from osbctl.tasks.revisions import Pair


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
    old: Annotated[
        str,
        Argument(
            metavar="OLD", help=f"The current catalog, or a git revision of NEW. {common.ADDRESSED}", show_default=False
        ),
    ],
    new: Annotated[
        str | None,
        Argument(
            metavar="NEW", help="The new catalog.  [default: with a revision, all in this folder]", show_default=False
        ),
    ] = None,
    platforms: common.JudgedPlatforms = None,
    instances: common.Instances = None,
    exclude: common.Exclude = None,
    *,
    where: common.LocationOptions,
    display: ChangesDisplay,
    connection: BrokerConnection,
) -> int:
    """Compare two catalogs: what a platform would refuse, what would break users, and what is safe.

    Exits with 0 if nothing changed; text, markdown, github and allow are empty then. If a catalog cannot be read,
    the reason is on standard error and in every report format except text and allow. A broker is fetched as by
    osbctl fetch; broker:NAME is a registered one.

    What breaks users comes first. One mistake is one change, whichever platforms refuse it. Equal changes of several
    objects are one entry with its places in text, markdown, github and html; the other formats have each.

    With a git revision, such as a branch, NEW is compared with what stands at the same path there. If NEW is a folder,
    so is each catalog in it, as osbctl validate finds them; those that were removed since count as empty.

    \b
    osbctl diff main
    osbctl diff HEAD:catalog.yaml catalog.yaml
    osbctl diff --platform cloudfoundry --instances plans.txt old.json new.json
    osbctl diff --format markdown -o comment.md main:catalog.yaml catalog.yaml
    osbctl diff --format allow old.yaml new.yaml >> accepted-changes.toml
    osbctl diff --user platform https://broker.example.com catalog.yaml
    osbctl diff broker:data catalog.yaml
    osbctl brokers show data -f json --version -1 | osbctl diff - catalog.yaml
    """
    from osbctl.tasks.options import chosen_platforms, first_config
    from osbctl.tasks.output_checks import check_output

    pairs: Sequence[Pair] = ()
    if is_revision(old):
        from osbctl.tasks.revisions import pair_with_revision

        revision, folder = old, new or "."
        sources = find_named_catalogs([folder], exclude=exclude)
        pairs = pair_with_revision(revision, sources, "" if sources == [folder] else folder, exclude or ())
        old, new = pairs[0]
    elif new is None:
        message = f"{source_name(old)} is not a revision of git, so there is nothing to compare it with"
        raise UsageError(message, "osbctl diff OLD NEW; or osbctl diff main, in a clone that has main")
    both = [source for pair in pairs for source in pair if source] or [old, new]
    connection.check_stdin(*both)
    connection.check_used(where, *both)
    check_output(display.output, [*both, instances, display.allow, where.config, where.env, *connection.files])
    connection = connection.with_configured_version(first_config(both[::-1], where.config))

    def judged(*sources: str) -> frozenset[Platform]:
        return frozenset(chosen_or_all(chosen_platforms(platforms, first_config(sources, where.config))))

    if len(pairs) > 1 or not (old and new):
        from osbctl.tasks.compare import compare_all

        read = partial(read_source_or_broker, connection, where=where)
        return _report_pairs(revision, folder, pairs, read, display, lambda both: compare_all(both, judged, instances))
    try:
        before, after = read_source_or_broker(connection, old, where), read_source_or_broker(connection, new, where)
        require_services(before, as_list=True)
    except (DocumentError, SourceError) as error:
        display.print_error_report(error, source_name(old), source_name(new))
        raise
    from osbctl.tasks.compare import compare_documents

    comparison = compare_documents(before, after, judged(new, old), instances)
    return display.print_report(display.make_report(comparison, catalog=after.data))


def _report_pairs(
    revision: str,
    new: str,
    pairs: Sequence[Pair],
    read: Callable[[str], Document],
    display: ChangesDisplay,
    compare: Callable[[Sequence[tuple[Document, Document]]], Sequence[Comparison]],
) -> int:
    """Compare several catalogs with those in a revision, in one report; those that cannot be read are named in it."""
    from osbctl.tasks.compare import Comparison
    from osbctl.tasks.revisions import empty_catalog
    from osbctl.tasks.validate import error_findings

    if display.effective_format is DiffFormat.HTML:
        raise UsageError("html shows one catalog, and there are several", f"osbctl page --since {revision}")

    def read_pair(pair: Pair) -> tuple[Document | None, Document]:
        after = read(pair.new) if pair.new else empty_catalog(pair.old)
        return require_services(read(pair.old), as_list=True) if pair.old else None, after

    found = run_on_each(read_pair, pairs)
    errors = [
        (pair.new or pair.old, one) for pair, one in zip(pairs, found, strict=True) if isinstance(one, OsbctlError)
    ]
    documents = [one for one in found if not isinstance(one, OsbctlError)]
    compared = compare([(old, after) for old, after in documents if old])
    changes = [change for one in compared for change in one.changes]
    report = display.make_report(
        Comparison(revision, new, changes, [note for one in compared for note in one.notes]),
        errors=[finding for name, error in errors for finding in error_findings(error, name)],
        new_catalogs=[after.name for old, after in documents if old is None],
    )
    codes = [print_error(error, name) for name, error in errors]
    return max([*codes, display.print_report(report)])
