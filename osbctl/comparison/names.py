"""Changes of names. A platform's order of saving decides whether a name is still taken when another object gets it."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from osbctl.catalog import Catalog
from osbctl.changes import Effect, Level
from osbctl.comparison.kinds import Kind
from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.values import has_wrong_type
from osbctl.comparison.catalogs import Identified, fold_name
from osbctl.comparison.rules import identity
from osbctl.comparison.values import format_value
from osbctl.paths import JsonPath
from osbctl.platforms import Platform
from osbctl.platforms.updates import Clash, simulate_update


class _Kinds(NamedTuple):
    """The kinds of change of a new object, a new name, and a name that another object had."""

    added: Kind
    renamed: Kind
    taken: Kind


_KINDS = {
    False: _Kinds(identity.SERVICE_ADDED, identity.SERVICE_RENAMED, identity.SERVICE_NAME_TAKEN),
    True: _Kinds(identity.PLAN_ADDED, identity.PLAN_RENAMED, identity.PLAN_NAME_TAKEN),
}
"""By whether the object is a plan."""


class NameChanges:
    """Reports the changes of names between two catalogs to a collector."""

    def __init__(self, old: Catalog, new: Catalog, collector: Collector) -> None:
        self._old, self._new, self._collector = old, new, collector

    def report_names(self, old_objects: Iterable[Identified], pairs: Sequence[MatchedPair]) -> None:
        """Report those of all service offerings, or of the plans of one; `pairs` are kept objects, then new ones."""
        holders = {fold_name(old): old for old in old_objects if old.name}
        staying = {fold_name(new) for old, new in map(_old_and_new, pairs) if old and fold_name(old) == fold_name(new)}
        for pair in pairs:
            old, new = _old_and_new(pair)
            if old is None or _is_renamed(old, new):
                holder = holders.get(fold_name(new))
                self._report_name(pair, None if holder is old else holder, given_up=fold_name(new) not in staying)

    def _report_name(self, pair: MatchedPair, holder: Identified | None, *, given_up: bool) -> None:
        """Report the new name of an object; `holder` had it before, and `given_up`: has it no more."""
        old, new = _old_and_new(pair)
        kinds = _KINDS[pair.new_plan is not None]
        is_passed_on = holder is not None and given_up
        refusals = self.refusals_of_name(new)
        if not (old or is_passed_on or refusals):
            return  # a new object with a name of its own is reported as such
        usual = kinds.renamed if old else kinds.added
        kind = kinds.taken if is_passed_on or refusals else usual
        self._collector.add(
            kind,
            pair,
            _name_message(old, new, holder),
            ("name",),
            old.name if old else None,
            new.name,
            effects=(kinds.taken if is_passed_on else usual).effects(self._collector.platforms, None),
            overrides=_effects_of_same_name(pair) | refusals,
        )

    def refusals_of_name(self, new: Identified) -> dict[Platform, Effect]:
        """The effects on platforms that refuse the update for the name of `new`."""
        return {
            platform: Effect(platform, Level.REFUSED, clashes[new.path].words)
            for platform, clashes in self._all_clashes.items()
            if new.path in clashes
        }

    @cached_property
    def _all_clashes(self) -> dict[Platform, dict[JsonPath, Clash]]:
        """Conflicts over names, by the path of the object that would take the name."""
        used = self._collector.used_plans or ()
        saved = {platform: simulate_update(platform, self._old, self._new, used) for platform in Platform}
        return {
            platform: {clash.path: clash for clash in update.clashes if clash.is_of_name}
            for platform, update in saved.items()
        }


def _old_and_new(pair: MatchedPair) -> tuple[Identified | None, Identified]:
    """The plans of a pair, or else its service offerings; the new one is there."""
    is_plan = pair.new_plan is not None
    new = pair.new_plan or pair.new_service
    assert new
    return pair.old_plan if is_plan else pair.old_service, new


def _is_renamed(old: Identified, new: Identified) -> bool:
    """Return whether the names differ. Values of a wrong type are no names."""
    return old.name != new.name and not has_wrong_type("name", old.data, new.data)


def _effects_of_same_name(pair: MatchedPair) -> dict[Platform, Effect]:
    """The effects on platforms that store the old and the new name as the same text."""
    old, new = _old_and_new(pair)
    found = {}
    for platform in Platform:
        blanks = platform.record.stripped_from_names
        if blanks and old and old.name.strip(blanks) == new.name.strip(blanks):
            does = "removes the blanks around the name, so it stays the same"
            found[platform] = Effect(platform, Level.SAFE, does)
    return found


def _name_message(old: Identified | None, new: Identified, holder: Identified | None) -> str:
    name = format_value(new.name)
    words = f"renamed from {format_value(old.name)} to {name}" if old else f"new, with the name {name}"
    return f"{words}, which {format_value(holder.name)} (id {format_value(holder.id)}) had" if holder else words
