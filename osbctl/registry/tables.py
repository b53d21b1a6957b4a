"""The newest tables, steps that bring older ones there, and rows as values. What the rows hold is not trusted."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy
from sqlalchemy import Column, Connection, ForeignKey, Integer, LargeBinary, MetaData, Row, String, Table, Text

from osbctl.catalog import Catalog
from osbctl.errors import RegistryError
from osbctl.platforms import ApiVersion, Platform, State
from osbctl.registry.database import Database
from osbctl.registry.errors import ADD_MAKES_ONE
from osbctl.registry.records import BrokerCatalog, BrokerRow, Refresh, RefreshOutcome, RetainedObject
from osbctl.text import escape_line

METADATA = MetaData()

VERSION = Table("osbctl_version", METADATA, Column("version_num", String(32), primary_key=True))

BROKERS = Table(
    "osbctl_brokers",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    # The broker's part of the name of the variable with its password; unique.
    Column("variable", String(100), nullable=False, unique=True),
    Column("url", Text, nullable=False),
    Column("username", Text, nullable=False),
    Column("api_version", String(20), nullable=False),
    Column("platform", String(40), nullable=False),
    Column("etag", Text, nullable=False),
    Column("services", Integer, nullable=False),
    Column("plans", Integer, nullable=False),
    Column("kept_plans", Integer, nullable=False),
    Column("registered_at", String(20), nullable=False),
    Column("refreshed_at", String(20), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("catalog", LargeBinary, nullable=False),
    Column("previous", LargeBinary),  # the catalog before it
    sqlite_autoincrement=True,  # never reuse the id of a removed broker
)

KEPT = Table(
    "osbctl_kept",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("broker_id", ForeignKey("osbctl_brokers.id", ondelete="CASCADE"), nullable=False, index=True),
    # JSON, escaped to ASCII: a text column refuses some characters of ids and names.
    Column("content", Text, nullable=False),
)

LIGHT = tuple(column for column in BROKERS.c if column.name not in ("catalog", "previous", "variable"))
"""The columns of a broker without its catalogs."""


def broker_row(row: Row[Any]) -> BrokerRow:
    """The broker in a row with at least the columns `LIGHT`."""
    values = {column.name: getattr(row, column.name) for column in LIGHT}
    with _checked_rows():
        if not all(isinstance(values[column.name], column.type.python_type) for column in LIGHT):
            raise TypeError
        ApiVersion(row.api_version)
        return BrokerRow(**values | {"platform": Platform(row.platform), "outcome": RefreshOutcome(row.outcome)})


def checked_bytes(value: Any) -> bytes:
    with _checked_rows():
        if not isinstance(value, bytes):  # SQLite takes any value in any column
            raise TypeError
        return value


def kept_rows(rows: Iterable[Row[Any]]) -> tuple[RetainedObject, ...]:
    """Kept objects from rows of their table."""
    with _checked_rows():
        values = (json.loads(row.content) for row in rows)
        return tuple(RetainedObject(**value | {"state": State(value["state"])}) for value in values)


def stored(catalog: BrokerCatalog, refresh: Refresh) -> dict[str, Any]:
    """Values of the columns that change with a broker's catalog."""
    offered = Catalog.of(catalog.data)
    return {
        "catalog": catalog.body,
        "etag": refresh.etag,
        "services": len(offered.services),
        "plans": sum(1 for _ in offered.plans),
        "refreshed_at": refresh.at,
        "outcome": refresh.outcome.value,
    }


@contextmanager
def _checked_rows() -> Iterator[None]:
    """Raise RegistryError for rows that osbctl did not write; the database may have other users."""
    try:
        yield
    except (ValueError, TypeError, KeyError, RecursionError):
        raise RegistryError("the database holds rows that osbctl did not write", "restore it from a backup") from None


_FIRST = "0001"

STEPS: dict[str, Callable[[Connection], None]] = {}
"""Changes of the tables since the first version, by the version that they lead to, oldest first.

A change of the tables above needs a step, which brings an existing database there.
"""

_LOCK = 0x6F7362_63746C
"""The key of PostgreSQL's advisory lock: any fixed number does; this one spells osbctl."""


def migrate(database: Database, *, make: bool = True) -> None:
    """Migrate the tables to the newest version, in one transaction that only one process at a time can have.

    Raises RegistryError: the tables are missing and not to be made, foreign, of a newer osbctl, or damaged.
    """
    with database.reading() as connection:
        tables = sqlalchemy.inspect(connection).get_table_names()
        version = _version(connection, tables, database.name)
    if version == _newest():
        return
    if not version:
        _check_foreign(database, tables, make=make)
    with database.writing() as connection:
        if not database.is_sqlite:
            connection.execute(sqlalchemy.select(sqlalchemy.func.pg_advisory_xact_lock(_LOCK)))
        # Asked again: another process may have been faster.
        version = _version(connection, sqlalchemy.inspect(connection).get_table_names(), database.name)
        if not version:
            METADATA.create_all(connection)
            connection.execute(sqlalchemy.insert(VERSION).values(version_num=_newest()))
        else:
            for step in (work for reached, work in STEPS.items() if reached > version):
                step(connection)
            connection.execute(sqlalchemy.update(VERSION).values(version_num=_newest()))


def _newest() -> str:
    return max(STEPS, default=_FIRST)


def _check_foreign(database: Database, tables: list[str], *, make: bool) -> None:
    """Raise RegistryError if a database without our tables must not get any."""
    if tables and (database.is_sqlite or not make):
        text = f"{database.name}: this database belongs to another program: it has a table {escape_line(tables[0])!r}"
        raise RegistryError(text, "name another with --database")
    if not make:
        raise RegistryError(f"{database.name}: the database is empty", ADD_MAKES_ONE)


def _version(connection: Connection, tables: list[str], name: str) -> str | None:
    """The version of our tables among `tables`, all that the database has; None where there are none yet."""
    if not METADATA.tables.keys() & set(tables):
        return None
    found = list(connection.scalars(sqlalchemy.select(VERSION))) if VERSION.name in tables else []
    version: str | None = found[0] if len(found) == 1 else None
    if version not in (_FIRST, *STEPS):
        if isinstance(version, str) and version.isdecimal() and version > _newest():
            raise RegistryError(f"{name}: a newer osbctl made this database", "update osbctl")
        text = f"{version!r}, which no osbctl wrote" if version else "lost"
        raise RegistryError(
            f"{name}: the database is damaged: the version of its tables ({VERSION.name}) is {text}",
            "restore it from a backup, or name another with --database",
        )
    return version
