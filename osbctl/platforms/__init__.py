"""The platforms that register service brokers, and the versions of the API between the two."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


class Platform(StrEnum):
    """A platform whose treatment of catalogs is known. The value is the word used in options and reports."""

    CLOUD_FOUNDRY = "cloudfoundry"
    KUBERNETES = "kubernetes"
    SERVICE_MANAGER = "service-manager"
    KORIFI = "korifi"

    @property
    def label(self) -> str:
        """The name that people call it by."""
        return _LABELS[self]

    @property
    def api_version(self) -> str:
        """The `X-Broker-API-Version` that it sends."""
        return _VERSIONS[self]


_LABELS = {
    Platform.CLOUD_FOUNDRY: "Cloud Foundry",
    Platform.KUBERNETES: "Kubernetes Service Catalog",
    Platform.SERVICE_MANAGER: "SAP Service Manager",
    Platform.KORIFI: "Korifi",
}

_VERSIONS = {
    Platform.CLOUD_FOUNDRY: "2.15",
    Platform.KUBERNETES: "2.14",
    Platform.SERVICE_MANAGER: "2.14",
    Platform.KORIFI: "2.17",
}


def labels(platforms: Collection[Platform]) -> str:
    """Their names for a sentence: `Cloud Foundry, Korifi`, or `every platform`."""
    return "every platform" if len(platforms) == len(Platform) else ", ".join(one.label for one in platforms)


class ApiVersion(StrEnum):
    """A version of the Open Service Broker API that osbctl has a schema for. Compares in order of release."""

    V2_13 = "2.13"
    V2_14 = "2.14"
    V2_15 = "2.15"
    V2_16 = "2.16"
    V2_17 = "2.17"


DEFAULT_API_VERSION = ApiVersion.V2_14
"""The version that the interface names for the catalog operation."""
