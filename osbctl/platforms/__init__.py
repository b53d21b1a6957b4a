"""The platforms that register service brokers, and the versions of the API between the two."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from osbctl.platforms.record import PlatformRecord


class Platform(StrEnum):
    """The platforms whose treatment of catalogs is known. The value is the word used in options and reports.

    Each has a folder here of the same name, which holds its `PLATFORM`; nothing else knows one from another.
    """

    CLOUD_FOUNDRY = "cloudfoundry"
    KUBERNETES = "kubernetes"
    SERVICE_MANAGER = "service-manager"
    KORIFI = "korifi"

    @property
    def record(self) -> PlatformRecord:
        """All that is known of it. Its folder is loaded when first asked."""
        return _record(self.value)

    @property
    def label(self) -> str:
        """The name that people call it by."""
        return self.record.label

    @property
    def api_version(self) -> str:
        """The `X-Broker-API-Version` that it sends."""
        return self.record.api_version


@cache
def _record(platform: str) -> PlatformRecord:
    record: PlatformRecord = import_module(f"{__name__}.{platform.replace('-', '_')}").PLATFORM
    return record


DEFAULT_PLATFORM = Platform.CLOUD_FOUNDRY
"""Whose rules a registered broker follows where nobody says."""


def refusing(rule: str) -> tuple[Platform, ...]:
    """The platforms that refuse a catalog for what the general rule `rule` finds."""
    return tuple(platform for platform in Platform if rule in platform.record.refuses)


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
