"""Exports of Korifi: those of Cloud Foundry, with fewer fields."""

from collections.abc import Sequence
from dataclasses import replace

from osbctl.paths import Path
from osbctl.platforms.cloudfoundry.export import EXPORT as CLOUD_FOUNDRY
from osbctl.platforms.export import Export, ExportRow, RowFields

_LACKS = {("maximum_polling_duration",), ("maintenance_info",)}
_SHAPE = replace(
    CLOUD_FOUNDRY.shape,
    plan={place: where for place, where in CLOUD_FOUNDRY.shape.plan.items() if place not in _LACKS},
    gone=None,  # its `available` says who sees a plan; it keeps every row for ever
    always_plans=False,
)
_MAINTENANCE: Path = ("maintenance_info", "version")
_MAINTAINED = replace(_SHAPE, plan={**_SHAPE.plan, _MAINTENANCE: (_MAINTENANCE,)}, as_absent={_MAINTENANCE: ""})
"""Of a version that shows the version of the maintenance information, empty where there is none."""


def _shape_of(rows: Sequence[ExportRow]) -> RowFields:
    return _MAINTAINED if any("maintenance_info" in row.data for row in rows) else _SHAPE


def _made(rows: Sequence[ExportRow]) -> bool:
    """Return whether only Korifi would write these rows.

    It misspells a field of plans, in some versions, or shortens one of service offerings. And it tells the address of
    the documentation, but neither what plans cost nor whether instances can be shared, as Cloud Foundry does.
    """
    if any("maitenance_info" in row.data or "required" in row.data for row in rows):
        return True
    if any("costs" in row.data or "shareable" in row.data for row in rows):
        return False
    return any("documentation_url" in row.data for row in rows)


EXPORT = Export(_SHAPE, CLOUD_FOUNDRY.recognised, CLOUD_FOUNDRY.read, _shape_of, _made)
