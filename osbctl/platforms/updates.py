"""Updates of a broker's catalog: reactions to changes, stored objects, and what the platforms' ways of saving share.

The module `updates` of each platform has its reactions, its order of saving, and how it compares names.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

from osbctl.catalog import Catalog, Identified, ServicePlan
from osbctl.paths import JsonPath
from osbctl.platforms import Identity, Platform, State
from osbctl.platforms.verdict import Refusal


class Level(StrEnum):
    """Level of a change, from strict to harmless. Ordered by `rank`.

    `refused`: a platform refuses the update, and applies none or a part of it. `breaking`: it is applied, and existing
    users break. `risky`: it may break them; the catalogs alone do not show whether it does. `safe`: no impact.
    """

    REFUSED = "refused"
    BREAKING = "breaking"
    RISKY = "risky"
    SAFE = "safe"

    @property
    def rank(self) -> int:
        """4 for refused, down to 1 for safe."""
        return {"refused": 4, "breaking": 3, "risky": 2, "safe": 1}[self.value]


@dataclass(frozen=True, slots=True)
class Reaction:
    """Reaction of a platform, and its level. `names_objects`: the phrase has the placeholders `{service}`, `{plan}`."""

    level: Level
    text: str
    names_objects: bool = False

    def format_text(self, service: str, plan: str) -> str:
        """The phrase, with the names of both in the place of the placeholders."""
        return self.text.format(service=service, plan=plan) if self.names_objects else self.text


@dataclass(frozen=True, slots=True)
class DependsOnInstances:
    """Reactions that depend on instances of the plan: `used` if it has some, `unused` if it has none."""

    unknown: Reaction
    used: Reaction
    unused: Reaction

    def choose_reaction(self, is_used: bool | None) -> Reaction:
        """The reaction for a plan with instances (True), without (False), or if that is not known (None)."""
        return self.unknown if is_used is None else self.used if is_used else self.unused

    def map(self, change: Callable[[Reaction], Reaction]) -> "DependsOnInstances":
        """The three reactions, each changed."""
        return DependsOnInstances(change(self.unknown), change(self.used), change(self.unused))


refused, breaking, risky, safe = (partial(Reaction, level) for level in Level)
"""Make a reaction of that level from a phrase."""

UPDATES = breaking("overwrites the name; scripts that use the old one stop working")
NOT_STORED = safe("does not store it")
NO_ACT = safe("stores it but does not act on it")
"""Reaction of several platforms."""


_OMITTED_IS_FALSE = {
    (False, False): safe("reads an omitted value as false: nothing changes"),
    (False, True): safe("read the omitted value as false; it is true now"),
    (True, False): risky("reads an omitted value as false"),
}
"""Reaction of a platform that reads omitted values as false, by old and new value."""


def reactions_to_omission(flag: str, old: bool, new: bool) -> dict[Platform, Reaction]:
    """Reactions to a boolean of a plan where an omitted one is false; so read, it was `old` and is `new`."""
    readers = (platform for platform in Platform if flag in platform.record.omitted_is_false)
    return dict.fromkeys(readers, _OMITTED_IS_FALSE[old, new])


def reactions_without_plan_flag(flag: str) -> dict[Platform, Reaction]:
    """Reactions to a boolean of a plan where that of the service offering alone is read."""
    readers = (platform for platform in Platform if flag in platform.record.service_only)
    return dict.fromkeys(readers, safe("does not store it for plans"))


def reactions_to_same_name(old: str, new: str) -> dict[Platform, Reaction]:
    """Reactions to a new name where both are stored as the same text."""
    reaction = safe("removes the blanks around the name, so it stays the same")
    blanks = {platform: platform.record.stripped_from_names for platform in Platform}
    return {platform: reaction for platform, some in blanks.items() if some and old.strip(some) == new.strip(some)}


def reactions_to_repeated_id() -> dict[Platform, Reaction]:
    """Reactions to a new object, of whose id the catalog has another one, where there is one object for each id."""
    reaction = breaking("overwrites another object of the catalog that has the same id")
    return {platform: reaction for platform in Platform if platform.record.merges_same_ids}


Key: TypeAlias = tuple[str, str | None]
"""The id of a service offering, and that of a plan of it. None for the service offering itself."""


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A stored service offering or plan. `data` is the object as the catalog had it, without its plans.

    `plan` is None for a service offering, `state` for an object that is offered. `since` is the time of the refresh
    that first missed an object in this state. Empty if it is not known.
    """

    service: str
    plan: str | None
    data: Mapping[str, Any]
    state: State | None = None
    since: str = ""

    @property
    def key(self) -> Key:
        """Its ids."""
        return self.service, self.plan

    @property
    def name(self) -> str:
        """Its name, or an empty string."""
        name = self.data.get("name")
        return name if isinstance(name, str) else ""


