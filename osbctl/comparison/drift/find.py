"""The drift between a stored catalog and the broker's, as changes from the one to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.catalog import Catalog
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.drift.normalise import normalised, silence
from osbctl.comparison.drift.wording import as_drift
from osbctl.comparison.rules import fields
from osbctl.errors import SourceError
from osbctl.text import plural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from osbctl.changes import Change
    from osbctl.platforms import Platform
    from osbctl.platforms.export import Fields, Shape
    from osbctl.sources.exports.stored import StoredCatalog


def find_drift(
    stored: StoredCatalog,
    broker: Mapping[str, Any] | Catalog,
    *,
    platforms: Collection[Platform] = (),
    instances: frozenset[str] | None = None,
) -> list[Change]:
    """What the platform would meet if it took the catalog `broker` in place of the `stored` one.

    `platforms` and `instances` are as in `compare_catalogs`; an export is looked at as its own platform does. The paths
    are those of `stored.document` and of `broker`.

    Raises:
        SourceError: the export is that of another broker.
    """
    shape = stored.shape
    broker = Catalog.of(broker)
    old, new = stored.document.catalog, broker
    if shape and stored.platform:
        _check_same_broker(stored, broker, shape)
        false, platforms = stored.platform.record.omitted_is_false, (stored.platform,)
        before, after = normalised(old.data, shape, false), normalised(broker.data, shape, false)
        silence(before, after, broker.data, false)
        old, new = Catalog.of(before), Catalog.of(after)
    changes = compare_catalogs(old, new, platforms=platforms, instances=instances)
    return [
        as_drift(change, back=_ids(change) in stored.kept)
        for change in changes
        if shape is None or not _is_shape_alone(change)
    ]


def _check_same_broker(stored: StoredCatalog, broker: Catalog, shape: Shape) -> None:
    """Refuse an export that has nothing in common with the broker's catalog, where both hold something."""
    ours, theirs = _marks(broker), _marks(stored.document.catalog)
    theirs |= {mark for ids in stored.kept for mark in ids if mark}
    if ours and theirs and not ours & theirs:
        raise SourceError(
            f"{stored.document.name}: no service offering or plan there is of this broker: no id or name is the same",
            f"export the rows of the broker itself: {shape.whole}",
        )


def _marks(catalog: Catalog) -> set[str]:
    services = {mark for service in catalog.services for mark in (service.id, service.name)}
    return (services | {plan.id for plan in catalog.plans}) - {""}


def _ids(change: Change) -> tuple[str, str]:
    return change.service.id if change.service else "", change.plan.id if change.plan else ""


def notes(stored: StoredCatalog, broker: Mapping[str, Any] | Catalog) -> list[str]:
    """What there is to know of the stored side beside drift, a sentence each.

    What the platform keeps though it is gone, and what of the broker's catalog it does not store.
    """
    sentences = []
    broker, shape = Catalog.of(broker), stored.shape
    if shape and stored.public and _plan_ids(broker) - _plan_ids(stored.document.catalog):
        sentences.append(f"every plan of the export is public, and only administrators see others: {shape.whole}")
    offered = _offered(broker)
    if gone := [name for ids, name in stored.kept.items() if ids not in offered]:
        sentences.append(f"gone from the catalog and kept by the platform, so not compared: {', '.join(gone)}")
    if shape and stored.platform and (left_out := [*_left_out(broker, shape)]):
        sentences.append(f"{stored.platform.label} does not keep or show, so it is not compared: {', '.join(left_out)}")
    for name, sentence in shape.unsure.items() if shape else ():
        if _any_true(broker, name) and not _any_true(stored.document.catalog, name):
            sentences.append(sentence)
    return sentences


def _offered(broker: Catalog) -> set[tuple[str, str]]:
    """The ids of service offerings and their plans, as `StoredCatalog.kept` has them."""
    services = broker.services
    return {(service.id, "") for service in services} | {(s.id, plan.id) for s in services for plan in s.plans}


def _plan_ids(catalog: Catalog) -> set[str]:
    return {plan.id for plan in catalog.plans}


def _any_true(catalog: Catalog, name: str) -> bool:
    return any(service.data.get(name) is True for service in catalog.services)


def _is_shape_alone(change: Change) -> bool:
    """No drift: no platform keeps the order of service offerings and plans, nor tells absent from empty."""
    if change.rule == fields.ORDER.id:
        return change.field in ("services", "plans")
    return change.rule == fields.OTHER.id and change.service is None and not change.field


def _left_out(broker: Catalog, shape: Shape) -> Iterator[str]:
    yield from _unknown((service.data for service in broker.services), shape.service, "service offering")
    yield from _unknown((plan.data for plan in broker.plans), shape.plan, "plan")


def _unknown(things: Iterable[Mapping[str, Any]], known: Fields, word: str) -> Iterator[str]:
    heads = {str(field[0]) for field in known} | {"plans"}
    counts: dict[str, int] = {}
    for thing in things:
        for key, value in thing.items():
            if key not in heads and value is not None and value not in ({}, []):
                counts[key] = counts.get(key, 0) + 1
    for key, number in counts.items():
        yield f"{key} of {plural(number, word)}"
