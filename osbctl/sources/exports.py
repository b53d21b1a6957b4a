"""Exports of platforms, mapped back to catalogs.

The files of an export are pages of rows. A platform's module `tools` recognises them, and locates a catalog's fields.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from osbctl.errors import SourceError, UsageError
from osbctl.findings import DocumentError
from osbctl.paths import JsonPath, get_at
from osbctl.platforms import Identity, Platform, State
from osbctl.platforms.tools import ExportRow, Fields, Page, RowFields, export_format, row_name
from osbctl.platforms.updates import StoredRow
from osbctl.sources.catalogs import find_only_catalog, has_service_offering, require_services
from osbctl.sources.document import ComposedDocument, Document, decode_utf8, not_object_finding, parse_stream
from osbctl.sources.read import read_source
from osbctl.sources.read_bytes import DEFAULT_LIMITS, Limits, read_bytes
from osbctl.text import escape_line

OfferingRows: TypeAlias = list[tuple[ExportRow, list[ExportRow]]]
"""Service offerings, each with its plans."""

_ID: JsonPath = ("id",)
_NAMED = 5
"""Names that a message lists."""


class StoredAs(StrEnum):
    """Format of a stored catalog: the export of a platform, or the catalog as the broker sent it."""

    # A member for each platform: the loop writes them into the namespace of the class body, from which Enum makes
    # members. `_ignore_` keeps the loop's own variable from becoming one.
    _ignore_ = "platform"
    for platform in Platform:
        vars()[platform.name] = platform.value
    CATALOG = "catalog"


@dataclasses.dataclass(frozen=True, slots=True)
class StoredCatalog:
    """The catalog that a platform has stored, as far as it is known.

    `document` is in the shape of a catalog; its places lead into what it was read from. `platform` is the one that has
    it, None where that is not known; `shape` that of its export, None for a catalog that was kept whole. `kept` are the
    rows of what was gone from the broker's catalog and stays; these are not in the document. `public`: every plan in
    the export is one that everybody sees. `without_secrets`: secrets were replaced when it was stored. `taken_ids` are
    the ids of other brokers on the platform, each with the broker's name.
    """

    document: Document
    platform: Platform | None = None
    shape: RowFields | None = None
    kept: tuple[StoredRow, ...] = ()
    public: bool = False
    without_secrets: bool = False
    taken_ids: Mapping[tuple[Identity, str], str] = dataclasses.field(default_factory=dict)


# The documents of an export.


def read_documents(source: str, limits: Limits = DEFAULT_LIMITS) -> Sequence[Document]:
    """Read the documents of an export in `source` (as for `read_source`): at least one, each an object.

    Raises SourceError, UsageError: it cannot be opened; DocumentError: what it holds cannot be read.
    """
    try:
        data, name = read_bytes(source, limits=limits)
    except IsADirectoryError:
        return [read_source(source, limits=limits)]
    return parse_documents(data, name, limits)


def parse_documents(content: bytes, name: str, limits: Limits = DEFAULT_LIMITS) -> Sequence[Document]:
    """Parse the documents of an export; `name` is its name in reports. Raises as `read_documents`."""
    documents = parse_stream(decode_utf8(content, name), name, limits)
    for document in documents:
        data: Any = document.data
        if not isinstance(data, dict) and not has_service_offering(document):
            raise DocumentError((not_object_finding(document, data, ()),))
    return documents


# The platform that wrote it.


def find_stored_catalog(
    documents: Sequence[Document], stored_as: StoredAs | None = None, broker: str = "", at: str = ""
) -> StoredCatalog:
    """Read the stored catalog in `documents`: the files of one export in any order, or one catalog.

    `stored_as` None: recognised by the content. `broker` is the broker's name or id on the platform, where there are
    several. `at` is the JSON pointer of a catalog. An incomplete export is refused: missing rows would look like
    additions, which are safe changes. Raises SourceError: wrong shape, several platforms, incomplete, or nothing of the
    broker; DocumentError: not one catalog; UsageError: what is asked for is not there, or not clear.
    """
    for document in documents:
        _refuse_v2_export(document)
    by_name = {platform.value: platform for platform in Platform}
    platform = by_name.get(stored_as) if stored_as else _recognise_common_platform(documents)
    if platform is None:
        if len({document.name for document in documents}) > 1 or broker:
            raise UsageError("a catalog is one file, of one broker", "only exports come in several files")
        return StoredCatalog(require_services(find_only_catalog(documents, at), as_list=True))
    export = export_format(platform)
    for document in documents:
        document.check_faults(())
        if not _is_export(document, platform):
            raise SourceError(f"{document.name}: not an export of {platform.label}", "leave --stored-as out")
    pages = [export.read(document) for document in documents]
    return _merge_pages(platform if stored_as else _narrow_platform_by_rows(platform, pages), pages, broker)


def _narrow_platform_by_rows(platform: Platform, pages: Sequence[Page]) -> Platform:
    """The platform that alone would write these rows, among those that share the format of `platform`."""
    rows = [row for page in pages for row in page.rows]
    for other in Platform:
        export = export_format(other)
        if export.read is export_format(platform).read and export.wrote and export.wrote(rows):
            return other
    return platform


def _recognise_common_platform(documents: Sequence[Document]) -> Platform | None:
    """Recognise the platform that wrote the documents. None for a catalog. Raises SourceError: they are neither."""
    found = {recognise_platform(document) for document in documents}
    if len(found) > 1:
        kinds = ", ".join(sorted(platform or "no export" for platform in found))
        raise SourceError(f"the files are of different kinds: {kinds}", "name one export at a time")
    (platform,) = found
    if platform is None and not any(map(_is_catalog, documents)):
        name, data = documents[0].name, documents[0].data
        if isinstance(data.get("errors"), list) or data.get("kind") == "Status":
            raise SourceError(f"{name}: an error of the platform, not an export", "log in, and export again")
        known = f"known exports: {'; '.join(shape.whole for shape in export_shapes())}"
        raise SourceError(f"{name}: neither a catalog nor an export of a platform", known)
    return platform


def recognise_platform(document: Document) -> Platform | None:
    """Recognise the platform whose export format a document has. None for other documents, and for catalogs."""
    if isinstance(get_at(document.data, ("services",)), list):
        return None
    return next((platform for platform in Platform if _is_export(document, platform)), None)


def _is_export(document: Document, platform: Platform) -> bool:
    data: Any = document.data  # a list where it is one of service offerings
    return isinstance(data, dict) and export_format(platform).recognises(document)


def _is_catalog(document: Document) -> bool:
    return isinstance(get_at(document.data, ("services",)), list) or has_service_offering(document)


def _refuse_v2_export(document: Document) -> None:
    """Raise SourceError if a document is of Cloud Foundry's former API, whose rows have an `entity`."""
    rows = get_at(document.data, ("resources",))
    if isinstance(rows, list) and any(isinstance(get_at(row, ("entity",)), dict) for row in rows):
        v3 = next(shape.whole for shape in export_shapes() if "/v3/" in shape.whole)
        raise SourceError(f"{document.name}: an export of the v2 API, which is not read", f"export from v3: {v3}")


