"""Work of `osbctl diff`: changes between two catalogs, and new refusals."""

from dataclasses import dataclass
from typing import Any

from osbctl.catalog import Catalog
from osbctl.changes import Change
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.collector import add_locations
from osbctl.comparison.refusals import Refusals, find_new_refusals
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
    old: Document, new: Document, platforms: frozenset[Platform], instances_file: str | None = None
) -> Comparison:
    """Compare two catalogs as `platforms` do; `instances_file` lists plans with instances.

    Raises OsbctlError: that file cannot be read, or holds no plan of either catalog.
    """
    used_plans: frozenset[str] | None = None
    notes: list[str] = []
    if instances_file is not None:
        from osbctl.comparison.instances import check_plan_ids, read_used_plans  # loads the readers of all exports

        used_plans = read_used_plans(instances_file)
        notes = check_plan_ids(used_plans, plan_ids(old, new), instances_file)
    changes = compare_catalogs(old.catalog, new.catalog, platforms=platforms, used_plans=used_plans)
    if not changes:
        return Comparison(old.name, new.name, [], notes)
    old_refusals = refusals_by_platform(old.data, platforms)
    if old_refusals:
        who = format_platforms(old_refusals)
        effect = "such a platform still has the catalog before it, so this comparison does not show what changes there"
        notes.append(f"{old.name} is refused by {who}: {effect}")
    refused = find_refusal_changes(old.data, new.data, changes, platforms, old_refusals)
    changes = add_locations(changes + refused, old, new)
    if len(platforms) < len(Platform):
        notes += _platform_notes(changes, platforms)
    return Comparison(old.name, new.name, changes, notes)


def _platform_notes(changes: list[Change], platforms: frozenset[Platform]) -> list[str]:
    """Notes of `platforms` on what the catalogs do not tell."""
    rules = {change.rule for change in changes}
    return [note for platform in Platform if platform in platforms for note in platform.record.notes_on_changes(rules)]


def plan_ids(*documents: Document) -> set[str]:
    return {plan.id for document in documents for plan in document.catalog.plans}


def find_refusal_changes(
    old: dict[str, Any],
    new: dict[str, Any],
    changes: list[Change],
    platforms: frozenset[Platform],
    old_refusals: Refusals | None = None,
) -> list[Change]:
    """Refusals of `new` but not of `old` (`old_refusals`) by `platforms`, unless `changes` cover them."""
    refused = refusals_by_platform(new, platforms)
    if not refused:
        return []
    from osbctl.platforms.saving import is_partly_applied

    old_refusals = refusals_by_platform(old, platforms) if old_refusals is None else old_refusals
    before, after = Catalog.of(old), Catalog.of(new)
    partly = [platform for platform, reasons in refused.items() if is_partly_applied(platform, before, after, reasons)]
    return find_new_refusals(old, new, old_refusals, refused, changes, partly)


def refusals_by_platform(data: dict[str, Any], platforms: frozenset[Platform]) -> Refusals:
    """Refusals of a catalog by those of `platforms` that refuse it."""
    from osbctl.validation.pipeline import judge_template

    outcomes = judge_template(data, platforms)
    return {platform: outcome.refusals for platform, outcome in outcomes.items() if outcome.refusals}
