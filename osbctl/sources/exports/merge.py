"""Merge the rows of an export, from any number of pages, into the catalog that a platform has stored."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from osbctl.errors import SourceError, UsageError
from osbctl.paths import Path, get_at
from osbctl.platforms import Platform
from osbctl.platforms.export import ExportRow, Fields, Page, RowFields, row_name
from osbctl.sources.document import Document
from osbctl.sources.origins import PathOrigins, SourcePart
from osbctl.text import escape_line

Family: TypeAlias = list[tuple[ExportRow, list[ExportRow]]]
"""Service offerings, each with its plans."""

_ID: Path = ("id",)
_NAMED = 5
"""Names that a message lists."""


@dataclasses.dataclass(frozen=True, slots=True)
class StoredCatalog:
    """The catalog that a platform has stored, as far as it is known.

    `document` is in the shape of a catalog; its places lead into what it was read from. `platform` is the one that has
    it, None where that is not known; `shape` that of its export, None for a catalog that was kept whole. `kept` has the
    names, `service` or `service/plan`, of what was gone from the broker's catalog and stays, by the ids of service
    offering and plan (empty for a service offering); these are not in the document. `public`: every plan in the export
    is one that everybody sees. `without_secrets`: secrets were replaced when it was stored.
    """

    document: Document
    platform: Platform | None = None
    shape: RowFields | None = None
    kept: Mapping[tuple[str, str], str] = dataclasses.field(default_factory=dict)
    public: bool = False
    without_secrets: bool = False


def merge(platform: Platform, shape: RowFields, pages: Sequence[Page], broker: str = "") -> StoredCatalog:
    """Merge the `pages` of an export into a catalog.

    `broker` is the name or id of the broker on the platform, where there are several.

    An incomplete export is refused: missing rows would look like additions, which are safe changes.

    Raises:
        SourceError: it is empty or incomplete, or holds nothing of the broker; or rows lack what they must have.
        UsageError: there are service offerings of several brokers, and it is not said which.
    """
    rows = [row for page in pages for row in page.rows]
    services = _unique(shape, rows, of_plans=False)
    plans = _by_service(shape, _unique(shape, rows, of_plans=True).values())
    if gaps := [*_gaps(shape, pages, services, plans)]:
        raise SourceError(f"the export does not hold all: {'; '.join(gaps)}", f"export it again: {shape.whole}")
    names = {word: name for page in pages for word, name in page.names.items()}
    families = [
        (row, [plan for plan in plans[key] if _name(shape.plan, plan) not in shape.own_plans])
        for key, row in _of_one_broker(shape, services, names, broker).items()
    ]
    live, kept = _without_gone(shape, families)
    sources = [*{id(row.document): row.document for row in rows}.values()]
    return StoredCatalog(_document(shape, sources, live), platform, shape, kept, _is_public(families))


def _by_service(shape: RowFields, plans: Iterable[ExportRow]) -> dict[str, list[ExportRow]]:
    """Group the rows of plans by the key of their service offering."""
    found: dict[str, list[ExportRow]] = defaultdict(list)
    for plan in plans:
        found["/".join(plan.texts(shape.parent))].append(plan)
    return found


def _is_public(families: Family) -> bool:
    """Return whether every plan is public."""
    seen = [plan.data.get("visibility_type") for _, plans in families for plan in plans]
    return bool(seen) and all(kind == "public" for kind in seen)


def _unique(shape: RowFields, rows: Iterable[ExportRow], *, of_plans: bool) -> dict[str, ExportRow]:
    """The service offerings or plans, by their names on the platform; of a row that comes twice, the first."""
    found: dict[str, ExportRow] = {}
    for row in rows:
        if row.is_plan == of_plans:
            row.need(shape.key[-1])
            row.need((shape.plan if of_plans else shape.service)[_ID][0])
            found.setdefault(row_name(row.data, shape.key), row)
    return found


def _without_gone(shape: RowFields, families: Family) -> tuple[Family, dict[tuple[str, str], str]]:
    """Split the rows into those of the broker's catalog and the `kept` of `StoredCatalog`."""
    live: Family = []
    kept: dict[tuple[str, str], str] = {}
    for service, plans in families:
        name, id_ = _name(shape.service, service), service.need(shape.service[_ID][0])
        there: list[ExportRow] = []
        if is_gone := _is_gone(shape, service):
            kept[id_, ""] = name
        else:
            live.append((service, there))
        for plan in plans:
            if is_gone or _is_gone(shape, plan):
                kept[id_, plan.need(shape.plan[_ID][0])] = f"{name}/{_name(shape.plan, plan)}"
            else:
                there.append(plan)
    return live, kept


def _is_gone(shape: RowFields, row: ExportRow) -> bool:
    return shape.gone is not None and get_at(row.data, shape.gone[0]) is shape.gone[1]


