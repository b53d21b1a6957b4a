"""Changes of names. A platform's order of saving decides whether a name is still taken when another object gets it."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.changes import Effect, Level
from osbctl.comparison.change_kinds import Kind
from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.match import Identified, fold_name
from osbctl.comparison.rules import identity
from osbctl.comparison.values import format_value
from osbctl.paths import Path
from osbctl.platforms import Platform
from osbctl.platforms.saving import Clash, simulate_update


class _Kinds(NamedTuple):
    """The kinds of change of a new object, a new name, and a name that another object had."""

    added: Kind
    renamed: Kind
    taken: Kind


_OF_SERVICES = _Kinds(identity.SERVICE_ADDED, identity.SERVICE_RENAMED, identity.SERVICE_NAME_TAKEN)
_OF_PLANS = _Kinds(identity.PLAN_ADDED, identity.PLAN_RENAMED, identity.PLAN_NAME_TAKEN)


class NameChanges:
    """Reports the changes of names between two catalogs to a collector."""

    def __init__(self, old: Catalog, new: Catalog, collector: Collector) -> None:
        self._old, self._new, self._collector = old, new, collector

    def report_services(
        self, kept: Iterable[tuple[ServiceOffering, ServiceOffering]], added: Iterable[ServiceOffering]
    ) -> None:
        """Report those of service offerings."""
        pairs = [MatchedPair(old, new) for old, new in kept]
        self._report_names(_OF_SERVICES, self._old.services, [*pairs, *(MatchedPair(None, new) for new in added)])

    def report_plans(
        self,
        old: ServiceOffering,
        new: ServiceOffering,
        kept: Iterable[tuple[ServicePlan, ServicePlan]],
        added: Iterable[ServicePlan],
    ) -> None:
        """Report those of the plans of a service offering."""
        pairs = [MatchedPair(old, new, old_plan, new_plan) for old_plan, new_plan in kept]
        self._report_names(_OF_PLANS, old.plans, [*pairs, *(MatchedPair(old, new, None, plan) for plan in added)])

    def _report_names(self, kinds: _Kinds, old_objects: Iterable[Identified], pairs: Sequence[MatchedPair]) -> None:
        holders = {fold_name(old): old for old in old_objects if old.name}
        staying = {fold_name(new) for old, new in map(_old_and_new, pairs) if old and fold_name(old) == fold_name(new)}
        for pair in pairs:
            old, new = _old_and_new(pair)
            if old is None or _is_renamed(old, new):
                holder = holders.get(fold_name(new))
                self._report_name(
                    kinds, pair, None if holder is old else holder, given_up=fold_name(new) not in staying
                )

    def _report_name(self, kinds: _Kinds, pair: MatchedPair, holder: Identified | None, *, given_up: bool) -> None:
        """Report the new name of an object; `holder` had it before, and `given_up`: has it no more."""
        old, new = _old_and_new(pair)
        is_passed_on = holder is not None and given_up
        clashes = self._find_clashes(new)
        if not (old or is_passed_on or clashes):
            return  # a new object with a name of its own is reported as such
        usual = kinds.renamed if old else kinds.added
        effects = self._effects_with_clashes(kinds.taken if is_passed_on else usual, clashes)
        kind = kinds.taken if is_passed_on or clashes else usual
        name = old.name if old else None
        self._collector.add(kind, pair, _name_message(old, new, holder), ("name",), name, new.name, effects=effects)

    def _effects_with_clashes(self, kind: Kind, clashes: dict[Platform, Clash]) -> tuple[Effect, ...]:
        """The effects of `kind`, but that platforms refuse an object that clashes."""
        return tuple(
            Effect(effect.platform, Level.REFUSED, clashes[effect.platform].words)
            if effect.platform in clashes
            else effect
            for effect in kind.effects(self._collector.platforms, None)
        )

    def _find_clashes(self, new: Identified) -> dict[Platform, Clash]:
        return {platform: clashes[new.path] for platform, clashes in self._all_clashes.items() if new.path in clashes}

    @cached_property
    def _all_clashes(self) -> dict[Platform, dict[Path, Clash]]:
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
    return old.name != new.name and all(isinstance(item.data.get("name"), str | None) for item in (old, new))


def _name_message(old: Identified | None, new: Identified, holder: Identified | None) -> str:
    name = format_value(new.name)
    words = f"renamed from {format_value(old.name)} to {name}" if old else f"new, with the name {name}"
    return f"{words}, which {format_value(holder.name)} (id {format_value(holder.id)}) had" if holder else words
