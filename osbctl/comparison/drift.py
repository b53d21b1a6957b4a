"""Drift: changes from the catalog that a platform has stored to the broker's current one.

The stored side is the old one: the changes are those of the platform's next refresh. Both sides are first reduced to
what the platform stores, with its values for omitted fields; absent, null and empty are the same. Lists keep their
length, so that paths stay valid.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from osbctl.catalog import Catalog, Identified
from osbctl.changes import Change, Level
from osbctl.comparison import kinds
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.values import FLAGS, INHERITED
from osbctl.errors import SourceError
from osbctl.paths import get_at
from osbctl.platforms import Platform
from osbctl.platforms.golang import normalize_field_names
from osbctl.platforms.tools import Fields, RowFields
from osbctl.platforms.updates import catalog_rows, row_labels, rows_by_key
from osbctl.sources.exports import StoredCatalog
from osbctl.text import plural

_BACK = "the broker offers it again, the platform keeps it as removed"


def find_drift(
    stored: StoredCatalog,
    broker: Mapping[str, Any] | Catalog,
    *,
    platforms: Collection[Platform] = (),
    used_plans: frozenset[str] | None = None,
) -> list[Change]:
    """Changes if the platform replaced the `stored` catalog by that of `broker`.

    `platforms` and `used_plans` are as in `compare_catalogs`; an export is compared for its own platform. The paths are
    those of `stored.document` and of `broker`. Raises SourceError: the export belongs to another broker.
    """
    broker = Catalog.of(broker)
    if stored.shape and stored.platform:
        _check_same_broker(stored, broker, stored.shape.whole)
        platforms = (stored.platform,)
    compare = partial(compare_catalogs, platforms=platforms, used_plans=used_plans)
    changes = compare(*_sides_to_compare(stored, stored.document.catalog, broker))
    if again := _add_rows_offered_again(stored, broker):
        compared = compare(*_sides_to_compare(stored, again, broker))
        changes = [*_mark_offered_again(stored, changes), *(change for change in compared if not _is_of_order(change))]
    return [change for change in changes if not _is_storage_artifact(change, stored)]


def _mark_offered_again(stored: StoredCatalog, changes: Iterable[Change]) -> Iterator[Change]:
    """Those of `changes` that add what the platform keeps as removed, with words of their own."""
    kept = {row.key for row in stored.kept}
    for change in changes:
        is_added = change.rule in (kinds.SERVICE_ADDED.id, kinds.PLAN_ADDED.id)
        if is_added and change.service and (change.service.id, change.plan.id if change.plan else None) in kept:
            yield replace(change, sentence=_BACK, values="")


def _sides_to_compare(stored: StoredCatalog, old: Catalog, broker: Catalog) -> tuple[Catalog, Catalog]:
    """The catalogs `old`, which is that of `stored`, and `broker`, as far as the platform stores them."""
    if not (stored.shape and stored.platform):
        return old, broker
    false_defaults = stored.platform.record.omitted_is_false
    as_written = normalize_field_names(stored.platform, broker.data)
    old_data, new_data = (reduce_to_stored(data, stored.shape, false_defaults) for data in (old.data, as_written))
    drop_inherited_values(old_data, new_data, as_written, false_defaults)
    return Catalog.of(old_data), Catalog.of(new_data)


def _add_rows_offered_again(stored: StoredCatalog, broker: Catalog) -> Catalog | None:
    """The stored catalog with the `kept` rows that the broker offers again, at the end of lists. None without any."""
    old = stored.document.catalog
    offered = rows_by_key(catalog_rows(broker)).keys() - rows_by_key(catalog_rows(old)).keys()
    again = [row for row in stored.kept if row.key in offered]
    if not again:
        return None
    services = [{**service.data, "plans": [plan.data for plan in service.plans]} for service in old.services]
    services += [{**row.data, "plans": []} for row in again if row.plan is None]
    by_id = {service.get("id"): service for service in services}
    for row in again:
        if row.plan is not None and row.service in by_id:
            by_id[row.service]["plans"].append(row.data)
    return Catalog.of({**old.data, "services": services})


def _check_same_broker(stored: StoredCatalog, broker: Catalog, how_to_export: str) -> None:
    """Raise SourceError if neither side is empty and they have no id or name in common."""
    broker_marks, stored_marks = _ids_and_names(broker), _ids_and_names(stored.document.catalog)
    stored_marks |= {mark for row in stored.kept for mark in row.key if mark}
    if broker_marks and stored_marks and not broker_marks & stored_marks:
        raise SourceError(
            f"{stored.document.name}: the export has no id or name of this broker's catalog",
            f"export the rows of the broker itself: {how_to_export}",
        )


def _ids_and_names(catalog: Catalog) -> set[str]:
    services = {mark for service in catalog.services for mark in (service.id, service.name)}
    return (services | {plan.id for plan in catalog.plans}) - {""}


def stored_catalog_notes(stored: StoredCatalog, broker: Mapping[str, Any] | Catalog) -> list[str]:
    """Notes on the stored side: removed objects that the platform keeps, and fields that it does not store."""
    broker, shape = Catalog.of(broker), stored.shape
    offered = rows_by_key(catalog_rows(broker))
    labels = row_labels(stored.kept, stored.document.catalog)
    removed = [name for key, name in labels.items() if key not in offered]
    head = "not compared, as the platform keeps them though the catalog does not have them"
    sentences = [f"{head}: {', '.join(removed)}"] if removed else []
    return [*sentences, *_export_notes(stored, broker, shape)] if shape else sentences


def _export_notes(stored: StoredCatalog, broker: Catalog, shape: RowFields) -> Iterator[str]:
    """Notes on plans that the export may lack, and on fields that it does not have."""
    has = {plan.id for plan in stored.document.catalog.plans}
    if stored.public and any(plan.id not in has for plan in broker.plans):
        yield f"every plan of the export is public; only administrators see others: {shape.whole}"
    left_out = [
        *_describe_unstored_fields(broker.services, shape.service, "service offering"),
        *_describe_unstored_fields(broker.plans, shape.plan, "plan"),
    ]
    if stored.platform and left_out:
        yield f"not compared, as {stored.platform.label} does not store or show it: {', '.join(left_out)}"


def _is_storage_artifact(change: Change, stored: StoredCatalog) -> bool:
    """Return whether a change is no drift: no update of the platform would make both sides equal.

    Cloud Foundry removes blanks around names; exports keep no order of objects, and treat absent and empty alike.
    """
    if change.rule in (kinds.SERVICE_RENAMED.id, kinds.PLAN_RENAMED.id):
        return stored.platform is not None and change.level is Level.SAFE
    if stored.shape is None:
        return False
    return _is_of_order(change) or (change.rule == kinds.OTHER.id and change.service is None and not change.field)


def _is_of_order(change: Change) -> bool:
    return change.rule == kinds.ORDER.id and change.field in ("services", "plans")


def _describe_unstored_fields(objects: Iterable[Identified], stored_fields: Fields, noun: str) -> Iterator[str]:
    """Each field with a value that is not stored, and how many objects have it, such as `tags of 2 plans`."""
    heads = {str(field[0]) for field in stored_fields} | {"plans"}
    counts = Counter(
        key
        for item in objects
        for key, value in item.data.items()
        if key not in heads and value is not None and value not in ({}, [])
    )
    return (f"{key} of {plural(number, noun)}" for key, number in counts.items())


def reduce_to_stored(data: Mapping[str, Any], shape: RowFields, false_defaults: Collection[str]) -> dict[str, Any]:
    """The catalog `data` as a platform with the export format `shape` stores it, with explicit booleans.

    `false_defaults` are the booleans of a plan that it reads as false if a catalog omits them.
    """
    services: list[Any] = []
    for service in _list_at_key(data, "services"):
        reduced = _stored_fields(service, shape.service, shape) if isinstance(service, dict) else None
        services.append(reduced)
        if reduced is not None:
            for name in (*INHERITED, *FLAGS):
                if (name,) in shape.service:
                    reduced.setdefault(name, False)
            plans = _list_at_key(service, "plans")
            reduced["plans"] = [
                _reduce_plan(plan, reduced, shape, false_defaults) if isinstance(plan, dict) else None for plan in plans
            ]
    return {"services": services}


def _list_at_key(data: Mapping[str, Any], key: str) -> list[Any]:
    values = data.get(key)
    return values if isinstance(values, list) else []


def drop_inherited_values(
    stored: dict[str, Any], broker: dict[str, Any], as_written: Mapping[str, Any], false_defaults: Collection[str]
) -> None:
    """Remove values that plans inherit or omit, so that they are compared as in two catalogs.

    Inherited ones are removed from both sides, so that a changed service offering is one change.
    The platform shows inherited values as the plan's own. If the broker's plan omits a value, and the stored plan has
    the inherited one, the stored catalog is assumed to have omitted it, too. `as_written` is the broker's catalog
    before `reduce_to_stored`.
    """
    for old, new, original in _match_by_id(stored, broker, as_written, "services"):
        for old_plan, new_plan, plan in _match_by_id(old, new, original, "plans"):
            for name in INHERITED:
                if name not in false_defaults and plan.get(name) is None and old_plan.get(name) == old.get(name):
                    old_plan.pop(name, None)
                    new_plan.pop(name, None)
            # A plan may be free now because a line was lost: the comparison must see that nothing says so.
            if "free" not in false_defaults and plan.get("free") is None and old_plan.get("free") is False:
                new_plan.pop("free")


def _match_by_id(
    old: dict[str, Any], new: dict[str, Any], original: Mapping[str, Any], key: str
) -> list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Objects of one id on both sides, with the broker's object as written."""
    stored: dict[Any, dict[str, Any]] = {}
    for item in old[key]:
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            stored.setdefault(item["id"], item)
    return [
        (stored.pop(item["id"]), item, source)
        for item, source in zip(new[key], _list_at_key(original, key), strict=True)
        if isinstance(item, dict) and isinstance(item.get("id"), str) and item["id"] in stored
    ]


def _reduce_plan(
    data: dict[str, Any], service: dict[str, Any], shape: RowFields, false_defaults: Collection[str]
) -> dict[str, Any]:
    reduced = _stored_fields(data, shape.plan, shape)
    reduced.setdefault("free", "free" not in false_defaults)
    for name in INHERITED:
        if (name,) in shape.plan:
            reduced.setdefault(name, name not in false_defaults and service[name])
    return reduced


def _stored_fields(data: dict[str, Any], fields: Fields, shape: RowFields) -> dict[str, Any]:
    """The `fields` that have a value other than what the platform stores for none."""
    reduced: dict[str, Any] = {"description": ""}
    for field in fields:
        value = get_at(data, field)
        if value is None or value in ({}, []) or (field in shape.as_absent and value == shape.as_absent[field]):
            continue
        target = reduced
        for key in field[:-1]:
            target = target.setdefault(str(key), {})
        target[str(field[-1])] = value
    return reduced
