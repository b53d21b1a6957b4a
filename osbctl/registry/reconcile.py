"""Platform reaction to a new catalog of a registered broker.

The platform's order of saving (`updates` in its folder) decides what is stored and refused; the comparison describes
it. A platform may save a part of a catalog that it refuses.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from osbctl.catalog import Catalog
from osbctl.changes import Change, Level
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.values import equal_or_both_empty
from osbctl.paths import get_at
from osbctl.platforms import Identity, Platform, State
from osbctl.platforms.golang import catalog_as_read
from osbctl.platforms.updates import Key, StoredRow, Update, catalog_rows, rows_by_key, simulate_update
from osbctl.platforms.verdict import Refusal
from osbctl.registry.records import Action, ActionKind, RegisteredBroker, Remark

_NOTES = {
    State.INACTIVE: "deactivated, as it has instances",
    State.FLAGGED: "flagged as removed, as it has instances",
    State.OFFERED: "still offered: {} deletes nothing",
    State.ORPHANED: "still active, but its service offering is removed: no new instances can be created",
}

MAX_TOLD = 500  # changes of one refresh that are listed at most


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Result of a new catalog on a platform.

    `remarks` holds the changes, or the reasons of the refusal. `stored` is the catalog that the platform has then; it
    differs from the broker's if only a part was saved. `kept` are removed objects that it keeps.
    """

    refused: bool
    actions: tuple[Action, ...]
    remarks: tuple[Remark, ...]
    stored: dict[str, Any]
    kept: tuple[StoredRow, ...]


def reconcile(
    broker: RegisteredBroker,
    new_data: dict[str, Any],
    platform: Platform,
    used_plans: frozenset[str] | None,
    timestamp: str,
    *,
    refusals: Collection[Refusal] = (),
    taken_ids: Mapping[tuple[Identity, str], str] = MappingProxyType({}),
) -> Reconciliation:
    """Compute the reaction of `platform` to a new catalog of `broker`; `timestamp` is the time of its refresh.

    `used_plans` are the ids of the plans that have instances; None: not known, so only those of plans kept already.
    `refusals` are the platform's reasons to refuse the catalog, `taken_ids` the ids of other brokers on it.
    """
    used = frozenset(row.plan or "" for row in broker.kept) if used_plans is None else used_plans
    old, new = (catalog_as_read(platform, data) for data in (broker.data, new_data))
    update = simulate_update(platform, old, new, used, refusals, kept=broker.kept, others=taken_ids)
    changes = compare_catalogs(broker.document.catalog, new_data, platforms=[platform], used_plans=used)
    actions = tuple(_platform_actions(update, platform))
    if update.clashes:
        refused = [change for change in changes if change.level is Level.REFUSED]
        remarks = _change_remarks(refused) or _clash_remarks(update)
        data = _build_saved_catalog(update, broker.data, old)
    else:
        remarks, data = _change_remarks(changes), _build_saved_catalog(update, new_data, new)
    return Reconciliation(bool(update.clashes), actions, remarks, data, update.kept_rows(timestamp))


def find_registration_refusals(
    data: Mapping[str, Any], platform: Platform, taken_ids: Mapping[tuple[Identity, str], str]
) -> tuple[Remark, ...]:
    """Reasons why `platform` refuses a valid catalog at registration: another broker has one of its ids."""
    return _clash_remarks(simulate_update(platform, Catalog.of({}), catalog_as_read(platform, data), others=taken_ids))


def _build_saved_catalog(update: Update, base: dict[str, Any], base_as_read: Catalog) -> dict[str, Any]:
    """The catalog of the objects that are offered now; `base` itself if the platform offers exactly its objects."""
    offered = rows_by_key(row for row in update.rows.values() if not row.state)
    rows = list(catalog_rows(base_as_read))
    if offered == rows_by_key(rows) and len(rows) == len(offered):  # only one of several objects of one id is stored
        return base
    services = {row.service: {**row.data, "plans": []} for row in offered.values() if row.plan is None}
    for row in offered.values():
        if row.plan is not None:
            services[row.service]["plans"].append(row.data)
    return {**base_as_read.data, "services": list(services.values())}


def _platform_actions(update: Update, platform: Platform) -> Iterator[Action]:
    """Action on each row, in the order of the new catalog, then on missing ones."""
    rows_before, after, moved = update.before, update.rows, update.moved
    rows = rows_before | after
    for key in dict.fromkeys([*(row.key for row in catalog_rows(update.catalog)), *rows_before, *after]):
        old, new = rows_before.get(moved.get(key, key)), after.get(key)
        kind = _action_kind(old, new) if new or key not in moved.values() else None
        if kind:
            note = _NOTES[new.state].format(platform.label) if kind is ActionKind.KEPT and new and new.state else ""
            yield Action(kind, *_object_names(key, rows), note)


def _object_names(key: Key, rows: Mapping[Key, StoredRow]) -> tuple[str, str]:
    """The names of the service offering and the plan, empty without one."""
    service = rows.get((key[0], None))
    return (service and service.name) or key[0], "" if key[1] is None else rows[key].name


def _action_kind(old: StoredRow | None, new: StoredRow | None) -> ActionKind | None:
    if new is None or old is None:
        return ActionKind.CREATED if new else ActionKind.DELETED if old else None
    if new.state:
        return ActionKind.KEPT if new.state is not old.state else None
    if old.state:
        return ActionKind.REACTIVATED
    return None if equal_or_both_empty(dict(old.data), dict(new.data)) else ActionKind.UPDATED


def _clash_remarks(update: Update) -> tuple[Remark, ...]:
    """The faults at which the platform refuses the catalog."""
    found = []
    for clash in update.clashes[:MAX_TOLD]:
        path = clash.path
        steps = [path[:2], path[:4]] if len(path) > 2 else [path] if path else []
        names = [str(get_at(update.catalog.data, (*step, "name")) or "") for step in steps]
        place = "/".join(names) or (clash.holder.name if clash.holder else "") or "catalog"
        found.append(Remark("change-now-refused", Level.REFUSED.value, place, clash.message))
    return tuple(found)


def _change_remarks(changes: Sequence[Change]) -> tuple[Remark, ...]:
    found = []
    for change in changes[:MAX_TOLD]:
        reactions = "; ".join(effect.reaction for effect in change.effects if change.level is not Level.SAFE)
        message = f"{change.message}: {reactions}" if reactions else change.message
        found.append(Remark(change.rule, change.level.value, change.object or "catalog", message))
    if len(changes) > MAX_TOLD:
        found.append(Remark("", "", "", f"and {len(changes) - MAX_TOLD:,} more"))
    return tuple(found)
