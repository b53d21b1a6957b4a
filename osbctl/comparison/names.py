"""Changes of names. A platform's order of saving decides whether a name is still taken when another object gets it."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.changes import Level
from osbctl.comparison.change_kinds import Kind
from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.match import Identified, Match, T, folded
from osbctl.comparison.rules import identity
from osbctl.comparison.values import shown
from osbctl.paths import Path
from osbctl.platforms import Platform
from osbctl.platforms.reactions import Reaction
from osbctl.platforms.saving import Clash, ClashKind, save_catalog


class _Origin(NamedTuple):
    """Origin of an object's new name: words for a message, and the kinds of change."""

    words: str
    of_service: Kind
    of_plan: Kind


_NEW = _Origin("", identity.SERVICE_RENAMED, identity.PLAN_RENAMED)
_REUSED = _Origin(", the name of a removed one", identity.SERVICE_NAME_REUSED, identity.PLAN_NAME_REUSED)
_SWAPPED = _Origin(", and names are exchanged", identity.SERVICE_NAMES_SWAPPED, identity.PLAN_NAMES_SWAPPED)
_PASSED_ON = _Origin(
    ", a name that another one gives up", identity.SERVICE_NAME_PASSED_ON, identity.PLAN_NAME_PASSED_ON
)


class NameChanges:
    """Reports the changes of names between two catalogs to a collector."""

    def __init__(self, old: Catalog, new: Catalog, to: Collector) -> None:
        self._old, self._new, self._to = old, new, to

    def of_services(self, match: Match[ServiceOffering]) -> None:
        """Report those of service offerings."""
        if _is_all_the_same(match):
            return
        holders = {folded(old): old for old in self._old.services if old.name}
        for old, new, origin in _renamings(match):
            kind = identity.SERVICE_NAME_CASE if self.crashes(new) else origin.of_service
            kinds = self._kinds(new, kind, identity.SERVICE_RENAMED, identity.SERVICE_NAMES_SWAPPED)
            message = f"renamed from {shown(old.name)} to {shown(new.name)}{origin.words}"
            pair, holder = MatchedPair(old, new), holders.get(folded(new))
            self._to.add(kind, pair, message, ("name",), old.name, new.name, holder=holder, by_platform=kinds)
        passed_on = _given_up(match.kept)
        for fresh in match.fresh:
            holder = holders.get(folded(fresh))
            pair, kind = MatchedPair(None, fresh), identity.SERVICE_NAME_PASSED_ON
            if holder and self.crashes(fresh):
                message = f"new, with the name of {shown(holder.name)} but for case"
                self._to.add(identity.SERVICE_NAME_CASE, pair, message, ("name",), None, fresh.name)
            elif folded(fresh) in passed_on:
                message = "a new service offering takes a name that another one had"
                self._to.add(kind, pair, message, ("name",), None, fresh.name, holder=holder)

    def of_plans(self, old: ServiceOffering, new: ServiceOffering, match: Match[ServicePlan]) -> None:
        """Report those of the plans of a service offering."""
        if _is_all_the_same(match):  # most service offerings, most of the time
            return
        for before, after, origin in _renamings(match):
            kind, holder = origin.of_plan, self._holder(after)
            is_taken = holder and origin in (_NEW, _PASSED_ON)
            words = _held(holder) if holder and is_taken else origin.words
            message = f"renamed from {shown(before.name)} to {shown(after.name)}{words}"
            kinds = self._kinds(after, kind, identity.PLAN_RENAMED, identity.PLAN_NAME_TAKEN)
            kind = identity.PLAN_NAME_TAKEN if is_taken else kind
            pair = MatchedPair(old, new, before, after)
            self._to.add(kind, pair, message, ("name",), before.name, after.name, by_platform=kinds)
        passed_on = _given_up(match.kept)
        for fresh in match.fresh:
            self._new_plan(MatchedPair(old, new, None, fresh), fresh, folded(fresh) in passed_on)

    def _new_plan(self, pair: MatchedPair, fresh: ServicePlan, is_passed_on: bool) -> None:
        holder = self._holder(fresh)
        kind = identity.PLAN_NAME_PASSED_ON if is_passed_on else identity.PLAN_ADDED
        if holder:
            message = f"a new plan takes a name{_held(holder, ' ')}"
            kinds = self._kinds(fresh, kind, kind, identity.PLAN_NAME_TAKEN)
            taken = identity.PLAN_NAME_TAKEN
            self._to.add(taken, pair, message, ("name",), None, fresh.name, by_platform=kinds)
        elif is_passed_on:
            message = "a new plan takes a name that another one had"
            self._to.add(kind, pair, message, ("name",), None, fresh.name)

    def _kinds(self, new: Identified, kind: Kind, free: Kind, taken: Kind) -> dict[Platform, Kind]:
        """The kind of change on each platform.

        It is `taken` if the platform finds the name in use, but does not refuse `kind` anyway; it is `free` if it
        refuses `kind`, but does not find the name in use.
        """
        found = {}
        for platform, clashes in self._clashes.items():
            answer = kind.answers.get(platform)
            refuses = isinstance(answer, Reaction) and answer.level is Level.REFUSED
            if new.path in clashes:
                found[platform] = kind if refuses else taken
            elif refuses and kind in (_SWAPPED.of_service, _SWAPPED.of_plan) and new.path[:-1] in self._lists[platform]:
                found[platform] = identity.NOW_REFUSED
            else:
                found[platform] = free if refuses else kind
        return found

    def _holder(self, new: Identified) -> Clash | None:
        return next((clashes[new.path] for clashes in self._clashes.values() if new.path in clashes), None)

    def crashes(self, new: Identified) -> bool:
        """Return whether its name makes a platform crash."""
        clash = self._holder(new)
        return clash is not None and clash.kind is ClashKind.CRASH

    @cached_property
    def _saved(self) -> dict[Platform, list[Clash]]:
        used = self._to.instances or ()
        return {platform: save_catalog(platform, self._old, self._new, used).clashes for platform in Platform}

    @cached_property
    def _clashes(self) -> dict[Platform, dict[Path, Clash]]:
        """Conflicts over names, by the path of the object that would take the name."""
        things: list[Identified] = [*self._new.services, *self._new.plans]
        counts = Counter((thing.path[:-1], thing.name) for thing in things)
        # Validation reports a name that stands twice in the new catalog.
        twice = {thing.path for thing in things if counts[thing.path[:-1], thing.name] > 1}
        return {
            platform: {
                clash.path: clash for clash in clashes if clash.kind is not ClashKind.OTHER and clash.path not in twice
            }
            for platform, clashes in self._saved.items()
        }

    @cached_property
    def _lists(self) -> dict[Platform, set[Path]]:
        """Lists with a conflict over a name. If names were swapped, the first object causes it."""
        return {platform: {path[:-1] for path in clashes} for platform, clashes in self._clashes.items()}


