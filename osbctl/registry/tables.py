"""The table of registered brokers, and its rows as values. What the rows hold is not trusted."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy
from sqlalchemy import Column, Integer, LargeBinary, MetaData, Row, String, Table, Text

from osbctl.catalog import Catalog
from osbctl.errors import RegistryError
from osbctl.platforms import ApiVersion, Platform, State
from osbctl.platforms.saving import StoredRow
from osbctl.registry.database import Database
from osbctl.registry.errors import ADD_MAKES_ONE, DamagedRowError
from osbctl.registry.records import TABLE, BrokerCatalog, BrokerRow, Refresh, RefreshOutcome
from osbctl.text import escape_line

METADATA = MetaData()

BROKERS = Table(
    TABLE,
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    # The broker's part of the name of the variable with its password; unique.
    Column("variable", String(100), nullable=False, unique=True),
    Column("url", Text, nullable=False),
    Column("username", Text, nullable=False),
    Column("api_version", String(20), nullable=False),
    Column("platform", String(40), nullable=False),
    Column("services", Integer, nullable=False),
    Column("plans", Integer, nullable=False),
    Column("kept_plans", Integer, nullable=False),
    Column("registered_at", String(20), nullable=False),
    Column("refreshed_at", String(20), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("catalog", LargeBinary, nullable=False),
    Column("previous", LargeBinary),  # the catalog before it
    # What the platform keeps: JSON, escaped to ASCII, since a text column refuses some characters of ids and names.
    Column("kept", Text, nullable=False),
    sqlite_autoincrement=True,  # never reuse the id of a removed broker
)

LIGHT = tuple(column for column in BROKERS.c if column.name not in ("catalog", "previous", "kept", "variable"))
"""The columns of a broker without its catalogs."""

_LOCK = 0x6F7362_63746C
"""The key of PostgreSQL's advisory lock: any fixed number does; this one spells osbctl."""


def ensure_table(database: Database, *, create: bool = True) -> None:
    """Create the table if there is none, in one transaction that only one process at a time can have.

    Raises RegistryError: the table is missing and not to be created, or the database belongs to another program.
    """
    with database.read_transaction() as connection:
        tables = sqlalchemy.inspect(connection).get_table_names()
    if BROKERS.name in tables:
        return
    if tables and (database.is_sqlite or not create):
        text = f"{database.name}: this is not a registry of this osbctl: it has a table {escape_line(tables[0])!r}"
        raise RegistryError(text, "name another with --database")
    if not create:
        raise RegistryError(f"{database.name}: the database is empty", ADD_MAKES_ONE)
    with database.write_transaction() as connection:
        if not database.is_sqlite:
            connection.execute(sqlalchemy.select(sqlalchemy.func.pg_advisory_xact_lock(_LOCK)))
        METADATA.create_all(connection)  # unless another process was faster


def parse_broker_row(row: Row[Any]) -> BrokerRow:
    """The broker in a row with at least the columns `LIGHT`."""
    values = {column.name: getattr(row, column.name) for column in LIGHT}
    with _reject_foreign_rows():
        "".join(map(str, values.values())).encode()  # fails for a text of SQLite that is not UTF-8
        if not all(isinstance(values[column.name], column.type.python_type) for column in LIGHT):
            raise TypeError
        ApiVersion(row.api_version)
        return BrokerRow(**values | {"platform": Platform(row.platform), "outcome": RefreshOutcome(row.outcome)})


def check_bytes(value: Any) -> bytes:
    """Return `value`. Raises RegistryError: it is not bytes."""
    with _reject_foreign_rows():
        if not isinstance(value, bytes):  # SQLite takes any value in any column
            raise TypeError
        return value


def parse_kept_objects(text: Any) -> tuple[StoredRow, ...]:
    """Kept objects from the JSON in their column."""
    with _reject_foreign_rows():
        return tuple(
            StoredRow(one["service_id"], one["plan_id"] or None, one["data"], State(one["state"]), one["since"])
            for one in json.loads(str.encode(text))
        )


def format_kept_objects(rows: Iterable[StoredRow]) -> str:
    """Kept objects as the JSON in their column."""
    values = []
    for row in rows:
        ids = {"service_id": row.service, "plan_id": row.plan or ""}
        values.append({**ids, "state": row.state, "since": row.since, "data": row.data})
    return json.dumps(values)


def catalog_column_values(catalog: BrokerCatalog, refresh: Refresh) -> dict[str, Any]:
    """Values of the columns that change with a broker's catalog."""
    offered = Catalog.of(catalog.data)
    return {
        "catalog": catalog.body,
        "services": len(offered.services),
        "plans": sum(1 for _ in offered.plans),
        "refreshed_at": refresh.at,
        "outcome": refresh.outcome.value,
    }


@contextmanager
def _reject_foreign_rows() -> Iterator[None]:
    """Raise RegistryError for rows that osbctl did not write; the database may have other users."""
    try:
        yield
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedRowError("the database holds rows that osbctl did not write", "restore it from a backup") from None
