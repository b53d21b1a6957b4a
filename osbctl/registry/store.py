"""The registered brokers in their database: read, add, refresh, remove. Each call is one transaction."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, Self

from osbctl.errors import InternalError, OsbctlError, SourceError, UsageError, run_contained
from osbctl.platforms import Identity, Platform
from osbctl.platforms.shared_identities import ids_unique_on_platform
from osbctl.platforms.updates import StoredRow
from osbctl.registry.database import (
    BROKERS,
    LIGHT,
    WAIT_SECONDS,
    Database,
    catalog_column_values,
    check_bytes,
    ensure_table,
    format_kept_objects,
    parse_broker_row,
    parse_kept_objects,
)
from osbctl.registry.records import (
    NAME,
    BrokerCatalog,
    BrokerRow,
    DamagedRowError,
    NameTakenError,
    OutdatedError,
    Refresh,
    RefreshOutcome,
    RegisteredBroker,
    Registration,
    UnknownBrokerError,
)

# `database` says what to install where SQLAlchemy is missing; so it is imported first.
from sqlalchemy import Connection, delete, insert, select, update  # isort: skip
from sqlalchemy.exc import IntegrityError  # isort: skip


class Registry(AbstractContextManager["Registry"]):
    """The database of registered brokers. Open it in a `with`; it may be used by several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: str, wait_seconds: float = WAIT_SECONDS, *, create: bool = True) -> Self:
        """The registry at `url`, the path of an SQLite file or a URL of SQLAlchemy.

        `wait_seconds` bounds the wait for other writers. `create` makes a missing one: without it, a lost registry
        does not look like an empty one.

        Raises UsageError (no database that osbctl knows), RegistryError (as all other calls, if the database fails).
        """
        database = Database(url, wait_seconds, create=create)
        try:
            ensure_table(database, create=create)
        except BaseException:
            database.close()
            raise
        return cls(database)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def brokers(self) -> list[tuple[str, BrokerRow | OsbctlError]]:
        """All brokers by name, without their catalogs; a row that cannot be read as its error."""
        with self._database.read_transaction() as connection:
            rows = connection.execute(select(*LIGHT).order_by(BROKERS.c.name)).all()
        return [(str(row.name), run_contained(parse_broker_row, row)) for row in rows]

    def names(self) -> list[str]:
        with self._database.read_transaction() as connection:
            return sorted(map(str, connection.scalars(select(BROKERS.c.name))))

    def broker(self, name: str, *, previous: bool = False) -> RegisteredBroker:
        """One broker with its catalog and kept objects; `previous`: with its previous catalog.

        Raises UnknownBrokerError, SourceError (there was no catalog before).
        """
        with self._database.read_transaction() as connection:
            row = connection.execute(select(BROKERS).where(BROKERS.c.name == name)).one_or_none()
        if row is None:
            raise UnknownBrokerError(name, self.names())
        if previous and row.previous is None:
            raise SourceError(f"the registry has no previous catalog of {name}", "omit --version")
        if previous:  # its kept objects are not stored
            return RegisteredBroker(parse_broker_row(row), check_bytes(row.previous))
        broker = parse_broker_row(row)
        kept, counts = parse_kept_objects(row.kept), (broker.services, broker.plans)
        return RegisteredBroker(broker, check_bytes(row.catalog), kept, counts)

    def find_taken_ids(
        self, registration: Registration, new: Mapping[str, Any], stored: RegisteredBroker | None = None
    ) -> dict[tuple[Identity, str], str]:
        """The other broker on the platform that has each id of the catalog `new`, except for ids of the `stored` one.

        Empty on a platform on which brokers may share ids. A damaged row is skipped: reading that broker reports it.
        """
        platform = registration.platform
        known = set(ids_unique_on_platform(stored.document.catalog, platform)) if stored else set()
        wanted = set(ids_unique_on_platform(new, platform)) - known
        found: dict[tuple[Identity, str], str] = {}
        for name, row in self.brokers() if wanted else ():
            if isinstance(row, OsbctlError) or (row.platform is platform and name != registration.name):
                ids_of_other = run_contained(self._stored_ids, name, platform)
                if not isinstance(ids_of_other, OsbctlError):
                    found |= dict.fromkeys(wanted.intersection(ids_of_other), name)
                elif not isinstance(ids_of_other, DamagedRowError | InternalError):  # the others cannot be read either
                    raise ids_of_other
        return found

    def _stored_ids(self, name: str, platform: Platform) -> set[tuple[Identity, str]]:
        return set(ids_unique_on_platform(self.broker(name).document.catalog, platform))

    def add(self, new: Registration, catalog: BrokerCatalog, refresh: Refresh) -> None:
        """Register a broker with its first, valid catalog, which `refresh` describes. Raises NameTakenError."""
        row = asdict(new) | {
            "variable": env_variable_part(new.name),
            "platform": new.platform.value,
            "registered_at": refresh.at,
            "revision": 1,
            "kept_plans": 0,
            "kept": "[]",
            **catalog_column_values(new.platform, catalog, refresh),
        }
        with self._database.write_transaction() as connection:
            _check_name_available(connection, new.name)
            try:
                connection.execute(insert(BROKERS).values(row))
            except IntegrityError:  # on PostgreSQL, another writer may have come in between
                raise NameTakenError(new.name, new.name) from None

    def check_name_available(self, name: str) -> None:
        """Raise UsageError for a wrong name, NameTakenError if a broker has it or one with the same variable."""
        if not NAME.fullmatch(name):
            advice = "use up to 100 letters, digits and . _ -, first a letter or a digit"
            raise UsageError(f"{name!r} is not a broker name", advice)
        with self._database.read_transaction() as connection:
            _check_name_available(connection, name)

    def store_refresh(
        self,
        row: BrokerRow,
        refresh: Refresh,
        *,
        catalog: BrokerCatalog | None = None,
        kept: Sequence[StoredRow] | None = None,
    ) -> None:
        """Store `refresh` of the broker that was read as `row`, with a new `catalog` and `kept` objects.

        None leaves what is stored. The catalog that is replaced becomes the previous one.

        Raises OutdatedError: the broker was changed or removed since it was read; read it again, and decide again.
        """
        values: dict[str, Any] = {"outcome": refresh.outcome.value, "revision": row.revision + 1}
        if catalog is not None:
            values |= {"previous": BROKERS.c.catalog, **catalog_column_values(row.platform, catalog, refresh)}
            if refresh.outcome is RefreshOutcome.REFUSED:  # saved in part: not the broker's catalog
                values["refreshed_at"] = row.refreshed_at
        elif refresh.outcome in (RefreshOutcome.UNCHANGED, RefreshOutcome.CHANGED):
            values["refreshed_at"] = refresh.at
        if kept is not None:
            values["kept_plans"] = sum(1 for one in kept if one.plan)
            values["kept"] = format_kept_objects(kept)
        unchanged = (BROKERS.c.id == row.id) & (BROKERS.c.revision == row.revision)
        with self._database.write_transaction() as connection:
            if connection.execute(update(BROKERS).where(unchanged).values(values)).rowcount != 1:
                raise OutdatedError(row.name)

    def remove(self, name: str) -> None:
        """Remove a broker with its catalogs. Raises UnknownBrokerError: there is none of that name."""
        with self._database.write_transaction() as connection:
            removed = connection.execute(delete(BROKERS).where(BROKERS.c.name == name)).rowcount
        if not removed:
            raise UnknownBrokerError(name, self.names())


def env_variable_part(broker_name: str) -> str:
    """The name of a broker as it stands in names of environment variables: A-Z, 0-9 and _."""
    return re.sub(r"[^A-Z0-9]", "_", broker_name.upper())


def _check_name_available(connection: Connection, name: str) -> None:
    taken = connection.scalar(select(BROKERS.c.name).where(BROKERS.c.variable == env_variable_part(name)))
    if taken is not None:
        raise NameTakenError(name, taken)
