"""Kubernetes Service Catalog, which is archived."""

from osbctl.platforms import Identity, PlatformRecord

_REFUSES = {
    "id-duplicate", "schema-empty", "schema-required", "schema-type", "shared-id", "wire-gzip-broken",
}  # fmt: skip

PLATFORM = PlatformRecord(
    folder=__name__,
    label="Kubernetes Service Catalog",
    api_version="2.14",
    refuses=frozenset(_REFUSES),
    # controller_clusterservicebroker.go and its "or there is more than one (found: 2)".
    sharing={
        Identity.SERVICE_ID: "refuses the class that comes later: ids are unique in a cluster",
        Identity.PLAN_ID: "refuses the plan that comes later: ids are unique in a cluster",
        Identity.SERVICE_NAME: "takes both, and refuses an instance that names its class by this name",
    },
    omitted_is_false=frozenset({"free"}),
    service_only=frozenset({"plan_updateable"}),
    unique=frozenset({Identity.SERVICE_ID, Identity.PLAN_ID}),
    accepts_ordinary=True,
)
