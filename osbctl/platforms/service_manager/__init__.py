"""SAP Service Manager."""

from osbctl.platforms import BY_BROKER, SHARED_PLAN_ID, PlatformRecord

_REFUSES = {
    "build-id-changed", "id-duplicate", "plan-name-duplicate", "schema-type", "service-name-duplicate",
    "wire-gzip-broken",
}  # fmt: skip

_RULES = {
    "required": """A field that Service Manager requires is missing.

    Id and name of a service offering; id, name and description of a plan.
    Bad: name: ""
    Good: name: postgres""",
    "unique": f"""Service Manager stores each id and name once.
{SHARED_PLAN_ID}""",
    "reserved-name": """A plan has a name that Service Manager reserves.
    Bad: name: reference-instance
    Good: name: reference""",
    "platforms": """\
    A plan's metadata has more than one of supportedPlatforms, supportedPlatformNames, excludedPlatformNames.
    Bad:
        free: true
        metadata: {supportedPlatforms: [kubernetes], excludedPlatformNames: [cf-eu]}
    Good:
        free: true
        metadata: {supportedPlatforms: [kubernetes]}""",
    "sharing": """A plan lets its instances be shared, but is not bindable.

    A shared instance is used through bindings. A plan without `bindable` has that of its service offering.
    Bad:
        bindable: false
        metadata: {supportsInstanceSharing: true}
    Good:
        bindable: true
        metadata: {supportsInstanceSharing: true}""",
    "text": """An id or a name has more than 255 characters, or a text has a NUL.

    The database of Service Manager stores neither.
    Bad: name: "small\\0"
    Good: name: small""",
    "number": """A polling duration does not fit into 32 bits.
    Bad: maximum_polling_duration: 2147483648
    Good: maximum_polling_duration: 86400""",
    "labels": """Service Manager cannot store the field `labels`, which it reads in catalogs, too.

    It maps keys to lists of values; each value has 1 to 255 characters and occurs once.
    Bad: labels: {region: [eu, eu]}
    Good: labels: {region: [eu, us]}""",
    "crash": """Service Manager crashes on a service offering or a plan that is null.
    Bad: plans: [null]
    Good: plans: [{name: small}]""",
}

PLATFORM = PlatformRecord(
    label="SAP Service Manager",
    api_version="2.14",
    refuses=frozenset(_REFUSES),
    rules=_RULES,
    go_source="Peripli/service-manager e616ec91f886, pkg/types and storage",
    # 003_catalog.up.sql (unique within a broker) and smctl's help.
    sharing=BY_BROKER,
    visibility_lists={"excludedPlatformNames": True, "supportedPlatformNames": False, "supportedPlatforms": False},
    timeout=15.0,
    doubles_slash=True,  # pkg/osb: "%s/v2/catalog"
    in_accepted_by_all=True,
)
