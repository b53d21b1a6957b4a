"""Work of `osbctl diff`: changes between two catalogs, and new refusals."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from osbctl.catalog import Catalog
from osbctl.changes import Change
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.collector import add_locations
from osbctl.comparison.refusals import Refusals, find_clashes, find_new_refusals, fold_safe_changes
from osbctl.platforms import Identity, Platform, chosen_or_all, format_platforms
from osbctl.platforms.golang import normalize_field_names
from osbctl.platforms.updates import StoredRow, notes_on_changes, simulate_update
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
    """Compare two catalogs as `platforms` do; the rest as in `compare_all`."""
    return compare_all([(old, new)], lambda _: platforms, instances_file)[0]


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
    compared = [_compare(old, new, platforms_of(new.name), used_plans) for old, new in pairs]
    if compared:
        compared[0].notes[:0] = notes
    return compared


def _compare(
    old: Document, new: Document, platforms: frozenset[Platform], used_plans: frozenset[str] | None
) -> Comparison:
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
    return {plan.id for document in documents for plan in document.catalog.plans}


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

    `is_stored`: the platforms are known to have `old`, else only those that accept it have it; the rest as in
    `simulate_update`.
    """
    refused = refusals_by_platform(new, platforms)
    updates = {}
    for platform in (each for each in Platform if each in platforms):
        before, after = (Catalog.of(normalize_field_names(platform, data)) for data in (old, new))
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
    from osbctl.validation.pipeline import judge_template

    outcomes = judge_template(data, platforms)
    return {platform: outcome.refusals for platform, outcome in outcomes.items() if outcome.refusals}
