"""The platforms that register service brokers, the record of each, and the API versions between the two."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple


class Platform(StrEnum):
    """A platform. The value is the word in options and reports, and the name of its folder, which holds `PLATFORM`."""

    CLOUD_FOUNDRY = "cloudfoundry"
    KUBERNETES = "kubernetes"
    SERVICE_MANAGER = "service-manager"
    KORIFI = "korifi"

    @cached_property
    def record(self) -> PlatformRecord:
        """The facts about it. Its folder is loaded at the first use."""
        record: PlatformRecord = self.load_module("").PLATFORM
        return record

    def load_module(self, name: str) -> Any:
        """A module of its folder: `verdict`, `updates` or `tools`; with an empty name, the folder's own."""
        return import_module(f"{__name__}.{self.value.replace('-', '_')}.{name}".rstrip("."))

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.record.label

    @property
    def api_version(self) -> str:
        """The `X-Broker-API-Version` that it sends."""
        return self.record.api_version


DEFAULT_PLATFORM = Platform.CLOUD_FOUNDRY
"""Default platform of a registered broker."""


def platforms_refusing(rule: str) -> tuple[Platform, ...]:
    """The platforms that refuse a catalog with a finding of the general rule `rule`."""
    return tuple(platform for platform in Platform if rule in platform.record.refuses)


def chosen_or_all(platforms: Collection[Platform]) -> tuple[Platform, ...]:
    """The given platforms in the order of `Platform`; all if none is given."""
    return tuple(platform for platform in Platform if not platforms or platform in platforms)


def format_platforms(platforms: Collection[Platform]) -> str:
    """Their labels for a sentence: `Cloud Foundry, Korifi`, or `every platform`."""
    return "every platform" if len(platforms) == len(Platform) else ", ".join(platform.label for platform in platforms)


class ApiVersion(StrEnum):
    """A version of the Open Service Broker API that osbctl has a schema for. Compares in order of release."""

    V2_13 = "2.13"
    V2_14 = "2.14"
    V2_15 = "2.15"
    V2_16 = "2.16"
    V2_17 = "2.17"


DEFAULT_API_VERSION = ApiVersion.V2_14
"""The version that the interface names for the catalog operation."""


class Identity(StrEnum):
    """Identities that the catalogs of two brokers may share."""

    SERVICE_ID = "service id"
    PLAN_ID = "plan id"
    SERVICE_NAME = "service name"
    CLIENT_ID = "dashboard client id"


BY_BROKER = {
    **dict.fromkeys((Identity.SERVICE_ID, Identity.PLAN_ID), "takes both: they are known by broker and id"),
    Identity.SERVICE_NAME: "takes both, and users must name the broker (-b)",
    Identity.CLIENT_ID: "ignores it",
}
"""Reaction of a platform that identifies objects per broker, without dashboard clients."""


class State(StrEnum):
    """State of a removed object on a platform."""

    INACTIVE = "inactive"
    """Deactivated: no new instances."""
    FLAGGED = "flagged"
    """Flagged as removed: no new instances."""
    OFFERED = "offered"
    """Nothing happens; it is still offered."""
    ORPHANED = "orphaned"
    """Active, but without its service offering: no new instances."""


SHARED_PLAN_ID = """\
    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: large, description: Large.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}"""
"""The examples of a rule that two plans share an id."""

_GO_TYPE_TEXT = """A value has a type that {} cannot decode.

    It is written in Go: a single value of a wrong type makes the whole answer unreadable. Field names match in any
    case.
    Bad: bindable: "true"
    Good: bindable: true"""


class PlatformRecord(NamedTuple):
    """Facts about one platform. Modules of its folder, loaded when they are needed, hold the rest."""

    label: str
    """Its name for people."""
    api_version: str
    """The `X-Broker-API-Version` that it sends."""
    refuses: frozenset[str] = frozenset()
    """The general rules whose findings make it refuse a catalog."""
    rules: Mapping[str, str] = MappingProxyType({})
    """The texts of its own rules, by id without the prefix. `rule_texts` has all."""
    go_source: str = ""
    """The source code of a program in Go, whose module `verdict` has a `CATALOG_TYPE`. Empty for other programs."""
    sharing: Mapping[Identity, str] = MappingProxyType({})
    """Its reaction, a phrase, to two catalogs that share an identity."""
    unique: frozenset[Identity] = frozenset()
    """The identities that no two brokers may share."""
    omitted_is_false: frozenset[str] = frozenset()
    """The booleans of a plan that it reads as false if a catalog omits them."""
    service_only: frozenset[str] = frozenset()
    """The booleans that it reads in service offerings only."""
    visibility_lists: Mapping[str, bool] = MappingProxyType({})
    """Lists of platforms in the metadata of a plan, of which the first that is there counts.

    Each with whether it hides the plan from these platforms; else it hides the plan from all others.
    """
    merges_same_ids: bool = False
    """Of all service offerings, or plans, of one id in a whole catalog it has one, the last."""
    stripped_from_names: str = ""
    """The characters that it removes around names before it stores them."""
    in_accepted_by_all: bool = False
    """It accepts every catalog that `accepted_by_all.json` describes."""
    is_quoted: bool = False
    """Its own messages are known, and reports quote them."""
    timeout: float = 60.0
    """For the request of a catalog, in seconds; infinite if it waits without end."""
    accepted_statuses: range = range(200, 201)
    """The HTTP statuses whose body it reads as a catalog."""
    unfollowed_redirects: frozenset[int] = frozenset()
    """The redirects that it does not follow."""
    uses_httpclient: bool = False
    """Its HTTP client is Ruby's httpclient; that of others is Go's net/http.

    It sends the password to other hosts that it is redirected to, but never goes from HTTPS to HTTP; Go does, and drops
    the password on other hosts. It takes any 1xx but 100 for the answer, and whatever came of a body; of a length that
    is no number, it takes the first digits. Go skips 1xx, and refuses the others.
    """
    reads_loose_json: bool = False
    """Its parser takes NaN, comments and raw control characters, but not bytes that are not UTF-8.

    Others replace such bytes.
    """
    doubles_slash: bool = False
    """It asks for `//v2/catalog` where the address of the broker ends with a slash."""

    @property
    def rule_texts(self) -> Mapping[str, str]:
        """The texts of its own rules; those of a program in Go with one about wrong types, and their source."""
        if not self.go_source:
            return self.rules
        texts = {"type": _GO_TYPE_TEXT.format(self.label), **self.rules}
        return {name: f"{text}\n    Source: {self.go_source}" for name, text in texts.items()}
