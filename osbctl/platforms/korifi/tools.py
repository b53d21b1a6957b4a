"""Exports of Korifi, those of Cloud Foundry with fewer fields, and its command."""

from collections.abc import Sequence
from dataclasses import replace

from osbctl.platforms.cloudfoundry.tools import CF
from osbctl.platforms.cloudfoundry.tools import EXPORT as CLOUD_FOUNDRY
from osbctl.platforms.tools import Export, ExportRow

_LACKS = {("maximum_polling_duration",), ("maintenance_info",)}
_SHAPE = replace(
    CLOUD_FOUNDRY.shape,
    plan={place: where for place, where in CLOUD_FOUNDRY.shape.plan.items() if place not in _LACKS},
    gone=None,  # its `available` says who sees a plan; it keeps every row for ever
    always_plans=False,
)


def _are_from_korifi(rows: Sequence[ExportRow]) -> bool:
    """Return whether only Korifi would write these rows.

    They tell neither what plans cost nor whether instances can be shared, as those of Cloud Foundry do.
    """
    return not any("costs" in row.data or "shareable" in row.data for row in rows)


EXPORT = Export(_SHAPE, CLOUD_FOUNDRY.recognises, CLOUD_FOUNDRY.read, _are_from_korifi)


TOOLS = (CF,)
