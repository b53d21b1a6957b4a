"""Work of `osbctl diff`: changes between two catalogs, and new refusals."""

from dataclasses import dataclass
from typing import Any

from osbctl.catalog import Catalog
from osbctl.changes import Change
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.collector import with_places
from osbctl.comparison.refusals import Refused, new_refusals
from osbctl.platforms import Platform, labels
from osbctl.platforms.outcome import Refusal
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
        refusing = {refused.platform for refused in known}
        who = labels([platform for platform in Platform if platform in refusing])
        notes.append(f"{old.name} was refused by {who}, too: a platform that has this broker stores an earlier one")
    changes = with_places(changes + now_refused(old.data, new.data, changes, view, known), old, new)
    if len(view) < len(Platform):
        notes += _platform_notes(changes, view)
    return Comparison(old.name, new.name, changes, notes)


def _platform_notes(changes: list[Change], view: frozenset[Platform]) -> list[str]:
    """Notes of the platforms in `view` on what the catalogs do not tell."""
    rules = {change.rule for change in changes}
    return [note for platform in Platform if platform in view for note in platform.record.notes(rules)]


def plan_ids(*sides: Document) -> set[str]:
    return {plan.id for side in sides for plan in side.catalog.plans}


def now_refused(
    old: dict[str, Any],
    new: dict[str, Any],
    changes: list[Change],
    view: frozenset[Platform],
    known: list[Refused] | None = None,
) -> list[Change]:
    """Refusals of `new` but not of `old` (`known`) by platforms in `view`, unless `changes` cover them."""
    refused = refusals_of(new, view)
    if known is None:
        known = refusals_of(old, view) if refused else []
    partly = []
    for platform in view if refused else ():
        from osbctl.platforms.saving import is_saved_in_part

        theirs = [Refusal(one.rule, one.path, one.message) for one in refused if one.platform is platform]
        if theirs and is_saved_in_part(platform, Catalog.of(old), Catalog.of(new), theirs):
            partly.append(platform)
    return new_refusals(old, new, known, refused, changes, partly)


def refusals_of(data: dict[str, Any], view: frozenset[Platform]) -> list[Refused]:
    """Refusals of a catalog by platforms in `view`."""
    from osbctl.validation.pipeline import judge_template

    return [
        Refused(platform, refusal.rule, refusal.path, refusal.message)
        for platform, outcome in judge_template(data, view).items()
        for refusal in outcome.refusals
    ]
