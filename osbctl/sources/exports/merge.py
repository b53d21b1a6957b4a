"""From the rows of an export, of any number of pages, to one catalog."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias

from osbctl.errors import SourceError, UsageError
from osbctl.findings import Location
from osbctl.sources.document import Document
from osbctl.sources.exports.shape import called, dig
from osbctl.sources.exports.stored import StoredCatalog
from osbctl.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from osbctl.paths import Path
    from osbctl.sources.exports.shape import Fields, Page, Row, Shape

    Family: TypeAlias = list[tuple[Row, list[Row]]]
    """Service offerings, each with its plans."""

_NAMED = 5


def merge(shape: Shape, pages: Sequence[Page], broker: str = "") -> StoredCatalog:
    """The catalog in the `pages`. `broker` is the name or id of the broker on the platform, where there are several.

    Raises:
        SourceError: the rows do not belong together, or lack what they must have.
        UsageError: there are service offerings of several brokers, and it is not said which.
    """
    rows = [row for page in pages for row in page.rows]
    services = _unique(shape, (row for row in rows if not row.is_plan))
    plans = _unique(shape, (row for row in rows if row.is_plan))
    if plans and not services:
        raise SourceError("the export holds plans and no service offerings", shape.whole)
    partial = _missing_rows(shape, pages, len(services), len(plans))
    homes: dict[str, list[Row]] = defaultdict(list)
    for row in plans.values():
        row.need(shape.plan[("id",)][0])
        homes["/".join(row.texts(shape.parent))].append(row)
    partial += _orphans(shape, homes, services)
    chosen = _of_one_broker(shape, services, {k: v for page in pages for k, v in page.names.items()}, broker)
    return _stored(shape, pages, [(row, homes[key]) for key, row in chosen.items()], partial)


def _stored(shape: Shape, pages: Sequence[Page], rows: Family, partial: list[str]) -> StoredCatalog:
    kept: list[str] = []
    live: Family = []
    for service, plans in rows:
        name = _name(shape.service, service)
        gone = _is_gone(shape, service)
        kept += [name] if gone else []
        kept += [f"{name}/{_name(shape.plan, plan)}" for plan in plans if gone or _is_gone(shape, plan)]
        if not gone:
            live.append((service, [plan for plan in plans if not _is_gone(shape, plan)]))
    empty = [_name(shape.service, service) for service, plans in rows if not plans]
    if empty:
        partial = [*partial, f"the export holds no plans of {_some(empty)}: {shape.whole}"]
    if not rows:
        partial = [*partial, f"the export holds no service offering at all: {shape.whole}"]
    seen = [plan.data.get("visibility_type") for _, plans in rows for plan in plans]
    public = bool(seen) and all(kind == "public" for kind in seen)
    document = _document(shape, pages, live)
    return StoredCatalog(document, shape.platform, shape, tuple(kept), tuple(partial), public)


def _unique(shape: Shape, rows: Iterable[Row]) -> dict[str, Row]:
    """The rows by what the platform calls them; of a row that comes twice, the first."""
    found: dict[str, Row] = {}
    for row in rows:
        row.need(shape.key[-1])
        found.setdefault(called(row.data, shape.key), row)
    return found


def _missing_rows(shape: Shape, pages: Sequence[Page], services: int, plans: int) -> list[str]:
    found = []
    totals = (("service offerings", services, "services"), ("plans", plans, "plans"))
    for word, held, field in totals:
        total = max((getattr(page, field) for page in pages), default=0)
        if held < total:
            found.append(f"the export holds {held:,} of {total:,} {word}: {shape.whole}")
    if any(page.more for page in pages):
        found.append(f"the export says that there is more than it holds: {shape.whole}")
    return found


def _orphans(shape: Shape, homes: Mapping[str, list[Row]], services: Mapping[str, Row]) -> list[str]:
    lost = [_name(shape.plan, row) for key, rows in homes.items() if key not in services for row in rows]
    return [f"the export lacks the service offering of {_some(lost)}: {shape.whole}"] if lost else []


def _of_one_broker(shape: Shape, rows: dict[str, Row], names: Mapping[str, str], broker: str) -> dict[str, Row]:
    brokers: dict[tuple[str, ...], dict[str, Row]] = defaultdict(dict)
    for key, row in rows.items():
        row.need(shape.service[("id",)][0])
        words = row.texts(shape.brokers)
        known = tuple(names[word] for word in words if word in names)
        brokers[*known, *words][key] = row
    if broker:
        chosen = [found for words, found in brokers.items() if broker in words]
        if not chosen:
            raise UsageError(f"the export holds nothing of a broker {broker}", f"it holds {_labels(brokers)}")
        return {key: row for found in chosen for key, row in found.items()}
    if len(brokers) > 1:
        raise UsageError(
            f"the export holds service offerings of {len(brokers)} brokers", f"--stored-broker: {_labels(brokers)}"
        )
    return rows


def _labels(brokers: Iterable[tuple[str, ...]]) -> str:
    return _some(sorted(" / ".join(words) or "one without a name" for words in brokers))


def _is_gone(shape: Shape, row: Row) -> bool:
    return shape.gone is not None and dig(row.data, shape.gone[0]) is shape.gone[1]


def _name(fields: Fields, row: Row) -> str:
    found = row.texts((*fields[("name",)], *fields[("id",)]))
    return found[0] if found else ""


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    told = ", ".join(safe(name) for name in names[:_NAMED])
    return f"{told} and {more:,} more" if more > 0 else told


def _document(shape: Shape, pages: Sequence[Page], rows: Family) -> Document:
    services = []
    for service, plans in rows:
        data = _mapped(shape.service, service)
        data["plans"] = [_mapped(shape.plan, plan) for plan in plans]
        services.append(data)
    sources = list({id(row.document): row.document for page in pages for row in page.rows}.values())

    def locate(paths: frozenset[Path]) -> dict[Path, Location]:
        return _locate(shape, rows, sources, paths)

    name = ", ".join(source.name for source in sources)
    return Document(name, {"services": services}, sources[0].syntax if sources else "json", locate)


def _mapped(fields: Fields, row: Row) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for field in fields:
        value = dig(row.data, _place(fields, row, field))
        if value is not None:
            here = data
            for key in field[:-1]:
                here = here.setdefault(str(key), {})
            here[str(field[-1])] = value
    return data


def _place(fields: Fields, row: Row, field: Path) -> Path:
    """Where the row keeps `field`; the first of the places where it has none."""
    places = fields[field]
    return next((place for place in places if dig(row.data, place) is not None), places[0])


def _locate(shape: Shape, rows: Family, sources: list[Document], paths: frozenset[Path]) -> dict[Path, Location]:
    wanted = {path: _origin(shape, rows, path) for path in paths}
    found: dict[Path, Location] = {}
    for source in sources:
        ours = {path: place for path, place in wanted.items() if place and place[0] is source}
        located = source.locate(place[1] for place in ours.values() if place)
        found.update({path: located[place[1]] for path, place in ours.items() if place})
    top = Location(sources[0].name if sources else "", 1, 1)
    return {path: found.get(path, top) for path in paths}


def _origin(shape: Shape, rows: Family, path: Path) -> tuple[Document, Path] | None:
    if len(path) < 2 or not isinstance(path[1], int):
        return None
    row, plans = rows[path[1]]
    fields, rest = shape.service, path[2:]
    if len(rest) > 1 and rest[0] == "plans" and isinstance(rest[1], int):
        row, fields, rest = plans[rest[1]], shape.plan, rest[2:]
    for length in range(len(rest), 0, -1):
        if rest[:length] in fields:
            return row.document, (*row.path, *_place(fields, row, rest[:length]), *rest[length:])
    return row.document, row.path
