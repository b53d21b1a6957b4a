"""What Kubernetes Service Catalog, SAP Service Manager and Korifi refuse."""

from __future__ import annotations

from osbctl.findings import Severity
from osbctl.platforms import Platform
from osbctl.rule import Category, describe

_SOURCES = {
    Platform.KUBERNETES: "Service Catalog, pkg/apis/servicecatalog/validation",
    Platform.SERVICE_MANAGER: "Service Manager, pkg/types and its storage",
    Platform.KORIFI: "Korifi, controllers of CFServiceBroker",
}
_TYPE = """A value has a type that {} cannot decode.

    It is written in Go: one value of a wrong type, and the whole answer is unreadable to it.

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

    1 to 63 letters, digits, dots and hyphens: they become names of Kubernetes objects.

    Bad::

        name: Postgres (small)

    Good::

        name: postgres-small
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
    Platform.KORIFI,
    "crash",
    """Korifi's controller panics on a documentationUrl that is no string.

    Bad::

        metadata: {documentationUrl: null}

    Good::

        metadata: {documentationUrl: "https://docs.example.com"}
    """,
)