@dataclass(frozen=True, slots=True)
class Clash:
    """Conflict of an object: `path` is its location in the new catalog, `holder` the conflicting row.

    `path` is empty if the conflict is that the row has instances and cannot be deleted. `message` is the platform's, or
    a phrase of ours. `is_of_name`: the name of the object is the cause.
    """

    path: JsonPath
    message: str
    holder: StoredRow | None = None
    is_of_name: bool = False


@dataclass(slots=True)
class Update:
    """An update while it is saved: the `rows` by key, in order, and the `clashes` so far.

    `used` are the ids of the plans that have instances, `others` the ids of other brokers on the platform, each with
    the broker's name. `refusals` are the platform's reasons to refuse the new catalog alone. `moved` maps the new key
    of each moved plan to its old one. `before` are the rows before the update.
    """

    rows: dict[Key, StoredRow]
    catalog: Catalog
    used: Collection[str] = ()
    refusals: Collection[Refusal] = ()
    others: Mapping[tuple[Identity, str], str] = field(default_factory=dict)
    clashes: list[Clash] = field(default_factory=list)
    moved: dict[Key, Key] = field(default_factory=dict)
    before: dict[Key, StoredRow] = field(init=False)

    def __post_init__(self) -> None:
        self.before = dict(self.rows)

    @property
    def is_applied_in_part(self) -> bool:
        """True if rows changed, though there is a clash."""
        return bool(self.clashes) and self.rows != self.before

    def store(self, service_id: str, obj: Identified, rename: Callable[[str], str] | None = None) -> None:
        """Store an object as offered, under the name that `rename` makes of its own, if it has one."""
        row = _offered_row(service_id, obj)
        if rename and obj.name:
            row = replace(row, data={**row.data, "name": rename(obj.name)})
        self.rows[row.key] = row

    def add_clash(
        self, path: JsonPath, message: str, holder: StoredRow | None = None, *, is_of_name: bool = False
    ) -> None:
        """Note that the object at `path` cannot be saved, as in `Clash`."""
        self.clashes.append(Clash(path, message, holder, is_of_name))

    def service_rows(self) -> list[StoredRow]:
        """The rows of service offerings."""
        return [row for row in self.rows.values() if row.plan is None]

    def plan_rows(self) -> list[StoredRow]:
        """The rows of plans."""
        return [row for row in self.rows.values() if row.plan is not None]

    def removed_service_rows(self) -> list[StoredRow]:
        """The rows of service offerings that the new catalog lacks."""
        ids = {service.id for service in self.catalog.services}
        return [row for row in self.service_rows() if row.service not in ids]

    def removed_plan_rows(self) -> list[StoredRow]:
        """The rows of plans whose id the new catalog lacks."""
        ids = {plan.id for plan in self.catalog.plans}
        return [row for row in self.plan_rows() if row.plan not in ids]

    def keep_or_delete(self, row: StoredRow, state: State | None) -> None:
        """Keep a row in that state, or delete it if `state` is None."""
        if state:
            self.rows[row.key] = replace(row, state=state, since=row.since if row.state is state else "")
        else:
            del self.rows[row.key]

    def kept_rows(self, timestamp: str) -> tuple[StoredRow, ...]:
        """The removed objects that the platform keeps; those that this update removes have the `timestamp`."""
        removed = (row for row in self.rows.values() if row.state and row.plan != "")
        return tuple(replace(row, since=row.since or timestamp) for row in removed)

    def add_first_refusal(self, *rules: str) -> bool:
        """Add the first refusal of the new catalog, or of these rules, to the clashes; return whether there is one."""
        for refusal in self.refusals:
            if not rules or refusal.rule in rules:
                self.add_clash(refusal.path, refusal.message)
                return True
        return False

    def used_keys(self) -> set[Key]:
        """The keys of the plans that have instances, and of their service offerings."""
        used = [row for row in self.plan_rows() if row.plan in self.used]
        return {row.key for row in used} | {(row.service, None) for row in used}