def export_shapes() -> Iterable[RowFields]:
    """The row fields of each kind of export, once for platforms that share one."""
    found = (export_format(platform).shape for platform in Platform)
    return {shape.whole: shape for shape in found}.values()


# The rows of all pages.


def _merge_pages(platform: Platform, pages: Sequence[Page], broker: str) -> StoredCatalog:
    """Merge the pages of an export into a catalog; errors as in `find_stored_catalog`."""
    rows = [row for page in pages for row in page.rows]
    shape = export_format(platform).shape
    services = _index_rows_by_name(shape, rows, is_plan=False)
    plans: dict[str, list[ExportRow]] = defaultdict(list)
    for plan in _index_rows_by_name(shape, rows, is_plan=True).values():
        plans["/".join(plan.texts_at(shape.parent))].append(plan)
    if gaps := [*_describe_missing_parts(shape, pages, services, plans)]:
        raise SourceError(f"the export does not hold all: {'; '.join(gaps)}", f"export it again: {shape.whole}")
    offerings = [
        (row, [plan for plan in plans[key] if _name_or_id(shape.plan, plan) not in shape.own_plans])
        for key, row in _services_of_broker(shape, services, broker).items()
    ]
    live, kept = _split_live_and_kept(shape, offerings)
    sources: list[Any] = [*dict.fromkeys(row.document for row in rows)]
    return StoredCatalog(_catalog_document(shape, sources, live), platform, shape, kept, _all_plans_public(offerings))


