"""Values of the registry's database and its errors; `json` follows schemas/brokers-1.json."""

import datetime
import json
import re
from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from osbctl.catalog import Catalog
from osbctl.errors import RegistryError, UsageError, command_to_install
from osbctl.findings import DocumentError
from osbctl.platforms import Platform
from osbctl.platforms.golang import catalog_as_read
from osbctl.platforms.updates import StoredRow
from osbctl.platforms.verdict import Refusal
from osbctl.sources.document import Document
from osbctl.text import plural


def missing_extra_error() -> RegistryError:
    """The error for a library that is not installed."""
    return RegistryError("the registry of brokers needs SQLAlchemy and platformdirs", command_to_install("registry"))


class UnknownBrokerError(UsageError):
    """No broker of that name is registered."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        from difflib import get_close_matches

        known = list(known)
        close = [one for one in known if len(name) > 2 and one.startswith(name)] or get_close_matches(name, known)
        advice = f"did you mean {' or '.join(close[:3])}?" if close else "osbctl brokers list shows all"
        advice = f"{advice if known else 'none is registered yet'}; osbctl brokers add registers one"
        super().__init__(f"no broker {name!r} is registered", advice.replace("?;", "?"))


class NameTakenError(UsageError):
    """The name is taken, or has the same variable for its password as another one."""

    def __init__(self, name: str, taken: str) -> None:
        if name == taken:
            super().__init__(f"a broker {name!r} is already registered", "osbctl brokers refresh fetches its catalog")
        else:
            super().__init__(
                f"{name!r} and the registered broker {taken!r} would share one variable for their passwords",
                "choose a name that differs in letters or digits, not only in case and punctuation",
            )


class OutdatedError(RegistryError):
    """The broker was changed or removed by another process since it was read."""

    def __init__(self, name: str) -> None:
        super().__init__(f"another process changed the broker {name!r} at the same time", "run it again")


class DamagedRowError(RegistryError):
    """The row of one broker holds something that osbctl did not write."""


ADD_MAKES_ONE = "restore it from a backup, or name another with --database; osbctl brokers add makes a new one"
"""Advice if there is no registry."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""The name of a registered broker."""

TABLE = "osbctl_brokers_2"
"""The table of brokers. The number is that of its form: for a changed one, `ensure_table` must copy what it holds."""

PLACEHOLDER = "(not stored)"
"""Replacement of a secret: a text, so that the catalog stays valid."""


