"""SAP Service Manager."""

from osbctl.platforms import BY_BROKER, PlatformRecord

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
    sharing=BY_BROKER,
    timeout=15.0,
    accepts_ordinary=True,
)
