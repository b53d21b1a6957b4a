"""SAP Service Manager."""

from __future__ import annotations

from osbctl.platforms.record import Identity, PlatformRecord

_KNOWN_BY = "takes both: they are known by broker and id"
_REFUSES = {
    "build-id-changed", "id-duplicate", "plan-name-duplicate", "schema-type", "service-name-duplicate",
    "wire-gzip-broken",
}  # fmt: skip

PLATFORM = PlatformRecord(
    folder=__name__,
    label="SAP Service Manager",
    api_version="2.14",
    refuses=frozenset(_REFUSES),
    # 003_catalog.up.sql (unique within a broker) and smctl's help.
    sharing={
        Identity.SERVICE_ID: _KNOWN_BY,
        Identity.PLAN_ID: _KNOWN_BY,
        Identity.SERVICE_NAME: "takes both, and users must name the broker (-b)",
        Identity.CLIENT_ID: "ignores it",
    },
    needs_free_names=True,
    gives_up=15.0,
)