class RefreshOutcome(StrEnum):
    """Outcome of a refresh. `added` and `changed` store a catalog; `refused` stores what a platform saved of it."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    FAILED = "failed"


class ActionKind(StrEnum):
    """Kind of action of a platform on one service offering or plan."""

    CREATED = "created"
    UPDATED = "updated"
    REACTIVATED = "reactivated"
    KEPT = "kept"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Action:
    """Actual or simulated action of a platform on the service offering `service`, or on its plan if named."""

    what: ActionKind
    service: str
    plan: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """A change, or a reason of a refusal: rule, level (or severity), object, one sentence.

    `object` is a name, as `service/plan`, or a JSON pointer into the catalog.
    """

    rule: str
    level: str
    object: str
    message: str


@dataclass(frozen=True, slots=True)
class Refresh:
    """One attempt to store a broker's current catalog. `at` is the time in UTC (RFC 3339, seconds).

    `remarks` holds the changes, or the reasons of a refusal or failure. `is_storable`: false if the catalog is refused
    for what osbctl itself does not store (`BrokerCatalog.refused`), whatever the platform does.
    """

    at: str
    outcome: RefreshOutcome
    platform: Platform
    actions: tuple[Action, ...] = ()
    remarks: tuple[Remark, ...] = ()
    is_storable: bool = True

    def action_counts(self) -> dict[str, int]:
        """Number of service offerings and plans per kind of action."""
        return dict(Counter(action.what.value for action in self.actions))


@dataclass(frozen=True, slots=True)
class Registration:
    """Data of a broker at registration: its `url` without userinfo, and the `platform` whose rules apply."""

    name: str
    url: str
    username: str
    api_version: str
    platform: Platform


@dataclass(frozen=True)
class BrokerCatalog:
    """A catalog as a broker sent it: its bytes, data and findings.

    `refused` are reasons to store nothing, `errors` faults by its platform and OSB, `refusals` the platform's own.
    """

    body: bytes
    data: dict[str, Any] = field(repr=False)
    refused: tuple[Remark, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    errors: tuple[Remark, ...] = ()

    @cached_property
    def storable(self) -> Self:
        """The catalog without the secrets of dashboard clients; unchanged to the byte if it has none."""
        return self.with_data(mask_client_secrets(self.data))

    def with_data(self, data: dict[str, Any]) -> Self:
        """The catalog with `data` instead of its own; unchanged to the byte if that is the same object."""
        if data is self.data:
            return self
        return replace(self, body=json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), data=data)


@dataclass(frozen=True, slots=True)
class BrokerRow(Registration):
    """A registered broker without its catalog. Times are in UTC (RFC 3339, seconds).

    `refreshed_at` is when the stored catalog was last known to be the broker's; `outcome` is that of the last attempt.
    `revision` grows with each change of the row.
    """

    id: int
    services: int
    plans: int
    kept_plans: int
    registered_at: str
    refreshed_at: str
    outcome: RefreshOutcome
    revision: int

    @property
    def json(self) -> dict[str, Any]:
        """The broker in the report of `osbctl brokers list --format json`."""
        return {key: value for key, value in asdict(self).items() if key not in ("id", "revision")}


@dataclass(frozen=True)
class RegisteredBroker:
    """A registered broker: its row, its stored catalog without secrets, and removed objects that are kept.

    `counts` are the numbers of services and plans that were stored with the catalog; None: not known.
    """

    row: BrokerRow
    catalog: bytes
    kept: tuple[StoredRow, ...] = ()
    counts: tuple[int, int] | None = None

    @cached_property
    def document(self) -> Document:
        """The stored catalog, parsed. Raises DamagedRowError: another program wrote something else there."""
        # Imported here, since the names of brokers are completed without it.
        from osbctl.sources.catalogs import require_services
        from osbctl.sources.document import parse_document

        name = self.row.name
        advice = "restore the database from a backup; or remove the broker, and add it again"
        try:
            document: Document = parse_document(self.catalog, f"{name} (stored)")
            if self.row.services:  # some platforms accept a catalog without `services`, and store that it has none
                document = require_services(document)
        except DocumentError as error:
            raise DamagedRowError(f"what is stored of {name} is not a catalog", advice) from error
        found, as_written = catalog_as_read(self.row.platform, document.data).counts, document.catalog.counts
        if self.counts and self.counts not in (found, as_written):  # the latter if an earlier osbctl stored it
            stored, there = (f"{plural(s, 'service')} and {plural(p, 'plan')}" for s, p in (self.counts, found))
            raise DamagedRowError(f"the stored catalog of {name} is damaged: it has {there}, not {stored}", advice)
        return document

    @property
    def offered(self) -> Catalog:
        """The stored catalog as the platform reads it; raises as `document`."""
        return catalog_as_read(self.row.platform, self.data)

    @property
    def data(self) -> dict[str, Any]:
        """The stored catalog as JSON values; raises as `document`."""
        data: dict[str, Any] = self.document.data
        return data


def utc_timestamp() -> str:
    """The time in UTC as the database has it (RFC 3339, seconds)."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def mask_client_secrets(data: dict[str, Any]) -> dict[str, Any]:
    """Replace the secret of each dashboard client (OSB, Dashboard Client Object); return the same object if none.

    Names of fields count in any case, as programs in Go read them.
    """
    masked = deepcopy(data)
    for services in _values_of_field(masked, "services"):
        for service in services if isinstance(services, list) else ():
            for client in _values_of_field(service, "dashboard_client"):
                for key, value in client.items() if isinstance(client, dict) else ():
                    if key.casefold() == "secret" and value is not None:
                        client[key] = PLACEHOLDER
    return data if masked == data else masked


def _values_of_field(value: Any, name: str) -> list[Any]:
    """The values of a field of an object, in any case of its name."""
    return [inner for key, inner in value.items() if key.casefold() == name] if isinstance(value, dict) else []
