"""What Kubernetes Service Catalog, SAP Service Manager and Korifi refuse."""

from __future__ import annotations

from osbctl.findings import Severity
from osbctl.platforms import Platform
from osbctl.rule import Category, describe

_SOURCES = {
    Platform.KUBERNETES: "kubernetes-retired/service-catalog b37daf589e77, pkg/controller, pkg/apis",
    Platform.SERVICE_MANAGER: "Peripli/service-manager e616ec91f886, pkg/types and storage",
    Platform.KORIFI: "cloudfoundry/korifi fb0a00b25db6, controllers/controllers/services",
}
_TYPE = """A value has a type that {} cannot decode.

    It is written in Go: one value of a wrong type, and the whole answer is unreadable to it. The names of fields
    match there whatever their case.

    Bad::

        bindable: "true"

    Good::

        bindable: true
    """


def _refusal(platform: Platform, name: str, text: str) -> None:
    describe(
        f"{platform}-{name}",
        text,
        severity=Severity.WARNING,
        category=Category.PLATFORM,
        source=_SOURCES[platform],
        refused_by=(platform,),
    )


for _platform in _SOURCES:
    _refusal(_platform, "type", _TYPE.format(_platform.label))

_refusal(
    Platform.KUBERNETES,
    "name",
    """An id or a name does not fit Service Catalog.

    They become names of Kubernetes objects, of 1 to 63 bytes in UTF-8; any character may stand there.

    Bad::

        name: small-small-small-small-small-small-small-small-small-small-plan

    Good::

        name: small
    """,
)
_refusal(
    Platform.KUBERNETES,
    "unique",
    """Two service offerings, or two plans of whichever service offering, have one id.

    An object of Kubernetes is named by the id, and there is one of a name in the whole cluster. What stands before
    the second stays created.

    Bad::

        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: large, description: Large.}

    Good::

        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}
    """,
)
_refusal(
    Platform.KUBERNETES,
    "no-plan",
    """Service Catalog wants at least one plan in each class.

    Bad::

        plans: []

    Good::

        plans: [{name: small}]
    """,
)
_refusal(
    Platform.KUBERNETES,
    "description",
    """Service Catalog wants a description for each class and plan.

    Bad::

        description: ""

    Good::

        description: A database.
    """,
)
_refusal(
    Platform.SERVICE_MANAGER,
    "required",
    """A field that Service Manager wants is missing.

    Id and name of a service offering; id, name and description of a plan.

    Bad::

        name: ""

    Good::

        name: postgres
    """,
)
_refusal(
    Platform.SERVICE_MANAGER,
    "unique",
    """Service Manager stores each id and name once.

    Bad::

        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: large, description: Large.}

    Good::

        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}
    """,
)
_refusal(
    Platform.SERVICE_MANAGER,
    "reserved-name",
    """A plan has a name that Service Manager keeps to itself.

    Bad::

        name: reference-instance

    Good::

        name: reference
    """,
)
_refusal(
    Platform.SERVICE_MANAGER,
    "platforms",
    """A plan's metadata says more than one of supportedPlatforms, supportedPlatformNames, excludedPlatformNames.

    Bad::

        metadata: {supportedPlatforms: [kubernetes], excludedPlatformNames: [cf-eu]}

    Good::

        metadata: {supportedPlatforms: [kubernetes]}
    """,
)
_refusal(
    Platform.SERVICE_MANAGER,
    "sharing",
    """A plan lets its instances be shared, but is not bindable.

    A shared instance is used through bindings. Where the plan does not say, its service offering's `bindable` counts.

    Bad::

        bindable: false
        metadata: {supportsInstanceSharing: true}

    Good::

        bindable: true
        metadata: {supportsInstanceSharing: true}
    """,
)
_refusal(
    Platform.SERVICE_MANAGER,
    "text",
    """An id or a name has more than 255 characters, or a NUL stands in it or in a description.

    The database that Service Manager stores it in takes neither.

    Bad::

        name: "small\\0"

    Good::

        name: small
    """,
)
_refusal(
    Platform.SERVICE_MANAGER,
    "number",
    """A polling duration does not fit into 32 bits.

    Bad::

        maximum_polling_duration: 2147483648

    Good::

        maximum_polling_duration: 86400
    """,
)
_refusal(
    Platform.SERVICE_MANAGER,
    "labels",
    """The field `labels`, which Service Manager reads for its own, cannot be stored.

    It maps keys to lists of values, each of 1 to 255 characters and there once.

    Bad::

        labels: {region: [eu, eu]}

    Good::

        labels: {region: [eu, us]}
    """,
)
_refusal(
    Platform.SERVICE_MANAGER,
    "crash",
    """Service Manager panics on a service offering or a plan that is null.

    Bad::

        plans: [null]

    Good::

        plans: [{name: small}]
    """,
)
_refusal(
    Platform.KORIFI,
    "crash",
    """Korifi's controller panics on a documentationUrl that is no string.

    Bad::

        metadata: {documentationUrl: null}

    Good::

        metadata: {documentationUrl: "https://docs.example.com"}
    """,
)
