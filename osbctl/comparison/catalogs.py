"""Comparison of two catalogs: which objects are the same, what became of them, and how the platforms react.

A platform's order of saving decides whether a name is still taken when another object gets it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import Any, Generic, TypeAlias, TypeVar

from osbctl.catalog import Catalog, Identified, ServiceOffering, ServicePlan
from osbctl.changes import Change, Level
from osbctl.comparison import kinds
from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.fields import compare_catalog_fields, compare_plan_fields, compare_service_fields
from osbctl.comparison.kinds import Kind
from osbctl.comparison.values import ChangedValue, equal_or_both_empty, format_value, has_wrong_type
from osbctl.paths import JsonPath
from osbctl.platforms import Platform
from osbctl.platforms.updates import (
    Reaction,
    reactions_to_repeated_id,
    reactions_to_same_name,
    refused,
    simulate_update,
)
from osbctl.text import plural

T = TypeVar("T", bound="Identified")


@dataclass(frozen=True, slots=True)
class Match(Generic[T]):
    """`kept` in both, `removed` only on the old side, `added` only on the new one, each in order."""

    kept: list[tuple[T, T]]
    removed: list[T]
    added: list[T]


def match_by_id(old: Sequence[T], new: Sequence[T]) -> Match[T]:
    """Match by id. Of several objects of one id (or none), those of one name are matched first, the others in order."""
    both = {(item.id, item.name) for item in old} & {(item.id, item.name) for item in new}
    old_by_key, new_by_key = _index_by_id_and_number(old, both), _index_by_id_and_number(new, both)
    return Match(
        [(item, new_by_key[key]) for key, item in old_by_key.items() if key in new_by_key],
        [item for key, item in old_by_key.items() if key not in new_by_key],
        [item for key, item in new_by_key.items() if key not in old_by_key],
    )


def pop_pairs_by_name(removed: list[T], added: list[T]) -> list[tuple[T, T]]:
    """Remove pairs of one name from both lists and return them; case and outer blanks do not count."""
    waiting = {fold_name(item): item for item in reversed(added) if item.name}
    pairs = []
    for item in list(removed):
        if fold_name(item) in waiting:
            other = waiting.pop(fold_name(item))
            pairs.append((item, other))
    taken = {id(item) for pair in pairs for item in pair}
    for items in (removed, added):
        items[:] = [item for item in items if id(item) not in taken]
    return pairs


def fold_name(item: Identified) -> str:
    """The name without case and outer blanks. How platforms compare names stands in their `updates`."""
    return item.name.strip().lower()


def _index_by_id_and_number(items: Sequence[T], counted_first: set[tuple[str, str]]) -> dict[tuple[str, int], T]:
    """Items by id and a running number among those of one id: first those in `counted_first`, sorted by name."""
    counts: Counter[str] = Counter()
    numbers = {}
    named = sorted((item for item in items if (item.id, item.name) in counted_first), key=lambda item: item.name)
    others = (item for item in items if (item.id, item.name) not in counted_first)
    for item in (*named, *others):
        numbers[id(item)] = counts[item.id]
        counts[item.id] += 1
    return {(item.id, numbers[id(item)]): item for item in items}


_NAME_KINDS = {
    False: (kinds.SERVICE_ADDED, kinds.SERVICE_RENAMED, kinds.SERVICE_NAME_TAKEN),
    True: (kinds.PLAN_ADDED, kinds.PLAN_RENAMED, kinds.PLAN_NAME_TAKEN),
}
"""The kinds of change of a new object, a new name, and a name that another object had; by whether it is a plan."""


def compare_catalogs(
    old: Mapping[str, Any] | Catalog,
    new: Mapping[str, Any] | Catalog,
    *,
    platforms: Collection[Platform] = (),
    used_plans: frozenset[str] | None = None,
    today: date | None = None,
) -> list[Change]:
    """The changes from the catalog `old` to `new`, without locations, in the order of the catalogs.

    `platforms` are those in view, none for all. `used_plans` are the ids of the plans with instances, None if that
    is not known. `today` decides whether a sunset has passed; the default is the current date. Never fails: values of a
    wrong type are skipped, as in `osbctl.catalog`.
    """
    old, new = _judge_alike(Catalog.of(old), Catalog.of(new))
    if used_plans is not None:  # a list of instances may be for all brokers
        used_plans = used_plans.intersection(plan.id for plan in old.plans)
    collector = Collector(platforms or tuple(Platform), used_plans)
    _Comparison(old, new, collector, today).run()
    whole = MatchedPair(collector)
    compare_catalog_fields(whole, old.data, new.data)
    if not collector.changes and not equal_or_both_empty(old.data, new.data):
        whole.add(kinds.OTHER, "no effective difference: only null, empty or ignored fields differ")
    return collector.changes


def _judge_alike(*catalogs: Catalog) -> list[Catalog]:
    """The catalogs, each with `judged` schemas if one shows that its broker is cloud-service-broker."""
    if not any(plan.prohibited_updates for catalog in catalogs for plan in catalog.plans):
        return [*catalogs]
    from osbctl.sources.folder.brokerpak_requests import add_judged_schemas  # few catalogs are of that broker

    return [
        # That broker does not always publish its schemas; then nothing is known of them.
        catalog
        if any(plan.judged for plan in catalog.plans) or not any(plan.parameters for plan in catalog.plans)
        else add_judged_schemas(catalog, {})
        for catalog in catalogs
    ]


_MakePair: TypeAlias = Callable[..., MatchedPair]
"""Makes a pair of service offerings from both, or of plans of a pair of service offerings."""
_Holders: TypeAlias = Mapping[str, tuple[Identified, bool]]
"""Objects of the old catalog by name, as `fold_name` has it, each with whether it has given the name up."""


class _Comparison:
    """Reports the changes of service offerings and plans to a collector."""

    def __init__(self, old: Catalog, new: Catalog, collector: Collector, today: date | None) -> None:
        self._old, self._new, self._used, self._today = old, new, collector.used_plans or (), today
        self._make_pair = partial(MatchedPair, collector)
        self._services = match_by_id(old.services, new.services)
        removed, added = self._services.removed, self._services.added
        self._same_name_pairs = pop_pairs_by_name(removed, added)
        self._service_pairs = (*self._services.kept, *self._same_name_pairs)
        removed_plans = _find_unmatched_plans(old.services, {id(pair[0]): pair[1] for pair in self._service_pairs})
        added_plans = _find_unmatched_plans(new.services, {id(pair[1]): pair[0] for pair in self._service_pairs})
        # A plan has moved if its old service offering no longer has it; otherwise the new one is a copy.
        self._moves = [(*removed_plans[key], *added_plans[key]) for key in removed_plans if key in added_plans]
        self._repeated_service_ids, self._repeated_plan_ids = _repeated_ids(new.services), _repeated_ids(new.plans)
        self._moved_plans = {id(plan) for _, old_plan, _, new_plan in self._moves for plan in (old_plan, new_plan)}

    def run(self) -> None:
        """Add all changes but those of the catalog's own fields."""
        services = self._services
        if self._old.services and not self._new.services:
            self._make_pair().add(kinds.CATALOG_EMPTIED, "the catalog is empty")
        self._report_names(self._old.services, services.kept, services.added, self._make_pair)
        for old, new in self._same_name_pairs:
            self._report_changed_service_id(old, new)
        for old, new in self._service_pairs:
            self._compare_service_and_plans(old, new)
        for removed in services.removed:
            message = f"removed, {self._describe_plan_count(removed)}"
            self._report_removal(kinds.SERVICE_REMOVED, self._make_pair(removed), message, removed)
        for added in services.added:
            kind = kinds.SERVICE_ADDED.with_reactions(self._reactions_to_repeated_id(added))
            self._make_pair(None, added).add(kind, f"added, {self._describe_plan_count(added)}", new=added.id)
        self._report_moved_plans()
        if _is_reordered(services):
            self._make_pair().add(kinds.ORDER, "the service offerings changed order", ("services",))

    def _report_names(
        self, old_objects: Sequence[T], kept: Sequence[tuple[T, T]], added: Sequence[T], make_pair: _MakePair
    ) -> None:
        """Report the new names of `kept` and `added` objects: service offerings, or the plans of one."""
        holders = _find_name_holders(old_objects, kept)
        for old, new in (*kept, *((None, new) for new in added)):
            if old is None or _is_renamed(old, new):
                self._report_name(make_pair(old, new), old, new, holders)

    def _report_name(self, pair: MatchedPair, old: Identified | None, new: Identified, holders: _Holders) -> None:
        """Report the name of a renamed object, or of one that comes with it (`old` is None) if it is not its own."""
        holder, given_up = holders.get(fold_name(new), (None, False))
        if holder is old:
            holder, given_up = None, False
        added, renamed, taken = _NAME_KINDS[pair.is_of_plans]
        refusals = self._refusals_of_names.get(new.path, {})
        if not (old or given_up or (refusals and not pair.old_plan)):
            return  # a new object, or a plan that moved, with a name of its own is reported as such
        usual = taken if given_up else renamed if old else added
        own = reactions_to_same_name(old.name, new.name) if old else {}
        kind = (taken if refusals else usual).with_reactions({**usual.reactions, **own, **refusals})
        pair.add(kind, _name_message(pair, old, new, holder), ("name",), getattr(old, "name", None), new.name)

    @cached_property
    def _refusals_of_names(self) -> dict[JsonPath, dict[Platform, Reaction]]:
        """Reactions of platforms that refuse the update for a name, by the path of the object that would take it."""
        refusals: dict[JsonPath, dict[Platform, Reaction]] = {}
        for platform in Platform:
            for clash in simulate_update(platform, self._old, self._new, self._used).clashes:
                if clash.is_of_name:
                    refusals.setdefault(clash.path, {})[platform] = refused(clash.message)
        return refusals

    def _describe_plan_count(self, service: ServiceOffering) -> str:
        """The number of plans that a service offering brings or takes along; those that moved are counted apart."""
        moved = sum(id(plan) in self._moved_plans for plan in service.plans)
        text = f"with {plural(len(service.plans) - moved, 'plan')}"
        return f"{text}, besides {moved:,} moved" if moved else text

    def _report_changed_service_id(self, old: ServiceOffering, new: ServiceOffering) -> None:
        both = {plan.id for plan in old.plans if plan.id} & {plan.id for plan in new.plans}
        kind = kinds.SERVICE_ID_PLANS_KEPT if both else kinds.SERVICE_ID
        message = _describe_changed_id(old, new) + (", and plans kept theirs" if both else "")
        kind = kind.with_reactions(self._refusals_of_names.get(new.path, {}) if old.name != new.name else {})
        self._make_pair(old, new).add(kind, message, ("id",), old.id, new.id)

    def _compare_service_and_plans(self, old: ServiceOffering, new: ServiceOffering) -> None:
        """Compare a service offering that is in both catalogs, with its plans."""
        is_judged_same = [plan.judged for plan in old.plans] == [plan.judged for plan in new.plans]
        if old.id == new.id and is_judged_same and equal_or_both_empty(old.data, new.data):
            return
        make_pair = partial(self._make_pair, old, new)
        match = match_by_id(old.plans, new.plans)
        # A plan that moves is reported once, as moved.
        removed = [plan for plan in match.removed if id(plan) not in self._moved_plans]
        added = [plan for plan in match.added if id(plan) not in self._moved_plans]
        same_name_pairs = pop_pairs_by_name(removed, added)
        if old.plans and not new.plans:
            make_pair().add(kinds.SERVICE_WITHOUT_PLANS, "no plan is left", ("plans",))
        both = [*match.kept, *same_name_pairs]
        compare_service_fields(make_pair(), both)
        self._report_names(old.plans, match.kept, added, make_pair)
        for old_plan, new_plan in same_name_pairs if old.id == new.id else ():
            message = _describe_changed_id(old_plan, new_plan)
            make_pair(old_plan, new_plan).add(kinds.PLAN_ID, message, ("id",), old_plan.id, new_plan.id)
        for plans in both:
            compare_plan_fields(make_pair(*plans))
        self._report_removed_and_added_plans(removed, added, make_pair)
        if _is_reordered(match):
            make_pair().add(kinds.ORDER, "the plans changed order", ("plans",))

    def _report_removed_and_added_plans(
        self, removed: list[ServicePlan], added: list[ServicePlan], make_pair: _MakePair
    ) -> None:
        for plan in removed:
            self._report_removal(kinds.PLAN_REMOVED, make_pair(plan), "removed", plan)
        for plan in added:
            kind = kinds.PLAN_ADDED.with_reactions(self._reactions_to_repeated_id(plan))
            make_pair(None, plan).add(kind, "added", new=plan.id)

    def _reactions_to_repeated_id(self, added: Identified) -> dict[Platform, Reaction]:
        """The reactions of platforms that have one object for all of one id, if the new catalog repeats its ids."""
        plan_ids = {plan.id for plan in added.plans} if isinstance(added, ServiceOffering) else {added.id}
        is_repeated = isinstance(added, ServiceOffering) and added.id in self._repeated_service_ids
        return reactions_to_repeated_id() if is_repeated or not plan_ids.isdisjoint(self._repeated_plan_ids) else {}

    def _report_removal(self, kind: Kind, pair: MatchedPair, message: str, removed: Identified) -> None:
        """Report a removal. After its sunset, an object may be removed."""
        sunset = removed.sunset
        passed = bool(sunset and sunset < (self._today or date.today()))  # the author's local date
        if sunset:
            message += f"; its sunset was {sunset}" if passed else f"; deprecated, but promised until {sunset}"
        if passed:
            kind = kind.with_levels({Level.BREAKING: Level.RISKY})
        pair.add(kind, message, old=removed.id)

    def _report_moved_plans(self) -> None:
        holders = {
            id(new): _find_name_holders(old.plans, match_by_id(old.plans, new.plans).kept)
            for old, new in self._service_pairs
            if self._moves and fold_name(old) == fold_name(new)  # else a new path of names
        }
        for old_service, old_plan, new_service, new_plan in self._moves:
            pair = self._make_pair(old_service, new_service, old_plan, new_plan)
            owners = (old_service, new_service)
            names = [format_value(owner.name) for owner in owners]
            if old_service.name == new_service.name:
                names = [f"{format_value(owner.name)} (id {format_value(owner.id)})" for owner in owners]
            message = f"moved from service {names[0]} to {names[1]}"
            pair.add(kinds.PLAN_MOVED, message, (), old_service.id, new_service.id)
            renamed = old_plan if _is_renamed(old_plan, new_plan) else None
            self._report_name(pair, renamed, new_plan, holders.get(id(new_service), {}))
            compare_plan_fields(pair, moved=True)


