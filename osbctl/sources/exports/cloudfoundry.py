"""Cloud Foundry's API version 3, `/v3/service_offerings` and `/v3/service_plans`, which Korifi answers to as well.

The booleans of a plan are resolved already. The top-level `metadata` of a row holds labels, not the catalog's metadata.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from osbctl.paths import found_at
from osbctl.platforms import Platform
from osbctl.sources.exports.shape import SCHEMAS, ExportRow, Page, Shape, count, entries, wrong
from osbctl.text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from osbctl.paths import Path
    from osbctl.sources.document import Document

_CATALOG = "broker_catalog"
_FEATURES: Path = (_CATALOG, "features")
_SERVICE_FLAGS = ("bindable", "plan_updateable", "instances_retrievable", "bindings_retrievable")

CLOUD_FOUNDRY = Shape(
    platform=Platform.CLOUD_FOUNDRY,
    service={
        ("id",): ((_CATALOG, "id"),),
        ("name",): (("name",),),
        ("description",): (("description",),),
        ("tags",): (("tags",),),
        ("requires",): (("requires",), ("required",)),  # so called by some versions of Korifi
        ("metadata",): ((_CATALOG, "metadata"),),
        **{(name,): ((*_FEATURES, name),) for name in (*_SERVICE_FLAGS, "allow_context_updates")},
    },
    plan={
        ("id",): ((_CATALOG, "id"),),
        ("name",): (("name",),),
        ("description",): (("description",),),
        ("free",): (("free",),),
        ("metadata",): ((_CATALOG, "metadata"),),
        ("bindable",): ((*_FEATURES, "bindable"),),
        ("plan_updateable",): ((*_FEATURES, "plan_updateable"),),
        ("maximum_polling_duration",): ((_CATALOG, "maximum_polling_duration"),),
        ("maintenance_info",): (("maintenance_info",),),
        **{place: (place,) for place in SCHEMAS},
    },
    key=(("guid",),),
    parent=(("relationships", "service_offering", "data", "guid"),),
    instance=((("relationships", "service_plan", "data", "guid"),),),
    brokers=tuple(("relationships", "service_broker", "data", key) for key in ("name", "guid")),
    whole="an administrator sees all of it: cf curl '/v3/service_plans?service_broker_names=NAME"
    "&include=service_offering&per_page=5000', and the same of /v3/service_offerings",
    gone=(("available",), False),
)
"""How the Cloud Controller shows a broker's catalog."""

_KORIFI_LACKS = {("maximum_polling_duration",), ("maintenance_info",)}
_KORIFI_PLAN = {place: where for place, where in CLOUD_FOUNDRY.plan.items() if place not in _KORIFI_LACKS}
KORIFI = replace(
    CLOUD_FOUNDRY,
    platform=Platform.KORIFI,
    plan=_KORIFI_PLAN,
    gone=None,  # its `available` says who sees a plan; it keeps every row for ever
    inherits=False,
    free=False,
    always_plans=False,
)
"""How Korifi shows it: the same, of fewer fields."""

_MAINTENANCE: Path = ("maintenance_info", "version")
KORIFI_MAINTAINED = replace(KORIFI, plan={**_KORIFI_PLAN, _MAINTENANCE: (_MAINTENANCE,)}, as_absent={_MAINTENANCE: ""})
"""Korifi of a version that shows the version of the maintenance information, empty where there is none."""


def recognised(document: Document) -> bool:
    """Whether this is such a page."""
    return "resources" in document.data and "kind" not in document.data


def read(document: Document) -> Page:
    """The rows of a page, those that are included with it among them.

    Raises:
        SourceError: it is no page of service offerings or plans.
    """
    pagination = document.data.get("pagination")
    page = Page(total=count(found_at(pagination, ("total_results",))), more=found_at(pagination, ("next",)) is not None)
    for path, data in entries(document, ("resources",)):
        page.rows.append(_row(document, path, data))
    asked = found_at(pagination, ("first", "href"))
    page.query, page.filters = _query(asked if isinstance(asked, str) else "")
    page.of_plans = page.rows[0].is_plan if page.rows else "service_plans" in page.query
    for path, data in entries(document, ("included", "service_offerings")):
        page.rows.append(_row(document, path, data))
    for _, broker in entries(document, ("included", "service_brokers")):
        if isinstance(broker.get("guid"), str) and isinstance(broker.get("name"), str):
            page.names[broker["guid"]] = broker["name"]
    return page


def shape_of(rows: Sequence[ExportRow]) -> Shape:
    """Cloud Foundry's shape, or Korifi's where the rows bear its marks."""
    return korifi_of(rows) if _korifi_made(rows) else CLOUD_FOUNDRY


def korifi_of(rows: Sequence[ExportRow]) -> Shape:
    """Korifi's shape, with the maintenance information where that is shown."""
    return KORIFI_MAINTAINED if any("maintenance_info" in row.data for row in rows) else KORIFI


_HARMLESS = ("page", "per_page", "order_by", "include", "fields", "service_broker_names", "service_broker_guids")
"""Parameters of a request that leave out nothing of a broker's catalog."""


def _query(address: str) -> tuple[str, tuple[str, ...]]:
    """What was asked for, whatever the page, and the names of the filters that leave out part of a catalog."""
    before, _, query = address.partition("?")
    parameters = sorted(part for part in query.split("&") if not part.startswith(("page=", "per_page=")))
    names = [unquote(part.partition("=")[0]) for part in parameters if part]
    filters = tuple(safe(name) for name in names if name.partition("[")[0] not in _HARMLESS)
    return f"{before}?{'&'.join(parameters)}", filters


def _row(document: Document, path: Path, data: dict[str, object]) -> ExportRow:
    if not isinstance(data.get(_CATALOG), dict):
        raise wrong(document, path, "has no broker_catalog, as service offerings and plans have")
    return ExportRow(document, path, data, is_plan=found_at(data, ("relationships", "service_offering")) is not None)


def _korifi_made(rows: Sequence[ExportRow]) -> bool:
    """Whether only Korifi would write these rows.

    It misspells a field of plans, in some versions, or shortens one of service offerings. And it tells the address of
    the documentation, but neither what plans cost nor whether instances can be shared, as Cloud Foundry does.
    """
    if any("maitenance_info" in row.data or "required" in row.data for row in rows):
        return True
    if any("costs" in row.data or "shareable" in row.data for row in rows):
        return False
    return any("documentation_url" in row.data for row in rows)
