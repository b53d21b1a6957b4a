"""What changed between two catalogs, with what platforms newly refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.comparison.refusals import Refused, new_refusals, touched_alone
from osbctl.platforms.judge import judge_all

if TYPE_CHECKING:
    from osbctl.changes import Change
    from osbctl.platforms import Platform


def now_refused(
    old: dict[str, Any], new: dict[str, Any], changes: list[Change], view: frozenset[Platform]
) -> list[Change]:
    """What platforms in `view` refuse of the catalog `new` and not of `old`, unless `changes` tell it."""
    refused = refusals_of(touched_alone(new, (change.new_path for change in changes)), view)
    known = refusals_of(old, view) if refused else []
    return new_refusals(old, new, known, refused, changes)


def refusals_of(data: dict[str, Any], view: frozenset[Platform]) -> list[Refused]:
    """What platforms in `view` refuse of a catalog."""
    return [
        Refused(platform, refusal.rule, refusal.path, refusal.message)
        for platform, outcome in judge_all(data).items()
        if platform in view
        for refusal in outcome.refusals
    ]