def _name(fields: Fields, row: ExportRow) -> str:
    found = row.texts((*fields[("name",)], *fields[_ID]))
    return found[0] if found else ""


# Gaps of an export.


def _gaps(
    shape: RowFields, pages: Sequence[Page], services: Mapping[str, ExportRow], plans: Mapping[str, list[ExportRow]]
) -> Iterator[str]:
    """Missing parts of the export, in words that follow a colon."""
    if not services:
        yield "it holds plans and no service offerings" if plans else "it holds no service offering"
    elif not plans and (shape.always_plans or all(page.rows for page in pages)):  # a list without plans says so
        yield "it holds no plan"
    yield from _cut(shape, pages)
    if filters := sorted({name for page in pages for name in page.filters}):
        yield f"it was filtered by {_some(filters)}"
    yield from _unmatched(shape, services, plans)


def _cut(shape: RowFields, pages: Sequence[Page]) -> Iterator[str]:
    """Missing rows of each query, from its pages."""
    by_query: dict[tuple[str, bool], list[Page]] = defaultdict(list)
    for page in pages:
        by_query[page.query, page.of_plans].append(page)
    for (_, of_plans), together in by_query.items():
        held = len(_unique(shape, (row for page in together for row in page.rows), of_plans=of_plans))
        total = max(page.total for page in together)
        word = "plans" if of_plans else "service offerings"
        cut = "the list was cut: " * all(page.more for page in together)
        if held < total:
            yield f"{cut}it holds {held:,} of {total:,} {word}"
        elif cut:
            yield f"it says that there are more {word} than it holds"


def _unmatched(
    shape: RowFields, services: Mapping[str, ExportRow], plans: Mapping[str, list[ExportRow]]
) -> Iterator[str]:
    """Plans without their service offering, and service offerings without plans on platforms that require one."""
    if not services:
        return
    lost = [_name(shape.plan, row) for key, rows in plans.items() if key not in services for row in rows]
    if lost:
        yield f"it lacks the service offering of {_some(lost)}"
    empty = [_name(shape.service, row) for key, row in services.items() if not plans.get(key)]
    if empty and plans and shape.always_plans:
        yield f"it holds no plan of {_some(empty)}"


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    text = ", ".join(escape_line(name) for name in names[:_NAMED])
    return f"{text} and {more:,} more" if more > 0 else text


# One broker of several.


def _of_one_broker(
    shape: RowFields, services: dict[str, ExportRow], names: Mapping[str, str], broker: str
) -> dict[str, ExportRow]:
    """The service offerings of the broker. `names` are names of brokers by id."""
    brokers = {key: _broker_names(row.texts(shape.brokers), names) for key, row in services.items()}
    known = set(brokers.values())
    labels = _some(sorted(" / ".join(words) or "one without a name" for words in known))
    if broker:
        chosen = {key: row for key, row in services.items() if broker in brokers[key]}
        if chosen:
            return chosen
        advice = f"it holds {labels}; --stored-broker names one"
        raise SourceError(f"the export holds nothing of a broker {broker}", advice)
    if len(known) > 1:
        raise UsageError(f"the export holds service offerings of {len(known)} brokers", f"--stored-broker: {labels}")
    return services


def _broker_names(words: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return (*(names[word] for word in words if word in names), *words)


# The catalog.


def _document(shape: RowFields, sources: Sequence[Any], rows: Family) -> Document:
    """Build the catalog of these rows, with locations in their documents."""
    parts = {id(source): SourcePart(source) for source in sources}
    services: list[dict[str, Any]] = []
    origins = PathOrigins({"services": services}, (parts[id(sources[0])], ()))

    def mapped(fields: Fields, row: ExportRow) -> dict[str, Any]:
        return _mapped(fields, row, shape.own_metadata, origins, parts[id(row.document)])

    for service, plans in rows:
        services.append(mapped(shape.service, service))
        services[-1]["plans"] = [mapped(shape.plan, plan) for plan in plans]
    name = ", ".join(dict.fromkeys(source.name for source in sources))
    return Document(name, origins.data, sources[0].syntax, origins.locate)


def _mapped(
    fields: Fields, row: ExportRow, own: Collection[str], origins: PathOrigins, part: SourcePart
) -> dict[str, Any]:
    """Map a row to an object of a catalog, without the metadata fields that the platform adds (`own`)."""
    data: dict[str, Any] = {}
    origins.of_object(data, (part, row.path))
    for field, places in fields.items():
        place = next((place for place in places if get_at(row.data, place) is not None), places[0])
        value, holder = get_at(row.data, place), data
        if field == ("metadata",) and isinstance(value, dict):
            value = {key: inner for key, inner in value.items() if key not in own}
        if value is not None:
            for step in field[:-1]:
                holder = holder.setdefault(str(step), {})
            holder[str(field[-1])] = value
        origins.of_key(holder, str(field[-1]), (part, (*row.path, *place)))
    return data