def _find_name_holders(old_objects: Sequence[T], kept: Sequence[tuple[T, T]]) -> _Holders:
    staying = {fold_name(new) for old, new in kept if fold_name(old) == fold_name(new)}
    return {fold_name(old): (old, fold_name(old) not in staying) for old in old_objects if old.name}


def _is_renamed(old: Identified, new: Identified) -> bool:
    """Return whether the names differ. Values of a wrong type are no names."""
    return old.name != new.name and not has_wrong_type("name", old.data, new.data)


def _name_message(pair: MatchedPair, old: Identified | None, new: Identified, owner: Identified | None) -> ChangedValue:
    name = format_value(new.name)
    had = f", which {format_value(owner.name)} (id {format_value(owner.id)}) had" if owner else ""
    if old is None:
        return ChangedValue(f"{'moved' if pair.old_plan else 'new'}, with the name {name}{had}")
    values = f" from {format_value(old.name)} to {name}"
    return ChangedValue(f"renamed{values}{had}") if owner else ChangedValue("renamed", values)


def _describe_changed_id(old: Identified, new: Identified) -> str:
    ids = f"the id changed from {format_value(old.id)} to {format_value(new.id)}"
    return f"{ids} while the name stayed" + ("" if old.name == new.name else f" (now written {format_value(new.name)})")


def _repeated_ids(objects: Iterable[Identified]) -> set[str]:
    counts = Counter(item.id for item in objects if item.id)
    return {identity for identity, number in counts.items() if number > 1}


def _is_reordered(match: Match[T]) -> bool:
    return match.kept != sorted(match.kept, key=lambda pair: pair[1].path)


def _find_unmatched_plans(
    services: Iterable[ServiceOffering], counterparts: Mapping[int, ServiceOffering]
) -> dict[str, tuple[ServiceOffering, ServicePlan]]:
    """Plans that the counterpart of their service (by its `id()`) lacks: the first of each id, with its service.

    A plan that is found in both catalogs has moved.
    """
    found: dict[str, tuple[ServiceOffering, ServicePlan]] = {}
    for service in services:
        other = counterparts.get(id(service))
        known = {plan.id for plan in other.plans} if other else set()
        for plan in service.plans:
            if plan.id and plan.id not in known:
                found.setdefault(plan.id, (service, plan))
    return found
