"""Kubernetes Service Catalog, which is archived."""

from osbctl.platforms import SHARED_PLAN_ID, Identity, PlatformRecord

_REFUSES = {
    "id-duplicate", "schema-empty", "schema-required", "schema-type", "shared-id", "wire-client-certificate",
    "wire-gzip-broken",
}  # fmt: skip

_RULES = {
    "name": """An id or a name does not fit Service Catalog.

    They become names of Kubernetes objects: 1 to 63 bytes in UTF-8, of any characters.
    Bad: name: small-small-small-small-small-small-small-small-small-small-plan
    Good: name: small""",
    "unique": f"""Two service offerings, or two plans of the catalog, share an id.

    Kubernetes objects are named by these ids, and a name exists once in a cluster. Objects before the second stay
    created.
{SHARED_PLAN_ID}""",
    "no-plan": """Service Catalog requires at least one plan in each class.
    Bad: plans: []
    Good: plans: [{name: small}]""",
    "description": """Service Catalog requires a description for each class and plan.
    Bad: description: ""
    Good: description: A database.""",
}

PLATFORM = PlatformRecord(
    label="Kubernetes Service Catalog",
    api_version="2.14",
    refuses=frozenset(_REFUSES),
    rules=_RULES,
    go_source="kubernetes-retired/service-catalog b37daf589e77, pkg/controller, pkg/apis",
    # controller_clusterservicebroker.go and its "or there is more than one (found: 2)".
    sharing={
        Identity.SERVICE_ID: "refuses the class that comes later: ids are unique in a cluster",
        Identity.PLAN_ID: "refuses the plan that comes later: ids are unique in a cluster",
        Identity.SERVICE_NAME: "takes both, and refuses an instance that names its class by this name",
    },
    omitted_is_false=frozenset({"free"}),
    service_only=frozenset({"plan_updateable"}),
    unique=frozenset({Identity.SERVICE_ID, Identity.PLAN_ID}),
    in_accepted_by_all=True,
)
