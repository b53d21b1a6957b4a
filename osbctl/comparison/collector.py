"""Collector of changes: makes a `Change` from a kind and a pair of objects, and adds locations."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.changes import Change, ObjectRef
from osbctl.comparison.kinds import Kind
from osbctl.comparison.values import ChangedValue
from osbctl.messages import Sentence, redact_at
from osbctl.paths import JsonPath, JsonValue, pointer
from osbctl.platforms import Platform
from osbctl.sources.document import Document


@dataclass(slots=True)
class Collector:
    """Changes found so far. `used_plans` are the ids of plans with instances, None if not known."""

    platforms: Collection[Platform]
    used_plans: frozenset[str] | None = None
    changes: list[Change] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MatchedPair:
    """The object of changes on both sides, None where it is absent: a plan, a service offering or else the catalog."""

    collector: Collector
    old_service: ServiceOffering | None = None
    new_service: ServiceOffering | None = None
    old_plan: ServicePlan | None = None
    new_plan: ServicePlan | None = None

    @property
    def is_of_plans(self) -> bool:
        """Return whether the object is a plan."""
        return bool(self.old_plan or self.new_plan)

    def add(
        self,
        kind: Kind,
        message: Sentence | ChangedValue,
        path: JsonPath = (),
        old: JsonValue = None,
        new: JsonValue = None,
        *,
        old_path: JsonPath | None = None,
        new_path: JsonPath | None = None,
    ) -> None:
        """Add a change of `kind`, which knows the reactions, in the field `path` of the object.

        `old_path` and `new_path` are those on each side, if they differ from `path`.
        """
        if not isinstance(message, ChangedValue):
            message = ChangedValue(message)
        old_path, new_path = path if old_path is None else old_path, path if new_path is None else new_path
        service, plan = self.new_service or self.old_service, self.new_plan or self.old_plan
        names = (item.name if item else "" for item in (service, plan))
        change = Change(
            rule=kind.id,
            sentence=message.sentence,
            values=message.values,
            effects=kind.effects(self.collector.platforms, self._is_used(), *names),
            service=_object_ref(self.old_service or self.new_service),
            plan=_object_ref(self.old_plan or self.new_plan),
            field=pointer(path)[1:],
            old=redact_at(old, old_path),
            new=redact_at(new, new_path),
            old_path=self._catalog_path(self.old_service, self.old_plan, old_path),
            new_path=self._catalog_path(self.new_service, self.new_plan, new_path),
            advice=kind.advice,
        )
        self.collector.changes.append(change)

    def _is_used(self) -> bool | None:
        """Return whether the old plan, one of the service offering, or any has instances. None if not known."""
        used = self.collector.used_plans
        if used is None:
            return None
        if self.is_of_plans:
            return bool(self.old_plan and self.old_plan.id in used)
        if self.old_service or self.new_service:
            return any(plan.id in used for plan in (self.old_service.plans if self.old_service else ()))
        return bool(used)

    def _catalog_path(self, service: ServiceOffering | None, plan: ServicePlan | None, field: JsonPath) -> JsonPath:
        """Path of the object's `field` in one catalog, or of its container."""
        if plan:
            return (*plan.path, *field)
        if self.is_of_plans and service:
            return (*service.path, "plans")
        return (*service.path, *field) if service else field or ("services",)


def _object_ref(item: ServiceOffering | ServicePlan | None) -> ObjectRef | None:
    return ObjectRef(item.id, item.name) if item else None


def add_locations(changes: Sequence[Change], old: Document, new: Document) -> list[Change]:
    """`changes` with locations, in one pass over each source; no excerpts, which may hold secrets of the catalog."""
    if not changes:
        return []
    old_locations = old.locate({change.old_path for change in changes})
    new_locations = new.locate({change.new_path for change in changes})
    return [
        replace(
            change,
            old_location=None if change.is_added_object else old_locations[change.old_path]._replace(excerpt=""),
            new_location=new_locations[change.new_path]._replace(excerpt=""),
        )
        for change in changes
    ]
