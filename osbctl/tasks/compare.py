"""Work of `osbctl diff`: changes between two catalogs, new refusals, and accepted changes."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from osbctl.catalog import Catalog
from osbctl.changes import Change
from osbctl.comparison.allow import TriagedChanges, load_allowed, sort_out
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.collector import with_places
from osbctl.comparison.refusals import Refused, new_refusals, touched_alone
from osbctl.platforms import Platform, labels
from osbctl.platforms.outcome import Refusal
from osbctl.sources.document import Document


@dataclass(frozen=True, slots=True)
class Comparison:
    """The names of both sides, the changes from the old to the new, and what else there is to know."""

    old: str
    new: str
    changes: list[Change]
    notes: list[str]


def compare_documents(
    old: Document, new: Document, view: frozenset[Platform], instances: str | None = None
) -> Comparison:
    """Compare two catalogs for the platforms in `view`; `instances` is a file that lists plans with instances.

    Raises:
        OsbctlError: that file cannot be read, or holds no plan of either catalog.
    """
    used = None
    if instances is not None:  # few are asked about, and what reads them knows all exports
        from osbctl.comparison.instances import read_instances

        used = read_instances(instances)
    notes = doubts_of(used, instances or "", plan_ids(old, new))
    changes = compare_catalogs(old.catalog, new.catalog, platforms=view, instances=used)
    if changes:
        known = refusals_of(old.data, view)
        notes += _already_refused(old.name, known)
        changes = with_places(changes + now_refused(old.data, new.data, changes, view, known), old, new)
        notes += _unknown(changes, view)
    return Comparison(old.name, new.name, changes, notes)


def _unknown(changes: list[Change], view: frozenset[Platform]) -> list[str]:
    """Notes on selected platforms that the catalogs leave open."""
    rules = {change.rule for change in changes}
    chosen = [platform for platform in Platform if platform in view] if len(view) < len(Platform) else []
    return [sentence for platform in chosen for sentence in platform.record.notes(rules)]


def sort_accepted(changes: list[Change], allow: str | None) -> TriagedChanges:
    """The changes, apart from those that the file `allow` accepts today."""
    return sort_out(changes, load_allowed(allow) if allow else (), datetime.datetime.now(datetime.UTC).date())


def doubts_of(
    used: frozenset[str] | None, file: str, plans: Collection[str], whose: str = "either catalog"
) -> list[str]:
    """A sentence where some of the ids `used`, those of `file`, are not those of `plans`; `whose` is what has these.

    Raises ConfigError: none of them is.
    """
    if not used:
        return []
    from osbctl.comparison.instances import doubts

    return list(filter(None, [doubts(used, plans, file, whose)]))


def plan_ids(*sides: Document) -> set[str]:
    """The ids of the plans of all sides."""
    return {plan.id for side in sides for plan in side.catalog.plans}


def _already_refused(name: str, known: list[Refused]) -> list[str]:
    """A sentence where platforms refuse the old catalog, too: what they hold is then another one."""
    refusing = {refused.platform for refused in known}
    who = labels([platform for platform in Platform if platform in refusing])
    sentence = f"{name} is refused as it is by {who}: what is stored there, if anything, is an older catalog"
    return [sentence] if refusing else []


def now_refused(
    old: dict[str, Any],
    new: dict[str, Any],
    changes: list[Change],
    view: frozenset[Platform],
    known: list[Refused] | None = None,
) -> list[Change]:
    """Refusals of `new` that `old` does not have, for platforms in `view`, unless `changes` cover them.

    `known` is what they refuse of `old`, where that was worked out already.
    """
    refused = refusals_of(touched_alone(new, (change.new_path for change in changes)), view)
    if known is None:
        known = refusals_of(old, view) if refused else []
    partly = [platform for platform in view if _is_saved_in_part(platform, old, new, refused)] if refused else []
    return new_refusals(old, new, known, refused, changes, partly)


def _is_saved_in_part(platform: Platform, old: dict[str, Any], new: dict[str, Any], refused: list[Refused]) -> bool:
    from osbctl.platforms.saving import is_saved_in_part

    theirs = [Refusal(one.rule, one.path, one.message) for one in refused if one.platform is platform]
    return bool(theirs) and is_saved_in_part(platform, Catalog.of(old), Catalog.of(new), theirs)


def refusals_of(data: dict[str, Any], view: frozenset[Platform]) -> list[Refused]:
    """Refusals of a catalog by platforms in `view`."""
    from osbctl.validation.pipeline import judge_template

    return [
        Refused(platform, refusal.rule, refusal.path, refusal.message)
        for platform, outcome in judge_template(data, view).items()
        for refusal in outcome.refusals
    ]
