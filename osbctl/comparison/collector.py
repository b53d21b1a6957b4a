"""Collector of changes: makes a `Change` from a kind and a pair of objects, and adds locations."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.changes import Change, Effect, Level, ObjectRef
from osbctl.comparison.change_kinds import Kind
from osbctl.comparison.values import masked
from osbctl.paths import JsonValue, Path, pointer
from osbctl.platforms import Platform
from osbctl.sources.document import Document


@dataclass(frozen=True, slots=True)
class MatchedPair:
    """The object of a change on both sides, None where it is absent: a plan, a service offering or else the catalog."""

    old_service: ServiceOffering | None = None
    new_service: ServiceOffering | None = None
    old_plan: ServicePlan | None = None
    new_plan: ServicePlan | None = None

    @property
    def service(self) -> ObjectRef | None:
        """The service offering by id and name; the old ones if there are any."""
        return _ref_to(self.old_service or self.new_service)

    @property
    def plan(self) -> ObjectRef | None:
        """The plan by id and name; the old ones if there are any."""
        return _ref_to(self.old_plan or self.new_plan)


@dataclass(slots=True)
class Collector:
    """Changes found so far. `instances` are the ids of plans with instances, None if not known."""

    view: Collection[Platform]
    instances: frozenset[str] | None = None
    changes: list[Change] = field(default_factory=list)

    def add(
        self,
        kind: Kind,
        pair: MatchedPair,
        message: str,
        at: Path = (),
        old: JsonValue = None,
        new: JsonValue = None,
        *,
        old_at: Path | None = None,
        new_at: Path | None = None,
        effects: tuple[Effect, ...] | None = None,
        level: Level | None = None,
        expired: bool = False,
    ) -> None:
        """Add a change of `kind` in the field `at` of the object.

        `old_at` and `new_at` are the locations on each side, if they differ from `at`. `effects` replaces those of the
        kind, `level` that of each; `expired`: the sunset of the object has passed, so what breaks users is only risky.
        """
        if effects is None:
            effects = tuple(_with_names(kind.effects(self.view, self._used(pair)), pair))
        if expired:
            effects = tuple(replace(e, level=Level.RISKY) if e.level is Level.BREAKING else e for e in effects)
        if level:
            effects = tuple(replace(effect, level=level) for effect in effects)
        old_at, new_at = at if old_at is None else old_at, at if new_at is None else new_at
        change = Change(
            rule=kind.id,
            message=message,
            effects=effects,
            service=pair.service,
            plan=pair.plan,
            field=pointer(at)[1:],
            old=masked(old, old_at),
            new=masked(new, new_at),
            old_path=_path(pair.plan, pair.old_service, pair.old_plan, old_at),
            new_path=_path(pair.plan, pair.new_service, pair.new_plan, new_at),
            advice=kind.advice,
        )
        self.changes.append(change)

    def _used(self, pair: MatchedPair) -> bool | None:
        if self.instances is None:
            return None
        if pair.plan:
            return bool(pair.old_plan and pair.old_plan.id in self.instances)
        if pair.service:
            return any(plan.id in self.instances for plan in (pair.old_service.plans if pair.old_service else ()))
        return bool(self.instances)


def _with_names(effects: Iterable[Effect], pair: MatchedPair) -> Iterator[Effect]:
    things = {"{service}": pair.new_service or pair.old_service, "{plan}": pair.new_plan or pair.old_plan}
    names = {word: thing.name if thing else "" for word, thing in things.items()}
    for effect in effects:
        yield replace(effect, does=re.sub(r"\{service\}|\{plan\}", lambda word: names[word[0]], effect.does))


def _ref_to(thing: ServiceOffering | ServicePlan | None) -> ObjectRef | None:
    return ObjectRef(thing.id, thing.name) if thing else None


def _path(about_plan: ObjectRef | None, service: ServiceOffering | None, plan: ServicePlan | None, field: Path) -> Path:
    """Path of the object's `field` in one catalog, or of its container."""
    if plan:
        return (*plan.path, *field)
    if about_plan and service:
        return (*service.path, "plans")
    return (*service.path, *field) if service else field or ("services",)


def with_places(changes: Sequence[Change], old: Document, new: Document) -> list[Change]:
    """`changes` with locations, in one pass over each source; no excerpts, which may hold secrets of the catalog."""
    if not changes:
        return []
    before = old.locate({change.old_path for change in changes})
    after = new.locate({change.new_path for change in changes})
    return [
        replace(
            change,
            old_location=None if is_added(change) else before[change.old_path]._replace(excerpt=""),
            new_location=after[change.new_path]._replace(excerpt=""),
        )
        for change in changes
    ]


def is_added(change: Change) -> bool:
    """Return whether the old catalog lacks the service offering or plan; its old path is then that of the list."""
    entry = isinstance(change.new_path[-1], int) if change.new_path else False
    return entry and change.old_path[-1:] in (("services",), ("plans",))