def _all_plans_public(offerings: OfferingRows) -> bool:
    seen = [plan.data.get("visibility_type") for _, plans in offerings for plan in plans]
    return bool(seen) and all(kind == "public" for kind in seen)


def _index_rows_by_name(shape: RowFields, rows: Iterable[ExportRow], *, is_plan: bool) -> dict[str, ExportRow]:
    """The service offerings or plans, by their names on the platform; of a row that comes twice, the first."""
    found: dict[str, ExportRow] = {}
    for row in rows:
        if row.is_plan == is_plan:
            row.required_text(shape.key[-1])
            row.required_text((shape.plan if is_plan else shape.service)[_ID][0])
            found.setdefault(row_name(row.data, shape.key), row)
    return found


def _split_live_and_kept(shape: RowFields, offerings: OfferingRows) -> tuple[OfferingRows, tuple[StoredRow, ...]]:
    """Split the rows into those of the broker's catalog and the `kept` of `StoredCatalog`."""
    live: OfferingRows = []
    kept: list[StoredRow] = []
    for service, plans in offerings:
        id_ = service.required_text(shape.service[_ID][0])
        there: list[ExportRow] = []
        if is_gone := _is_gone_from_broker(shape, service):
            kept.append(StoredRow(id_, None, _kept_object(shape, shape.service, service), State.FLAGGED))
        else:
            live.append((service, there))
        for plan in plans:
            if is_gone or _is_gone_from_broker(shape, plan):
                plan_id = plan.required_text(shape.plan[_ID][0])
                kept.append(StoredRow(id_, plan_id, _kept_object(shape, shape.plan, plan), State.FLAGGED))
            else:
                there.append(plan)
    return live, tuple(kept)


def _kept_object(shape: RowFields, fields: Fields, row: ExportRow) -> dict[str, Any]:
    """A row as an object of a catalog, which is in no document."""
    document: Any = row.document
    unused = ComposedDocument(document.name, {}, document.syntax, (document, row.path))
    return {"name": _name_or_id(fields, row), **_row_to_object(shape, fields, row, unused)}


def _is_gone_from_broker(shape: RowFields, row: ExportRow) -> bool:
    """Return whether the platform keeps a row that is no longer in the broker's catalog."""
    return shape.gone is not None and get_at(row.data, shape.gone[0]) is shape.gone[1]


def _name_or_id(fields: Fields, row: ExportRow) -> str:
    return next(iter(row.texts_at((*fields[("name",)], *fields[_ID]))), "")


def _describe_missing_parts(
    shape: RowFields, pages: Sequence[Page], services: Mapping[str, ExportRow], plans: Mapping[str, list[ExportRow]]
) -> Iterator[str]:
    """Missing parts of the export, in words that follow a colon."""
    if not services:
        yield "it holds plans and no service offerings" if plans else "it holds no service offering"
    elif not plans and (shape.always_plans or all(page.rows for page in pages)):  # a list without plans says so
        yield "it holds no plan"
    else:
        yield from _describe_unmatched_rows(shape, services, plans)
    yield from _describe_missing_rows(shape, pages)
    if filters := sorted({name for page in pages for name in page.filters}):
        yield f"it was filtered by {_format_some_names(filters)}"


