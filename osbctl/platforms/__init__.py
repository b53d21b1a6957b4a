"""The platforms that register service brokers, the record of each, and the API versions between the two."""

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
    """A platform. The value is the word in options and reports, and the name of its folder, which holds `PLATFORM`."""

    CLOUD_FOUNDRY = "cloudfoundry"
    KUBERNETES = "kubernetes"
    SERVICE_MANAGER = "service-manager"
    KORIFI = "korifi"

    @property
    def record(self) -> PlatformRecord:
        """The facts about it. Its folder is loaded at the first use."""
        return _load_record(self.value)

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.record.label

    @property
    def api_version(self) -> str:
        """The `X-Broker-API-Version` that it sends."""
        return self.record.api_version


@cache
def _load_record(name: str) -> PlatformRecord:
    record: PlatformRecord = import_module(f"{__name__}.{name.replace('-', '_')}").PLATFORM
    return record


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


def judge_all(data: dict[str, Any], platforms: Collection[Platform] = tuple(Platform)) -> dict[Platform, Outcome]:
    """Verdicts of `platforms` on the catalog `data`, in the order of `Platform`."""
    from osbctl.platforms.ordinary import is_ordinary
    from osbctl.platforms.outcome import Outcome, VerdictKind

    accepted = Outcome(VerdictKind.ACCEPTS) if is_ordinary(data) else None
    chosen = (platform for platform in Platform if platform in platforms)
    return {each: accepted if accepted and each.record.accepts_ordinary else each.record.judge(data) for each in chosen}


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
    """Facts about one platform. Modules of its `folder` hold the rest; they are loaded at the first use.

    `label` is its name for people, `api_version` the `X-Broker-API-Version` that it sends. `refuses` are the general
    rules whose findings make it refuse a catalog. `sharing` is its reaction, a phrase, to two catalogs that share an
    identity; `unique` are the identities that no two brokers may share. `omitted_is_false` are the booleans of a plan
    that it reads as false if a catalog omits them, `service_only` those that it reads in service offerings only.
    `merges_same_ids`: of all service offerings, or plans, of one id in a whole catalog it has one, the last.
    `timeout` is for the request of a catalog, in seconds. `accepted_statuses` are the HTTP statuses whose body it reads
    as a catalog, `unfollowed_redirects` the redirects that it does not follow. `is_quoted`: its own messages are known,
    and reports quote them. `stripped_from_names` are the characters that it removes around names before it stores them.
    `sends_password_elsewhere`: it follows redirects to other hosts and sends the password there, but never goes from
    HTTPS to HTTP; others (in Go) do, and drop the password on other hosts. `reads_loose_json`: its parser takes NaN,
    comments and raw control characters, but not bytes that are not UTF-8, which others replace.
    `doubles_slash`: it asks for `//v2/catalog` where the address of the broker ends with a slash.
    `accepts_ordinary`: it accepts every ordinary catalog (`ordinary`).
    """

    folder: str
    label: str
    api_version: str
    refuses: frozenset[str] = frozenset()
    sharing: Mapping[Identity, str] = MappingProxyType({})
    omitted_is_false: frozenset[str] = frozenset()
    service_only: frozenset[str] = frozenset()
    merges_same_ids: bool = False
    unique: frozenset[Identity] = frozenset()
    timeout: float = 60.0
    accepted_statuses: range = range(200, 201)
    unfollowed_redirects: frozenset[int] = frozenset()
    is_quoted: bool = False
    stripped_from_names: str = ""
    sends_password_elsewhere: bool = False
    reads_loose_json: bool = False
    doubles_slash: bool = False
    accepts_ordinary: bool = False

    def judge(self, data: dict[str, Any]) -> Outcome:
        """Verdict on the catalog `data`, from the module `verdict`, without secrets."""
        outcome: Outcome = self._load_module("verdict").judge(data)
        return outcome.redacted

    def normalize_field_names(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The catalog `data` with the field names that it reads; programs in Go (with a `CATALOG_TYPE`) ignore case."""
        catalog_type = self._load_module("verdict").CATALOG_TYPE
        if catalog_type is None:
            return data
        from osbctl.platforms.golang import normalize_field_names

        normalized: Mapping[str, Any] = normalize_field_names(data, catalog_type)
        return data if normalized == data else normalized

    def change_rows(self, update: Any) -> None:
        """Simulate an `Update` of `osbctl.platforms.saving`: change its rows, or add its clashes, in platform order."""
        self._load_module("updates").change_rows(update)

    @property
    def rule_texts(self) -> Mapping[str, str]:
        """The texts of its own rules, by rule id without the prefix; from the module `verdict`."""
        found: Mapping[str, str] = self._load_module("verdict").REFUSALS
        return found

    @property
    def reactions(self) -> Mapping[str, Reaction | DependsOnInstances]:
        """Reactions to kinds of change that differ from the common one, by id; from the module `updates`."""
        found: Mapping[str, Reaction | DependsOnInstances] = self._load_module("updates").REACTIONS
        return found

    def notes_on_changes(self, kinds: Collection[str]) -> list[str]:
        """Notes on facts that two catalogs do not show and changes of these `kinds` may depend on; from `updates`."""
        found: Mapping[str, frozenset[str]] = self._load_module("updates").NOTES
        return [sentence for sentence, when in found.items() if not when or not when.isdisjoint(kinds)]

    @property
    def export_format(self) -> Export:
        """Export format; from the module `export`."""
        found: Export = self._load_module("export").EXPORT
        return found

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Its command-line tools; from the module `commands`."""
        found: tuple[Tool, ...] = self._load_module("commands").TOOLS
        return found

    def _load_module(self, name: str) -> Any:
        return import_module(f"{self.folder}.{name}")
