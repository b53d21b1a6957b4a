"""Stored objects of a broker, and the parts of an update that platforms share.

The module `updates` of each platform has its order of saving, and how it compares names.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.paths import Path
from osbctl.platforms import Identity, Platform, State
from osbctl.platforms.outcome import Refusal

Key: TypeAlias = tuple[str, str | None]
"""The id of a service offering, and that of a plan of it; None for the service offering itself."""


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A stored service offering or plan. `data` is the object as the catalog had it, without its plans.

    `plan` is None for a service offering, `state` for an object that is offered.
    """

    service: str
    plan: str | None
    data: Mapping[str, Any]
    state: State | None = None

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

    `path` is empty if the conflict is that the row has instances and cannot be deleted. `words` are the platform's, or
    a phrase of ours. `is_of_name`: the name of the object is the cause.
    """

    path: Path
    words: str
    holder: StoredRow | None = None
    is_of_name: bool = False


@dataclass(slots=True)
class Update:
    """An update while it is saved: the `rows` by key, in order, and the `clashes` so far.

    `used` are the ids of the plans that have instances, `others` the ids of other brokers on the platform, each with
    the broker's name. `refusals` are the platform's reasons to refuse the new catalog alone. `moved` maps the new key
    of each moved plan to its old one.
    """

    rows: dict[Key, StoredRow]
    catalog: Catalog
    used: Collection[str] = ()
    refusals: Collection[Refusal] = ()
    others: Mapping[tuple[Identity, str], str] = field(default_factory=dict)
    clashes: list[Clash] = field(default_factory=list)
    moved: dict[Key, Key] = field(default_factory=dict)

    def put(self, service: str, thing: ServiceOffering | ServicePlan, data: Mapping[str, Any] | None = None) -> None:
        """Save an object under the service offering `service`, as offered."""
        plan = thing.id if isinstance(thing, ServicePlan) else None
        self.rows[service, plan] = StoredRow(service, plan, bare(thing.data) if data is None else data)

    def clash(self, path: Path, words: str, holder: StoredRow | None = None, *, is_of_name: bool = False) -> None:
        """Note that the object at `path` cannot be saved."""
        self.clashes.append(Clash(path, words, holder, is_of_name))

    def services(self) -> list[StoredRow]:
        """The rows of service offerings."""
        return [row for row in self.rows.values() if row.plan is None]

    def plans(self) -> list[StoredRow]:
        """The rows of plans."""
        return [row for row in self.rows.values() if row.plan is not None]

    def gone_services(self) -> list[StoredRow]:
        """The rows of service offerings that the new catalog lacks."""
        ids = {service.id for service in self.catalog.services}
        return [row for row in self.services() if row.service not in ids]

    def gone_plans(self) -> list[StoredRow]:
        """The rows of plans whose id the new catalog lacks."""
        ids = {plan.id for plan in self.catalog.plans}
        return [row for row in self.plans() if row.plan not in ids]

    def leave(self, row: StoredRow, state: State | None) -> None:
        """Keep a row in that state, or delete it."""
        if state:
            self.rows[row.key] = replace(row, state=state)
        else:
            del self.rows[row.key]

    def refuse_invalid(self) -> bool:
        """Note the first refusal of the new catalog; return whether there is one."""
        for refusal in self.refusals:
            self.clash(refusal.path, refusal.message)
            return True
        return False

    def used_rows(self) -> set[Key]:
        """The keys of the plans that have instances, and of their service offerings."""
        used = [row for row in self.plans() if row.plan in self.used]
        return {row.key for row in used} | {(row.service, None) for row in used}


class Names:
    """Owners of names among service offerings, or plans of one, as a platform compares names."""

    def __init__(self, rows: dict[Key, StoredRow], fold: Callable[[str], str]) -> None:
        self._rows, self._fold = rows, fold
        self._holders = {self._place(row.key, row.name): row.key for row in rows.values()}

    def take(self, key: Key, name: str) -> StoredRow | None:
        """Give the name to the row of that key; return the row that still has it, if another one does."""
        place = self._place(key, name)
        holder = self._rows.get(self._holders.get(place, key))
        self._holders[place] = key
        is_held = holder and holder.key != key and self._place(holder.key, holder.name) == place
        return holder if is_held else None

    def _place(self, key: Key, name: str) -> tuple[str | None, str]:
        return (key[0] if key[1] is not None else None), self._fold(name)


def save_catalog(
    platform: Platform, old: Catalog, new: Catalog, used: Collection[str] = (), refusals: Collection[Refusal] = ()
) -> Update:
    """The platform's update from the catalog `old`, stored as it is, to `new`; `used`, `refusals` as in `Update`."""
    update = Update(by_key(rows_of(old)), new, used, refusals)
    platform.record.save(update)
    return update


def is_saved_in_part(platform: Platform, old: Catalog, new: Catalog, refusals: Collection[Refusal]) -> bool:
    """Return whether the platform saves a part of an update that it refuses for `refusals`."""
    return save_catalog(platform, old, new, refusals=refusals).rows != by_key(rows_of(old))


def rows_of(catalog: Catalog) -> Iterator[StoredRow]:
    """The rows of a catalog, all offered."""
    for service in catalog.services:
        yield StoredRow(service.id, None, bare(service.data))
        for plan in service.plans:
            yield StoredRow(service.id, plan.id, dict(plan.data))


def bare(data: Mapping[str, Any]) -> dict[str, Any]:
    """An object without its plans."""
    return {key: value for key, value in data.items() if key != "plans"}


def by_key(rows: Iterable[StoredRow]) -> dict[Key, StoredRow]:
    """The rows by key; the last of several with one key."""
    return {row.key: row for row in rows}