def _describe_missing_rows(shape: RowFields, pages: Sequence[Page]) -> Iterator[str]:
    """Missing rows of each query, from its pages."""
    by_query: dict[tuple[str, bool], list[Page]] = defaultdict(list)
    for page in pages:
        by_query[page.query, page.lists_plans].append(page)
    for (_, is_plan), together in by_query.items():
        held = len(_index_rows_by_name(shape, (row for page in together for row in page.rows), is_plan=is_plan))
        total = max(page.total for page in together)
        word = "plans" if is_plan else "service offerings"
        cut = "the list was cut: " * all(page.more for page in together)
        if held < total:
            yield f"{cut}it holds {held:,} of {total:,} {word}"
        elif cut:
            yield f"it says that there are more {word} than it holds"


def _describe_unmatched_rows(
    shape: RowFields, services: Mapping[str, ExportRow], plans: Mapping[str, list[ExportRow]]
) -> Iterator[str]:
    """Plans without their service offering, and service offerings without plans on platforms that require one."""
    lost = [_name_or_id(shape.plan, row) for key, rows in plans.items() if key not in services for row in rows]
    if lost:
        yield f"it lacks the service offering of {_format_some_names(lost)}"
    empty = [_name_or_id(shape.service, row) for key, row in services.items() if key not in plans]
    if empty and shape.always_plans:
        yield f"it holds no plan of {_format_some_names(empty)}"


def _format_some_names(names: list[str]) -> str:
    more = len(names) - _NAMED
    text = ", ".join(escape_line(name) for name in names[:_NAMED])
    return f"{text} and {more:,} more" if more > 0 else text


def _services_of_broker(shape: RowFields, services: dict[str, ExportRow], broker: str) -> dict[str, ExportRow]:
    """The service offerings of the broker with that name or id, empty for the only one; errors as `_merge_pages`."""
    brokers = {key: row.texts_at(shape.brokers) for key, row in services.items()}
    known = set(brokers.values())
    labels = _format_some_names(sorted(" / ".join(words) or "one without a name" for words in known))
    if broker:
        chosen = {key: row for key, row in services.items() if broker in brokers[key]}
        if chosen:
            return chosen
        advice = f"it holds {labels}; --stored-broker names one"
        raise SourceError(f"the export holds nothing of a broker {broker}", advice)
    if len(known) > 1:
        raise UsageError(f"the export holds service offerings of {len(known)} brokers", f"--stored-broker: {labels}")
    return services


# The catalog.


def _catalog_document(shape: RowFields, sources: Sequence[Document], rows: OfferingRows) -> Document:
    services: list[dict[str, Any]] = []
    name = ", ".join(dict.fromkeys(source.name for source in sources))
    catalog = ComposedDocument(name, {"services": services}, sources[0].syntax, (sources[0], ()))
    for service, plans in rows:
        services.append(_row_to_object(shape, shape.service, service, catalog))
        services[-1]["plans"] = [_row_to_object(shape, shape.plan, plan, catalog) for plan in plans]
    return catalog


def _row_to_object(shape: RowFields, fields: Fields, row: ExportRow, catalog: ComposedDocument) -> dict[str, Any]:
    """Map a row to an object of a catalog, without the metadata fields that the platform adds by itself."""
    data: dict[str, Any] = {}
    document: Any = row.document
    catalog.set_object_origin(data, (document, row.path))
    for field, places in fields.items():
        place = next((place for place in places if get_at(row.data, place) is not None), places[0])
        value, holder = get_at(row.data, place), data
        if field == ("metadata",) and isinstance(value, dict):
            value = {key: inner for key, inner in value.items() if key not in shape.own_metadata}
        if value is not None:
            for step in field[:-1]:
                holder = holder.setdefault(str(step), {})
            holder[str(field[-1])] = value
        catalog.set_key_origin(holder, str(field[-1]), (document, (*row.path, *place)))
    return data
