"""Comparison of two catalogs: the changes, and how the platforms react to the new catalog."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import Any

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.changes import Change, Effect, Level
from osbctl.comparison.kinds import Kind
from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.fields import compare_catalog_fields, compare_plan_fields, compare_service_fields
from osbctl.comparison.catalogs import Identified, Match, T, match_by_id, pop_pairs_by_name
from osbctl.comparison.catalogs import NameChanges
from osbctl.comparison.rules import fields, identity
from osbctl.comparison.values import equal_or_both_empty, format_value
from osbctl.platforms import Platform
from osbctl.text import plural

_NO_EFFECT = "no effective difference: only null, empty or ignored fields differ"


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
    old, new = Catalog.of(old), Catalog.of(new)
    if used_plans is not None:  # a list of instances may be for all brokers
        used_plans = used_plans.intersection(plan.id for plan in old.plans)
    collector = Collector(platforms or tuple(Platform), used_plans)
    _Comparison(old, new, collector, today).run()
    compare_catalog_fields(collector, old.data, new.data)
    if not collector.changes and not equal_or_both_empty(old.data, new.data):
        collector.add(fields.OTHER, MatchedPair(), _NO_EFFECT)
    return collector.changes


class _Comparison:
    """Reports the changes of service offerings and plans to a collector."""

    def __init__(self, old: Catalog, new: Catalog, collector: Collector, today: date | None) -> None:
        self._old, self._new, self._collector, self._today = old, new, collector, today
        self._names = NameChanges(old, new, collector)
        self._services = match_by_id(old.services, new.services)
        removed, added = self._services.removed, self._services.added
        self._same_name_pairs = pop_pairs_by_name(removed, added)
        pairs = (*self._services.kept, *self._same_name_pairs)
        removed_plans = _find_unmatched_plans(old.services, {id(pair[0]): pair[1] for pair in pairs})
        added_plans = _find_unmatched_plans(new.services, {id(pair[1]): pair[0] for pair in pairs})
        # A plan has moved if its old service offering no longer has it; otherwise the new one is a copy.
        self._moves = [(*removed_plans[key], *added_plans[key]) for key in removed_plans if key in added_plans]
        self._repeated_service_ids, self._repeated_plan_ids = _repeated_ids(new.services), _repeated_ids(new.plans)
        self._moved_plans = {id(plan) for _, old_plan, _, new_plan in self._moves for plan in (old_plan, new_plan)}

    def run(self) -> None:
        """Add all changes but those of the catalog's own fields."""
        services = self._services
        if self._old.services and not self._new.services:
            self._collector.add(identity.CATALOG_EMPTIED, MatchedPair(), "the catalog is empty")
        kept = [*services.kept, *self._same_name_pairs]
        pairs = [MatchedPair(old, new) for old, new in services.kept]
        self._names.report_names(self._old.services, [*pairs, *(MatchedPair(None, new) for new in services.added)])
        for old, new in self._same_name_pairs:
            self._report_changed_service_id(old, new)
        for old, new in kept:
            self._compare_service_and_plans(old, new)
        for removed in services.removed:
            message = f"removed, {self._describe_plan_count(removed)}"
            self._report_removal(identity.SERVICE_REMOVED, MatchedPair(removed), message, removed)
        for added in services.added:
            message = f"added, {self._describe_plan_count(added)}"
            overwrites = self._effects_of_repeated_id(added)
            pair = MatchedPair(None, added)
            self._collector.add(identity.SERVICE_ADDED, pair, message, new=added.id, overrides=overwrites)
        self._report_moved_plans()
        if _is_reordered(services):
            self._collector.add(fields.ORDER, MatchedPair(), "the service offerings changed order", ("services",))

    def _describe_plan_count(self, service: ServiceOffering) -> str:
        """The number of plans that a service offering brings or takes along; those that moved are counted apart."""
        moved = sum(id(plan) in self._moved_plans for plan in service.plans)
        text = f"with {plural(len(service.plans) - moved, 'plan')}"
        return f"{text}, besides {moved:,} moved" if moved else text

    def _report_changed_service_id(self, old: ServiceOffering, new: ServiceOffering) -> None:
        both = {plan.id for plan in old.plans if plan.id} & {plan.id for plan in new.plans}
        rule = identity.SERVICE_ID_PLANS_KEPT if both else identity.SERVICE_ID
        text = ", and plans kept theirs" if both else ""
        message = f"{_describe_changed_id(old, new)}{text}"
        refusals = self._names.refusals_of_name(new) if old.name != new.name else {}
        self._collector.add(rule, MatchedPair(old, new), message, ("id",), old.id, new.id, overrides=refusals)

    def _compare_service_and_plans(self, old: ServiceOffering, new: ServiceOffering) -> None:
        """Compare a service offering that is in both catalogs, with its plans."""
        is_judged_same = [plan.judged for plan in old.plans] == [plan.judged for plan in new.plans]
        if old.id == new.id and is_judged_same and equal_or_both_empty(old.data, new.data):
            return
        match = match_by_id(old.plans, new.plans)
        # A plan that moves is reported once, as moved.
        removed = [plan for plan in match.removed if id(plan) not in self._moved_plans]
        added = [plan for plan in match.added if id(plan) not in self._moved_plans]
        same_name_pairs = pop_pairs_by_name(removed, added)
        if old.plans and not new.plans:
            self._collector.add(identity.SERVICE_WITHOUT_PLANS, MatchedPair(old, new), "no plan is left", ("plans",))
        compare_service_fields(self._collector, old, new, [*match.kept, *same_name_pairs])
        pairs = [MatchedPair(old, new, *plans) for plans in match.kept]
        self._names.report_names(old.plans, [*pairs, *(MatchedPair(old, new, None, plan) for plan in added)])
        for old_plan, new_plan in same_name_pairs if old.id == new.id else ():
            pair, message = MatchedPair(old, new, old_plan, new_plan), _describe_changed_id(old_plan, new_plan)
            self._collector.add(identity.PLAN_ID, pair, message, ("id",), old_plan.id, new_plan.id)
        for old_plan, new_plan in (*match.kept, *same_name_pairs):
            compare_plan_fields(self._collector, MatchedPair(old, new, old_plan, new_plan))
        self._report_removed_and_added_plans(old, new, removed, added)
        if _is_reordered(match):
            self._collector.add(fields.ORDER, MatchedPair(old, new), "the plans changed order", ("plans",))

    def _report_removed_and_added_plans(
        self, old: ServiceOffering, new: ServiceOffering, removed: list[ServicePlan], added: list[ServicePlan]
    ) -> None:
        for plan in removed:
            self._report_removal(identity.PLAN_REMOVED, MatchedPair(old, new, plan), "removed", plan)
        for plan in added:
            overwrites = self._effects_of_repeated_id(plan)
            pair = MatchedPair(old, new, None, plan)
            self._collector.add(identity.PLAN_ADDED, pair, "added", new=plan.id, overrides=overwrites)

    def _effects_of_repeated_id(self, added: Identified) -> dict[Platform, Effect]:
        """The effects on platforms that have one object for all of one id, if the new catalog repeats its ids."""
        plan_ids = {plan.id for plan in added.plans} if isinstance(added, ServiceOffering) else {added.id}
        is_repeated = isinstance(added, ServiceOffering) and added.id in self._repeated_service_ids
        if not is_repeated and plan_ids.isdisjoint(self._repeated_plan_ids):
            return {}
        does = "overwrites another object of the catalog that has the same id"
        merging = (platform for platform in Platform if platform.record.merges_same_ids)
        return {platform: Effect(platform, Level.BREAKING, does) for platform in merging}

    def _report_removal(self, kind: Kind, pair: MatchedPair, message: str, removed: Identified) -> None:
        """Report a removal. After its sunset, an object may be removed."""
        sunset = removed.deprecation and removed.deprecation.sunset
        passed = bool(sunset and sunset < (self._today or date.today()))  # the author's local date
        if sunset:
            message += f"; its sunset was {sunset}" if passed else f"; deprecated, but promised until {sunset}"
        self._collector.add(kind, pair, message, old=removed.id, expired=passed)

    def _report_moved_plans(self) -> None:
        for old_service, old_plan, new_service, new_plan in self._moves:
            pair = MatchedPair(old_service, new_service, old_plan, new_plan)
            owners = (old_service, new_service)
            names = [format_value(owner.name) for owner in owners]
            if old_service.name == new_service.name:
                names = [f"{format_value(owner.name)} (id {format_value(owner.id)})" for owner in owners]
            message = f"moved from service {names[0]} to {names[1]}"
            self._collector.add(identity.PLAN_MOVED, pair, message, (), old_service.id, new_service.id)
            compare_plan_fields(self._collector, pair, moved=True)


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
    """Plans that the counterpart of their service (by its `id()`) lacks: the first of each id, with its service."""
    found: dict[str, tuple[ServiceOffering, ServicePlan]] = {}
    for service in services:
        other = counterparts.get(id(service))
        known = {plan.id for plan in other.plans} if other else set()
        for plan in service.plans:
            if plan.id and plan.id not in known:
                found.setdefault(plan.id, (service, plan))
    return found