class NameOwners:
    """Owners of names among service offerings, or plans of one, as a platform compares names."""

    def __init__(self, rows: dict[Key, StoredRow], fold: Callable[[str], str]) -> None:
        self._rows, self._fold = rows, fold
        self._holders = {self._scoped_name(row.key, row.name): row.key for row in rows.values()}

    def claim(self, key: Key, name: str) -> StoredRow | None:
        """Give the name to the row of that key; return another row that still has the name, if there is one."""
        scoped_name = self._scoped_name(key, name)
        holder = self._rows.get(self._holders.get(scoped_name, key))
        self._holders[scoped_name] = key
        is_held = holder and holder.key != key and self._scoped_name(holder.key, holder.name) == scoped_name
        return holder if is_held else None

    def _scoped_name(self, key: Key, name: str) -> tuple[str | None, str]:
        return (key[0] if key[1] is not None else None), self._fold(name)


def simulate_update(
    platform: Platform,
    old: Catalog,
    new: Catalog,
    used: Collection[str] = (),
    refusals: Collection[Refusal] = (),
    *,
    kept: Iterable[StoredRow] = (),
    others: Mapping[tuple[Identity, str], str] = MappingProxyType({}),
) -> Update:
    """The platform's update from the catalog `old`, stored as it is beside `kept` rows, to `new`; as in `Update`."""
    update = Update(rows_by_key([*catalog_rows(old), *kept]), new, used, refusals, others)
    platform.load_module("updates").change_rows(update)
    return update


def notes_on_changes(platforms: Iterable[Platform], kinds: Collection[str]) -> list[str]:
    """Notes of `platforms` on facts that two catalogs do not show and changes of these `kinds` may depend on."""
    notes = [note for platform in platforms for note in platform.load_module("updates").NOTES.items()]
    return [sentence for sentence, when in notes if not when or not when.isdisjoint(kinds)]


def catalog_rows(catalog: Catalog) -> Iterator[StoredRow]:
    """The rows of a catalog, all offered."""
    for service in catalog.services:
        yield _offered_row(service.id, service)
        for plan in service.plans:
            yield _offered_row(service.id, plan)


def _offered_row(service_id: str, obj: Identified) -> StoredRow:
    if isinstance(obj, ServicePlan):
        return StoredRow(service_id, obj.id, dict(obj.data))
    return StoredRow(service_id, None, {key: value for key, value in obj.data.items() if key != "plans"})


def row_labels(rows: Iterable[StoredRow], catalog: Catalog) -> dict[Key, str]:
    """`service` or `service/plan` by names, for each of the `rows`; service offerings may be in `catalog` instead."""
    rows = list(rows)
    services = {row.service: row.name for row in rows if row.plan is None}
    services |= {service.id: service.name for service in catalog.services}
    return {
        row.key: services.get(row.service, row.service) + (f"/{row.name}" if row.plan is not None else "")
        for row in rows
    }


def rows_by_key(rows: Iterable[StoredRow]) -> dict[Key, StoredRow]:
    """The rows by key; the last of several with one key."""
    return {row.key: row for row in rows}
