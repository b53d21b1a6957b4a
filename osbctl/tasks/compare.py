"""Work of `osbctl diff`: changes between two catalogs, and new refusals."""

from dataclasses import dataclass
from typing import Any

from osbctl.catalog import Catalog
from osbctl.changes import Change
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.collector import with_places
from osbctl.comparison.refusals import Refusals, new_refusals
from osbctl.platforms import Platform, format_platforms
from osbctl.sources.document import Document


@dataclass(frozen=True, slots=True)
class Comparison:
    """Names of both sides, the changes from the old to the new, and notes, a sentence each."""

    old: str
    new: str
    changes: list[Change]
    notes: list[str]


def compare_documents(
    old: Document, new: Document, view: frozenset[Platform], instances: str | None = None
) -> Comparison:
    """Compare two catalogs for the platforms in `view`; `instances` is a file that lists plans with instances.

    Raises OsbctlError: that file cannot be read, or holds no plan of either catalog.
    """
    used: frozenset[str] | None = None
    notes: list[str] = []
    if instances is not None:
        from osbctl.comparison.instances import doubts, read_used_plans  # loads the readers of all exports

        used = read_used_plans(instances)
        notes = doubts(used, plan_ids(old, new), instances)
    changes = compare_catalogs(old.catalog, new.catalog, platforms=view, instances=used)
    if not changes:
        return Comparison(old.name, new.name, [], notes)
    known = refusals_of(old.data, view)
    if known:
        who = format_platforms(known)
        notes.append(f"{old.name} was refused by {who}, too: a platform that has this broker stores an earlier one")
    changes = with_places(changes + now_refused(old.data, new.data, changes, view, known), old, new)
    if len(view) < len(Platform):
        notes += _platform_notes(changes, view)
    return Comparison(old.name, new.name, changes, notes)


def _platform_notes(changes: list[Change], view: frozenset[Platform]) -> list[str]:
    """Notes of the platforms in `view` on what the catalogs do not tell."""
    rules = {change.rule for change in changes}
    return [note for platform in Platform if platform in view for note in platform.record.notes_on_changes(rules)]


def plan_ids(*sides: Document) -> set[str]:
    return {plan.id for side in sides for plan in side.catalog.plans}


def now_refused(
    old: dict[str, Any],
    new: dict[str, Any],
    changes: list[Change],
    view: frozenset[Platform],
    known: Refusals | None = None,
) -> list[Change]:
    """Refusals of `new` but not of `old` (`known`) by platforms in `view`, unless `changes` cover them."""
    refused = refusals_of(new, view)
    if not refused:
        return []
    from osbctl.platforms.saving import is_partly_applied

    known = refusals_of(old, view) if known is None else known
    before, after = Catalog.of(old), Catalog.of(new)
    partly = [platform for platform, theirs in refused.items() if is_partly_applied(platform, before, after, theirs)]
    return new_refusals(old, new, known, refused, changes, partly)


def refusals_of(data: dict[str, Any], view: frozenset[Platform]) -> Refusals:
    """Refusals of a catalog by the platforms in `view` that refuse it."""
    from osbctl.validation.pipeline import judge_template

    outcomes = judge_template(data, view)
    return {platform: outcome.refusals for platform, outcome in outcomes.items() if outcome.refusals}
