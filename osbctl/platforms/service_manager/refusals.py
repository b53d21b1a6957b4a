"""Refusal rules of Service Manager; `verdict` reports them."""

from osbctl.platforms.golang import wrong_type

REFUSALS = {
    "type": wrong_type("SAP Service Manager", "Peripli/service-manager e616ec91f886, pkg/types and storage"),
    "required": """A field that Service Manager requires is missing.

    Id and name of a service offering; id, name and description of a plan.
    Bad: name: ""
    Good: name: postgres
    Source: Peripli/service-manager e616ec91f886, pkg/types and storage""",
    "unique": """Service Manager stores each id and name once.
    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: large, description: Large.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}
    Source: Peripli/service-manager e616ec91f886, pkg/types and storage""",
    "reserved-name": """A plan has a name that Service Manager keeps to itself.
    Bad: name: reference-instance
    Good: name: reference
    Source: Peripli/service-manager e616ec91f886, pkg/types and storage""",
    "platforms": """\
    A plan's metadata says more than one of supportedPlatforms, supportedPlatformNames, excludedPlatformNames.
    Bad: metadata: {supportedPlatforms: [kubernetes], excludedPlatformNames: [cf-eu]}
    Good: metadata: {supportedPlatforms: [kubernetes]}
    Source: Peripli/service-manager e616ec91f886, pkg/types and storage""",
    "sharing": """A plan lets its instances be shared, but is not bindable.

    A shared instance is used through bindings. Where the plan does not say, its service offering's `bindable` counts.
    Bad:
        bindable: false
        metadata: {supportsInstanceSharing: true}
    Good:
        bindable: true
        metadata: {supportsInstanceSharing: true}
    Source: Peripli/service-manager e616ec91f886, pkg/types and storage""",
    "text": """An id or a name has more than 255 characters, or a NUL stands in it or in a description.

    The database that Service Manager stores it in takes neither.
    Bad: name: "small\\0"
    Good: name: small
    Source: Peripli/service-manager e616ec91f886, pkg/types and storage""",
    "number": """A polling duration does not fit into 32 bits.
    Bad: maximum_polling_duration: 2147483648
    Good: maximum_polling_duration: 86400
    Source: Peripli/service-manager e616ec91f886, pkg/types and storage""",
    "labels": """The field `labels`, which Service Manager reads for its own, cannot be stored.

    It maps keys to lists of values, each of 1 to 255 characters and there once.
    Bad: labels: {region: [eu, eu]}
    Good: labels: {region: [eu, us]}
    Source: Peripli/service-manager e616ec91f886, pkg/types and storage""",
    "crash": """Service Manager panics on a service offering or a plan that is null.
    Bad: plans: [null]
    Good: plans: [{name: small}]
    Source: Peripli/service-manager e616ec91f886, pkg/types and storage""",
}
