"""From the rows of an export, of any number of pages, to one catalog: what a platform has stored."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from osbctl.errors import SourceError, UsageError
from osbctl.paths import get_at
from osbctl.platforms import Platform
from osbctl.platforms.export import ExportRow, Fields, Page, RowFields, row_name
from osbctl.sources.document import Document
from osbctl.sources.origins import PathOrigins, SourcePart
from osbctl.text import escape_line

Family: TypeAlias = list[tuple[ExportRow, list[ExportRow]]]
"""Service offerings, each with its plans."""


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


_NAMED = 5


def merge(
    platform: Platform, shape: RowFields, documents: Sequence[Document], pages: Sequence[Page], broker: str = ""
) -> StoredCatalog:
    """The catalog in the `pages`, which were read from `documents`.

    `broker` is the name or id of the broker on the platform, where there are several.

    What an export lacks looks like an addition, and that is safe: so one that does not hold all is refused.

    Raises:
        SourceError: it is empty or incomplete, or holds nothing of the broker; or rows lack what they must have.
        UsageError: there are service offerings of several brokers, and it is not said which.
    """
    rows = [row for page in pages for row in page.rows]
    services, plans = _services(shape, rows), _plans_by_service(shape, rows)
    if gaps := [*_gaps(shape, pages, services, plans)]:
        raise SourceError(f"the export does not hold all: {'; '.join(gaps)}", f"export it again: {shape.whole}")
    names = {word: name for page in pages for word, name in page.names.items()}
    stored = [(row, plans[key]) for key, row in _of_one_broker(shape, services, names, broker).items()]
    held = {id(row.document) for row in rows}
    return _stored(platform, shape, [document for document in documents if id(document) in held], stored)


def _services(shape: RowFields, rows: Iterable[ExportRow]) -> dict[str, ExportRow]:
    found = _unique(shape, (row for row in rows if not row.is_plan))
    for row in found.values():
        row.need(shape.service[("id",)][0])
    return found


def _plans_by_service(shape: RowFields, rows: Iterable[ExportRow]) -> dict[str, list[ExportRow]]:
    found: dict[str, list[ExportRow]] = defaultdict(list)
    for row in _unique(shape, (row for row in rows if row.is_plan)).values():
        row.need(shape.plan[("id",)][0])
        found["/".join(row.texts(shape.parent))].append(row)
    return found


def _stored(platform: Platform, shape: RowFields, sources: Sequence[Document], rows: Family) -> StoredCatalog:
    kept: dict[tuple[str, str], str] = {}
    live: Family = []
    rows = [(service, _of_broker(shape, plans)) for service, plans in rows]
    for service, plans in rows:
        if _is_gone(shape, service):
            kept |= _retained(shape, service, plans, whole=True)
        else:
            kept |= _retained(shape, service, [plan for plan in plans if _is_gone(shape, plan)])
            live.append((service, [plan for plan in plans if not _is_gone(shape, plan)]))
    return StoredCatalog(_document(shape, sources, live), platform, shape, kept, _is_public(rows))


def _is_public(rows: Family) -> bool:
    """Return whether everybody sees every plan."""
    seen = [plan.data.get("visibility_type") for _, plans in rows for plan in plans]
    return bool(seen) and all(kind == "public" for kind in seen)


def _of_broker(shape: RowFields, plans: list[ExportRow]) -> list[ExportRow]:
    """The plans without those that the platform adds by itself."""
    return [plan for plan in plans if _name(shape.plan, plan) not in shape.own_plans]


def _retained(
    shape: RowFields, service: ExportRow, plans: Iterable[ExportRow], *, whole: bool = False
) -> dict[tuple[str, str], str]:
    """The names of plans that are gone and stay, by ids; `whole`: the service offering, too."""
    name, own = _name(shape.service, service), service.need(shape.service[("id",)][0])
    of_plans = {(own, plan.need(shape.plan[("id",)][0])): f"{name}/{_name(shape.plan, plan)}" for plan in plans}
    return {(own, ""): name, **of_plans} if whole else of_plans


def _unique(shape: RowFields, rows: Iterable[ExportRow]) -> dict[str, ExportRow]:
    """The rows by what the platform calls them; of a row that comes twice, the first."""
    found: dict[str, ExportRow] = {}
    for row in rows:
        row.need(shape.key[-1])
        found.setdefault(row_name(row.data, shape.key), row)
    return found


def _gaps(
    shape: RowFields, pages: Sequence[Page], services: Mapping[str, ExportRow], plans: Mapping[str, list[ExportRow]]
) -> Iterator[str]:
    """Missing parts of the export, in words that follow a colon."""
    yield from _empty(shape, pages, services, plans)
    yield from (gap for together in _by_query(pages).values() for gap in _cut(shape, together))
    if filters := sorted({name for page in pages for name in page.filters}):
        yield f"it was filtered by {_some(filters)}"
    if services:
        yield from _unmatched(shape, services, plans)


def _empty(shape: RowFields, pages: Sequence[Page], services: Collection[str], plans: Collection[str]) -> Iterator[str]:
    if not services:
        yield "it holds plans and no service offerings" if plans else "it holds no service offering"
    elif not plans and (shape.always_plans or all(page.rows for page in pages)):  # a list without plans says so
        yield "it holds no plan"


def _cut(shape: RowFields, pages: Sequence[Page]) -> Iterator[str]:
    """Missing rows of one query, from its pages."""
    of_plans = pages[0].of_plans
    rows = (row for page in pages for row in page.rows if row.is_plan == of_plans)
    held, total = len(_unique(shape, rows)), max(page.total for page in pages)
    word = "plans" if of_plans else "service offerings"
    cut = "the list was cut: " if all(page.more for page in pages) else ""
    if held < total:
        yield f"{cut}it holds {held:,} of {total:,} {word}"
    elif cut:
        yield f"it says that there are more {word} than it holds"


def _unmatched(
    shape: RowFields, services: Mapping[str, ExportRow], plans: Mapping[str, list[ExportRow]]
) -> Iterator[str]:
    """Plans without their service offering, and service offerings without plans where each has some."""
    lost = [_name(shape.plan, row) for key, rows in plans.items() if key not in services for row in rows]
    if lost:
        yield f"it lacks the service offering of {_some(lost)}"
    empty = [_name(shape.service, row) for key, row in services.items() if not plans.get(key)]
    if empty and plans and shape.always_plans:
        yield f"it holds no plan of {_some(empty)}"


def _by_query(pages: Sequence[Page]) -> dict[tuple[str, bool], list[Page]]:
    found: dict[tuple[str, bool], list[Page]] = defaultdict(list)
    for page in pages:
        found[page.query, page.of_plans].append(page)
    return found


def _of_one_broker(
    shape: RowFields, rows: dict[str, ExportRow], names: Mapping[str, str], broker: str
) -> dict[str, ExportRow]:
    brokers: dict[tuple[str, ...], dict[str, ExportRow]] = defaultdict(dict)
    for key, row in rows.items():
        words = row.texts(shape.brokers)
        brokers[*(names[word] for word in words if word in names), *words][key] = row
    if broker:
        return _named_broker(brokers, broker)
    if len(brokers) > 1:
        count = f"the export holds service offerings of {len(brokers)} brokers"
        raise UsageError(count, f"--stored-broker: {_labels(brokers)}")
    return rows


def _named_broker(brokers: Mapping[tuple[str, ...], dict[str, ExportRow]], broker: str) -> dict[str, ExportRow]:
    chosen = [found for words, found in brokers.items() if broker in words]
    if not chosen:
        advice = f"it holds {_labels(brokers)}; --stored-broker names one"
        raise SourceError(f"the export holds nothing of a broker {broker}", advice)
    return {key: row for found in chosen for key, row in found.items()}


def _labels(brokers: Iterable[tuple[str, ...]]) -> str:
    return _some(sorted(" / ".join(words) or "one without a name" for words in brokers))


def _is_gone(shape: RowFields, row: ExportRow) -> bool:
    return shape.gone is not None and get_at(row.data, shape.gone[0]) is shape.gone[1]


def _name(fields: Fields, row: ExportRow) -> str:
    found = row.texts((*fields[("name",)], *fields[("id",)]))
    return found[0] if found else ""


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    text = ", ".join(escape_line(name) for name in names[:_NAMED])
    return f"{text} and {more:,} more" if more > 0 else text


def _document(shape: RowFields, sources: Sequence[Document], rows: Family) -> Document:
    parts = {id(source): SourcePart(source) for source in sources}
    services: list[dict[str, Any]] = []
    origins = PathOrigins({"services": services}, (parts[id(sources[0])], ()))

    def mapped(fields: Fields, row: ExportRow) -> dict[str, Any]:
        part = parts[id(row.document)]
        return _mapped(fields, row, shape.own_metadata, origins, part)

    for service, plans in rows:
        services.append(mapped(shape.service, service))
        services[-1]["plans"] = [mapped(shape.plan, plan) for plan in plans]
    name = ", ".join(source.name for source in sources)
    return Document(name, origins.data, sources[0].syntax, origins.locate)


def _mapped(
    fields: Fields, row: ExportRow, own: Collection[str], origins: PathOrigins, part: SourcePart
) -> dict[str, Any]:
    """The object of a catalog that a row stands for, without the fields of metadata that are the platform's `own`."""
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
