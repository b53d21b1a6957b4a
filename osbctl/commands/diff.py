"""`osbctl diff`: changes between two catalogs, and their effects."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from osbctl.changes import Change, DiffFailOn
from osbctl.commands import options as common
from osbctl.commands.connection import BrokerConnection, check_in_clone, read_source_or_broker, source_name
from osbctl.commands.options import Argument, ColorChoice, Date, Option, Output, find_named_catalogs
from osbctl.commands.output import check_output, is_github_log, print_error, print_note, report_style, write_output
from osbctl.commands.settings import all_rules, chosen_platforms, first_config
from osbctl.comparison.allow import load_allow_entries, triage_changes
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.collector import add_locations
from osbctl.comparison.refusals import Refusals, find_clashes, find_new_refusals, fold_safe_changes
from osbctl.config import Config
from osbctl.errors import OsbctlError, SourceError, UsageError, run_on_each
from osbctl.findings import DocumentError, error_findings
from osbctl.platforms import Identity, Platform, chosen_or_all, format_platforms
from osbctl.platforms.golang import catalog_as_read
from osbctl.platforms.updates import StoredRow, notes_on_changes, simulate_update
from osbctl.reports.changes import DIFF, ComparisonNames, DiffFormat, DiffReport, render
from osbctl.sources.catalogs import require_services
from osbctl.sources.document import Document
from osbctl.sources.folder.source_tree import LOCK, MANIFEST, is_brokerpak
from osbctl.sources.read_bytes import (
    is_in_git,
    is_revision,
    path_from_here,
    path_in_revision,
    path_to_top,
    read_files_in_git,
    run_git,
)


class ChangesDisplay(NamedTuple):
    """Options of a report of changes."""

    fail_on: Annotated[DiffFailOn, Option("Exit with 1 at changes of this level or above.")] = DiffFailOn.BREAKING
    allow: Annotated[str | None, Option("Accepted changes: TOML with [[allow]] entries.", metavar="FILE")] = None
    format: Annotated[
        DiffFormat | None,
        Option("Format of the report.  [default: text; github inside GitHub Actions]", "--format", "-f"),
    ] = None
    output: Output = None
    date: Date = ""
    color: ColorChoice = "auto"
    names: ComparisonNames = DIFF

    @property
    def effective_format(self) -> DiffFormat:
        """The chosen format; by default text, or annotations inside GitHub Actions."""
        return self.format or (DiffFormat.GITHUB if is_github_log(self.output) else DiffFormat.TEXT)

    def empty_report(self, old: str, new: str) -> DiffReport:
        """A report on two catalogs by their names, without changes."""
        style = report_style(self.output, self.color)
        return DiffReport(old, new, (), all_rules, fail_on=self.fail_on, names=self.names, date=self.date, **style)

    def make_report(self, comparison: Comparison) -> DiffReport:
        """The report of a comparison, with accepted changes apart."""
        allowed = load_allow_entries(self.allow) if self.allow else ()
        sorted_changes = triage_changes(comparison.changes, allowed, datetime.now(UTC).date())
        return replace(
            self.empty_report(comparison.old, comparison.new),
            changes=sorted_changes.open,
            accepted=sorted_changes.accepted,
            problems=sorted_changes.problems,
            notes=comparison.notes,
        )

    def make_error_report(self, error: OsbctlError, old_name: str, new_name: str) -> DiffReport:
        """The report that says why nothing was compared."""
        return replace(self.empty_report(old_name, new_name), errors=error_findings(error, new_name))

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


def diff(
    old: Annotated[
        str, Argument("OLD", f"The current catalog, or a git revision of NEW. {common.ADDRESSED}", complete="sources")
    ],
    new: Annotated[
        str | None,
        Argument("NEW", "The new catalog.  [default: with a revision, all in this folder]", complete="sources"),
    ] = None,
    platforms: common.JudgedPlatforms = (),
    instances: common.Instances = None,
    exclude: common.Exclude = (),
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
    pairs: Sequence[Pair] = ()
    if is_revision(old):
        revision, folder = old, new or "."
        check_in_clone(revision, [folder])
        pairs = _find_pairs(revision, folder, exclude)
        old, new = pairs[0]
    elif new is None and is_revision(f"{old}^0"):
        advice = f"osbctl diff {old}^0 compares with the revision, osbctl diff {old} NEW with the file"
        raise UsageError(f"{old} is a file or folder, and a revision of git, too", advice)
    elif new is None:
        message = f"{source_name(old)} is not a revision of git, so there is nothing to compare it with"
        raise UsageError(message, "osbctl diff OLD NEW; or osbctl diff main, in a clone that has main")
    both = [source for pair in pairs for source in pair if source] or [old, new]
    connection.check_stdin(*both)
    connection.check_used(where, *both)
    check_output(display.output, [*both, instances, display.allow, where.config, where.env, *connection.files])
    config = first_config(both[::-1], where.config)
    read = partial(read_source_or_broker, connection.with_configured_version(config), where=where)

    def judged(config: Config) -> frozenset[Platform]:
        return frozenset(chosen_or_all(chosen_platforms(platforms, config)))

    if len(pairs) > 1 or (pairs and not (old and new)):

        def compare(both: Sequence[tuple[Document, Document]]) -> list[Comparison]:
            return compare_all(both, lambda name: judged(first_config([name], where.config)), instances)

        return _report_pairs(revision, folder, pairs, read, display, compare)
    try:
        before, after = read(old), read(new)
        require_services(before, as_list=True)
    except (DocumentError, SourceError) as error:
        display.print_error_report(error, source_name(old), source_name(new))
        raise
    (comparison,) = compare_all([(before, after)], lambda _: judged(config), instances)
    return display.print_report(replace(display.make_report(comparison), catalog=after.data))


def _report_pairs(
    revision: str,
    new: str,
    pairs: Sequence[Pair],
    read: Callable[[str], Document],
    display: ChangesDisplay,
    compare: Callable[[Sequence[tuple[Document, Document]]], Sequence[Comparison]],
) -> int:
    """Compare catalogs with those in a revision, in one report; those that cannot be read are named in it."""
    if display.effective_format is DiffFormat.HTML and len(pairs) > 1:
        raise UsageError("html shows one catalog, and there are several", f"osbctl page --since {revision}")

    def read_pair(pair: Pair) -> tuple[Document | None, Document]:
        path = pair.old.partition(":")[2].removeprefix("./")  # where it was
        after = read(pair.new) if pair.new else Document(path, {"services": []}, "json")
        return require_services(read(pair.old), as_list=True) if pair.old else None, after

    found = run_on_each(read_pair, pairs)
    errors = [
        (pair.new or pair.old, one) for pair, one in zip(pairs, found, strict=True) if isinstance(one, OsbctlError)
    ]
    documents = [one for one in found if not isinstance(one, OsbctlError)]
    compared = compare([(old, after) for old, after in documents if old])
    changes = [change for one in compared for change in one.changes]
    comparison = Comparison(revision, new, changes, [note for one in compared for note in one.notes])
    report = replace(
        display.make_report(comparison),
        errors=[finding for name, error in errors for finding in error_findings(error, name)],
        new_catalogs=[after.name for old, after in documents if old is None],
        catalog=documents[0][1].data if documents else None,
    )
    codes = [print_error(error, name) for name, error in errors]
    return max([*codes, display.print_report(report)])


class Comparison(NamedTuple):
    """Names of both sides, the changes from the old to the new, and notes, a sentence each."""

    old: str
    new: str
    changes: list[Change]
    notes: list[str]


def compare_all(
    pairs: Sequence[tuple[Document, Document]],
    platforms_of: Callable[[str], frozenset[Platform]],
    instances_file: str | None = None,
) -> list[Comparison]:
    """Compare the catalogs of each pair, an old and a new one; `instances_file` lists plans with instances.

    `platforms_of` returns the platforms that judge the new catalog of that name.

    Raises OsbctlError: that file cannot be read, or holds no plan of any catalog.
    """
    used_plans: frozenset[str] | None = None
    notes: list[str] = []
    if instances_file is not None:
        from osbctl.comparison.instances import check_plan_ids, read_used_plans  # loads the readers of all exports

        used_plans = read_used_plans(instances_file)
        documents = [document for pair in pairs for document in pair]
        notes = check_plan_ids(used_plans, plan_ids(*documents), instances_file)
    compared = [compare_documents(old, new, platforms_of(new.name), used_plans) for old, new in pairs]
    if compared:
        compared[0].notes[:0] = notes
    return compared


def compare_documents(
    old: Document, new: Document, platforms: frozenset[Platform], used_plans: frozenset[str] | None = None
) -> Comparison:
    """Compare two catalogs as `platforms` do; `used_plans` are the plans with instances, None if unknown."""
    notes: list[str] = []
    changes = compare_catalogs(old.catalog, new.catalog, platforms=platforms, used_plans=used_plans)
    if not changes and repr(old.data) == repr(new.data):  # 60.0 is 60 to JSON, and a duration that platforms refuse
        return Comparison(old.name, new.name, [], notes)
    old_refusals = refusals_by_platform(old.data, platforms)
    changes = add_refusals(old.data, new.data, changes, platforms, old_refusals, used=used_plans or ())
    if not changes:
        return Comparison(old.name, new.name, [], notes)
    if old_refusals:
        who = format_platforms(old_refusals)
        effect = "such a platform still has the catalog before it, so this comparison does not show what changes there"
        notes.append(f"{old.name} is refused by {who}: {effect}")
    changes = add_locations(changes, old, new)
    if len(platforms) < len(Platform):
        notes += notes_on_changes(chosen_or_all(platforms), {change.rule for change in changes})
    return Comparison(old.name, new.name, changes, notes)


def plan_ids(*documents: Document) -> set[str]:
    read = (catalog_as_read(platform, document.data) for document in documents for platform in Platform)
    return {plan.id for catalog in read for plan in catalog.plans}


def add_refusals(
    old: dict[str, Any],
    new: dict[str, Any],
    changes: list[Change],
    platforms: frozenset[Platform],
    old_refusals: Refusals | None = None,
    *,
    is_stored: bool = False,
    used: Collection[str] = (),
    kept: Collection[StoredRow] = (),
    others: Mapping[tuple[Identity, str], str] = MappingProxyType({}),
) -> list[Change]:
    """`changes`, and refusals of `new` but not of `old` (`old_refusals`) by `platforms` that they do not cover.

    `is_stored`: platforms are known to have `old`, else only those that accept it; the rest as in `simulate_update`.
    """
    refused = refusals_by_platform(new, platforms)
    updates = {}
    for platform in (each for each in Platform if each in platforms):
        before, after = (catalog_as_read(platform, data) for data in (old, new))
        reasons = refused.get(platform, ())
        updates[platform] = simulate_update(platform, before, after, used, reasons, kept=kept, others=others)
    if not refused and not any(update.clashes for update in updates.values()):
        return changes
    if old_refusals is None:
        old_refusals = refusals_by_platform(old, platforms)
    partly = [platform for platform in refused if updates[platform].is_applied_in_part]
    found = find_new_refusals(old, new, old_refusals, refused, changes, partly)
    unknown = () if is_stored else old_refusals
    updates = {platform: update for platform, update in updates.items() if platform not in (*refused, *unknown)}
    return fold_safe_changes(changes, found) + find_clashes(old, new, updates, changes)


def refusals_by_platform(data: dict[str, Any], platforms: frozenset[Platform]) -> Refusals:
    """Refusals of a catalog by those of `platforms` that refuse it."""
    from osbctl.placeholders import judge_template

    outcomes = judge_template(data, platforms)
    return {platform: outcome.refusals for platform, outcome in outcomes.items() if outcome.refusals}


class Pair(NamedTuple):
    """A catalog in a revision, and now. Empty where there is none."""

    old: str
    new: str


def _find_pairs(revision: str, folder: str, excluded: Sequence[str]) -> list[Pair]:
    """The pairs of a catalog, or of those in a folder, all of which may be gone."""
    from osbctl.sources.discovery import find_sources

    sources = find_named_catalogs([folder], exclude=excluded)
    if sources != [folder]:
        return pair_with_revision(revision, sources, folder, excluded)
    if os.path.isdir(folder) and not find_sources(folder, excluded=excluded).sources:  # noqa: PTH112
        return pair_with_revision(revision, (), folder, excluded) or [Pair("", folder)]
    return pair_with_revision(revision, sources, "")


def pair_with_revision(revision: str, sources: Sequence[str], folder: str, excluded: Sequence[str] = ()) -> list[Pair]:
    """Each of `sources` with the one at the same path in a revision, or at the path from which git sees it moved.

    Then the catalogs that are not there any more, or are none, where `folder` was searched for the sources (else it is
    empty), but those `excluded` from the search.
    """
    from osbctl.sources.discovery import excludes, is_below

    top = path_to_top() or os.curdir
    moved, changed = _changed_paths(revision, top)
    if folder != top:
        changed = _changed_paths(revision, folder)[1] if folder else {}
    now = [*map(path_from_here, sources)]
    is_excluded = excludes(excluded)
    pairs, below = [], set(now)
    for name, source in zip(now, sources, strict=True):
        old = path_in_revision(revision, name)
        # A file of a source folder may be moved into one that was there, or from one that still is.
        if name in moved and moved[name] not in now and not is_in_git(old):
            below.add(moved[name])
            old = path_in_revision(revision, moved[name])
        pairs.append(Pair(old if is_in_git(old) else "", source))
    gone = {
        path: "" if is_excluded(new) or is_below(new, now) else new
        for path, new in changed.items()
        if not (new in now or "." in below or is_excluded(path) or is_below(path, below))
    }
    return pairs + _find_catalogs(revision, gone)


def _find_catalogs(revision: str, files: Mapping[str, str]) -> list[Pair]:
    """The brokerpaks, source folders with a lock, and other catalogs that files of a revision belong to, as removed.

    Where such a file is now, it is compared, although the search did not take it for a catalog.
    """
    from osbctl.sources.discovery import is_below, is_catalog

    # A source folder is one as long as it has parts, a brokerpak as long as its manifest says so.
    parts = [path.rpartition("/services/")[0] for path, new in files.items() if not new]
    heads = {*parts, *(path.removesuffix(f"/{MANIFEST}") for path in files if path.endswith(f"/{MANIFEST}"))} - {""}
    olds = {head: path_in_revision(revision, head) for head in sorted(heads)}
    whole = {head: old for head, old in olds.items() if is_in_git(f"{old}/{LOCK}") or is_brokerpak(old)}
    others = {path_in_revision(revision, path): path for path in files if not is_below(path, whole)}
    texts = zip(others.items(), read_files_in_git([*others]), strict=True)
    found = [(old, files[path]) for (old, path), text in texts if is_catalog(path, text)]
    pairs = [Pair(old, new if os.path.lexists(new) else "") for old, new in found]
    return [Pair(old, "") for old in whole.values()] + pairs


def _changed_paths(revision: str, folder: str) -> tuple[dict[str, str], dict[str, str]]:
    """What was moved since a revision, files and their folders (new path to old).

    And the files that may have held a catalog, and were changed: old path to new, which is empty if it was deleted.
    """
    from osbctl.sources.discovery import is_own_file, may_be_catalog

    words = ("diff", "--no-ext-diff", "--ignore-submodules=all", "--relative", "--name-status", "-z")
    for option in ("-M", "--no-renames"):  # a partial clone may lack what the first compares
        listed = run_git(*words, option, revision, "--", ".", folder=folder)
        if listed is not None:
            break
    if listed is None:
        raise SourceError(f"git cannot compare {revision} with the working folder", f"`git diff {revision}` says why")
    fields = iter(os.fsdecode(listed).split("\0")[:-1])
    moved, changed = {}, {}
    for status in fields:  # and behind it a path; two, if it was moved
        path = next(fields)
        new = here = path_from_here(os.path.join(folder, path))  # noqa: PTH118
        if status.startswith(("R", "C")):
            new = path_from_here(os.path.join(folder, next(fields)))  # noqa: PTH118
        if status[0] not in "AC" and may_be_catalog(path) and is_own_file(path):
            changed[here] = "" if status == "D" else new
        if new != here:
            moved[new] = here
            while new != "." and new.rpartition("/")[2] == here.rpartition("/")[2]:
                new, here = (path.rpartition("/")[0] or "." for path in (new, here))
                moved.setdefault(new, here)
    return moved, changed
