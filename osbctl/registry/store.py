"""The registered brokers in their database: read, add, refresh, remove. Each call is one transaction."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any

from osbctl.errors import SourceError, UsageError
from osbctl.registry.database import WAIT_SECONDS, Database
from osbctl.registry.errors import NameTakenError, OutdatedError, UnknownBrokerError
from osbctl.registry.records import (
    NAME,
    BrokerCatalog,
    BrokerRow,
    Refresh,
    RefreshOutcome,
    RegisteredBroker,
    Registration,
    RetainedObject,
)

# `database` says what to install where SQLAlchemy is missing; so it is imported first.
from sqlalchemy import Connection, delete, insert, select, update  # isort: skip
from sqlalchemy.exc import IntegrityError  # isort: skip

from osbctl.registry.tables import BROKERS, LIGHT, broker_row, checked_bytes, kept_objects, make_table, stored  # isort: skip


class Registry(AbstractContextManager["Registry"]):
    """The database of registered brokers. Open it in a `with`; it may be used by several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: str, wait_seconds: float = WAIT_SECONDS, *, make: bool = True) -> Registry:
        """The registry at `url`, the path of an SQLite file or a URL of SQLAlchemy.

        `wait_seconds` bounds the wait for other writers. `make` creates a missing one: without it, a lost registry
        does not look like an empty one.

        Raises:
            UsageError: `url` names no database that osbctl knows.
            RegistryError: it cannot be opened; all other calls raise it, too, if the database fails.
        """
        database = Database(url, wait_seconds, make=make)
        try:
            make_table(database, make=make)
        except BaseException:
            database.close()
            raise
        return cls(database)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def brokers(self) -> list[BrokerRow]:
        """All brokers by name, without their catalogs."""
        with self._database.reading() as connection:
            rows = connection.execute(select(*LIGHT).order_by(BROKERS.c.name)).all()
        return [broker_row(row) for row in rows]

    def names(self) -> list[str]:
        with self._database.reading() as connection:
            return sorted(connection.scalars(select(BROKERS.c.name)))

    def broker(self, name: str, *, before: bool = False) -> RegisteredBroker:
        """One broker with its catalog and kept objects; `before`: with its previous catalog.

        Raises UnknownBrokerError, SourceError (there was no catalog before).
        """
        with self._database.reading() as connection:
            row = connection.execute(select(BROKERS).where(BROKERS.c.name == name)).one_or_none()
        if row is None:
            raise UnknownBrokerError(name, self.names())
        if before and row.previous is None:
            raise SourceError(f"the registry has no previous catalog of {name}", "omit --version")
        if before:  # its kept objects are not stored
            return RegisteredBroker(broker_row(row), checked_bytes(row.previous))
        return RegisteredBroker(broker_row(row), checked_bytes(row.catalog), kept_objects(row.kept))

    def add(self, new: Registration, catalog: BrokerCatalog, refresh: Refresh) -> None:
        """Register a broker with its first, valid catalog, which `refresh` describes. Raises NameTakenError."""
        row = asdict(new) | {
            "variable": variable_part(new.name),
            "platform": new.platform.value,
            "registered_at": refresh.at,
            "revision": 1,
            "kept_plans": 0,
            "kept": "[]",
            **stored(catalog, refresh),
        }
        with self._database.writing() as connection:
            _check_free(connection, new.name)
            try:
                connection.execute(insert(BROKERS).values(row))
            except IntegrityError:  # on PostgreSQL, another writer may have come in between
                raise NameTakenError(new.name, new.name) from None

    def check_free(self, name: str) -> None:
        """Raise UsageError for a wrong name, NameTakenError if a broker has it or one with the same variable."""
        if not NAME.fullmatch(name):
            advice = "use up to 100 letters, digits and . _ -, first a letter or a digit"
            raise UsageError(f"{name!r} is not a broker name", advice)
        with self._database.reading() as connection:
            _check_free(connection, name)

    def store_refresh(
        self,
        seen: BrokerRow,
        refresh: Refresh,
        *,
        catalog: BrokerCatalog | None = None,
        kept: Sequence[RetainedObject] | None = None,
    ) -> None:
        """Store `refresh` of the broker that was read as `seen`, with a new `catalog` and `kept` objects.

        None leaves what is stored. The catalog that is replaced becomes the previous one.

        Raises OutdatedError: the broker was changed or removed since it was read; read it again, and decide again.
        """
        values: dict[str, Any] = {"outcome": refresh.outcome.value, "revision": seen.revision + 1}
        if catalog is not None:
            values |= {"previous": BROKERS.c.catalog, **stored(catalog, refresh)}
            if refresh.outcome is RefreshOutcome.REFUSED:  # saved in part: not the broker's catalog
                values["refreshed_at"] = seen.refreshed_at
        elif refresh.outcome in (RefreshOutcome.UNCHANGED, RefreshOutcome.CHANGED):
            values["refreshed_at"] = refresh.at
        if kept is not None:
            values["kept_plans"] = sum(1 for one in kept if one.plan_id)
            values["kept"] = json.dumps([asdict(one) for one in kept])
        still = (BROKERS.c.id == seen.id) & (BROKERS.c.revision == seen.revision)
        with self._database.writing() as connection:
            if connection.execute(update(BROKERS).where(still).values(values)).rowcount != 1:
                raise OutdatedError(seen.name)

    def remove(self, name: str) -> None:
        """Remove a broker with its catalogs. Raises UnknownBrokerError: there is none of that name."""
        with self._database.writing() as connection:
            removed = connection.execute(delete(BROKERS).where(BROKERS.c.name == name)).rowcount
        if not removed:
            raise UnknownBrokerError(name, self.names())


def variable_part(name: str) -> str:
    """The name of a broker as it stands in names of environment variables: A-Z, 0-9 and _."""
    return re.sub(r"[^A-Z0-9]", "_", name.upper())


def now() -> str:
    """The time in UTC as the database has it (RFC 3339, seconds)."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _check_free(connection: Connection, name: str) -> None:
    taken = connection.scalar(select(BROKERS.c.name).where(BROKERS.c.variable == variable_part(name)))
    if taken is not None:
        raise NameTakenError(name, taken)