def _held(clash: Clash, start: str = ", a name ") -> str:
    row = clash.holder
    assert row
    return f"{start}that {shown(row.name)} (id {shown(row.plan)}) still has when it is saved"


def _is_all_the_same(match: Match[T]) -> bool:
    return not match.fresh and all(old.name == new.name for old, new in match.kept)


def _renamings(match: Match[T]) -> Iterator[tuple[T, T, _Origin]]:
    """The kept pairs with another name, each with its origin. Values of a wrong type are no names."""
    origins = _origins(match.kept, {folded(thing) for thing in match.gone if thing.name})
    for number, (old, new) in enumerate(match.kept):
        if old.name != new.name and all(isinstance(thing.data.get("name"), str | None) for thing in (old, new)):
            yield old, new, origins.get(number, _NEW)


def _origins(kept: list[tuple[T, T]], removed: set[str]) -> dict[int, _Origin]:
    """The origins of names that are not new, by the number of the pair."""
    moving = {number: folded(new) for number, (old, new) in enumerate(kept) if folded(old) != folded(new)}
    before = {folded(old): number for number, (old, _) in enumerate(kept) if old.name}
    # Which pair's old name each renamed pair takes.
    takes = {number: before[name] for number, name in moving.items() if name in before}
    found = {number: _PASSED_ON for number, giver in takes.items() if giver in moving}
    found |= {number: _REUSED for number, name in moving.items() if name in removed}
    return found | dict.fromkeys(_in_circles(takes), _SWAPPED)


def _in_circles(takes: dict[int, int]) -> set[int]:
    found: set[int] = set()
    done: set[int] = set()
    for start in takes:
        trail: list[int] = []
        here: int | None = start
        while here is not None and here not in done:
            done.add(here)
            trail.append(here)
            here = takes.get(here)
        if here in trail:
            found.update(trail[trail.index(here) :])
    return found


def _given_up(kept: list[tuple[T, T]]) -> set[str]:
    """The names, folded, that kept objects gave up."""
    return {folded(old) for old, new in kept if old.name and folded(old) != folded(new)}
