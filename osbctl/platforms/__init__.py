"""The platforms that register service brokers, what is known of each, and the versions of the API between the two."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from osbctl.platforms.commands import Tool
    from osbctl.platforms.export import Export
    from osbctl.platforms.outcome import Outcome
    from osbctl.platforms.reactions import DependsOnInstances, Reaction


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
"""Default platform of a registered broker."""


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


class PlatformRecord(NamedTuple):
    """One platform: all that other packages need of it. Frequently used facts are in the record itself.

    `folder` is the package that holds the record and the modules with the rest, which are loaded when asked.

    `label` is the name that people call it by, `api_version` the `X-Broker-API-Version` that it sends. `refuses` are
    the general rules whose findings it refuses a catalog for. `sharing` is what it does with two catalogs that share an
    identity, in a phrase. `omitted_is_false` are the booleans of a plan that it takes for false where a catalog leaves
    them out, `of_services_alone` those that it knows of service offerings alone. `unique` are
    the identities that no two brokers may share. `gives_up` is how many seconds it waits for a catalog. `takes`
    are the statuses of an answer that it takes for a catalog, `stops_at` redirects that it does not follow.
    `is_quoted`: its own words are known, and reports quote them. `in_accepted_by_all`: it accepts what
    `osbctl.platforms.accepted_by_all` takes, and is not asked of that; a test holds its verdict to it.
    """

    folder: str
    label: str
    api_version: str
    refuses: frozenset[str] = frozenset()
    sharing: Mapping[Identity, str] = MappingProxyType({})
    omitted_is_false: frozenset[str] = frozenset()
    of_services_alone: frozenset[str] = frozenset()
    unique: frozenset[Identity] = frozenset()
    gives_up: float = 60.0
    takes: range = range(200, 201)
    stops_at: frozenset[int] = frozenset()
    is_quoted: bool = False
    in_accepted_by_all: bool = False

    def judge(self, data: dict[str, Any]) -> Outcome:
        """Verdict on the catalog `data`, from the module `verdict`."""
        outcome: Outcome = self._module("verdict").judge(data)
        return outcome

    def read(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The catalog `data` with the names of fields as it takes them: a `SHAPE` of `verdict` is one of Go."""
        shape = getattr(self._module("verdict"), "SHAPE", None)
        if shape is None:
            return data
        from osbctl.platforms.golang import respelt

        read: Mapping[str, Any] = respelt(data, shape)
        return data if read == data else read

    def save(self, update: Any) -> None:
        """Save an `Update` of `osbctl.platforms.saving` in its own order, as far as it does; from its `saving`."""
        self._module("saving").save(update)

    @property
    def refusals(self) -> Mapping[str, str]:
        """The texts of the rules that it alone has, by the rest of the rule's id; from the module `verdict`."""
        found: Mapping[str, str] = self._module("verdict").REFUSALS
        return found

    @property
    def reactions(self) -> Mapping[str, Reaction | DependsOnInstances]:
        """Reactions to kinds of change that differ from the common one, by id; from the module `changes`."""
        found: Mapping[str, Reaction | DependsOnInstances] = self._module("changes").REACTIONS
        return found

    def notes(self, rules: Collection[str]) -> list[str]:
        """Notes on an update that two catalogs with changes of these `rules` leave open; from the module `changes`."""
        found: Mapping[str, frozenset[str]] = getattr(self._module("changes"), "NOTES", {})
        return [sentence for sentence, when in found.items() if not when or not when.isdisjoint(rules)]

    @property
    def export(self) -> Export:
        """Export format; from the module `export`."""
        found: Export = self._module("export").EXPORT
        return found

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools by which a developer speaks to it; from the module `commands`."""
        found: tuple[Tool, ...] = self._module("commands").TOOLS
        return found

    def _module(self, name: str) -> Any:
        return import_module(f"{self.folder}.{name}")
