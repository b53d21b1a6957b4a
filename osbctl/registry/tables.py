"""The tables, as the newest migration leaves them (a change here needs a new migration), and from their rows to values
and back. What the rows hold is not trusted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Column, ForeignKey, Integer, LargeBinary, MetaData, Row, String, Table, Text

from osbctl.errors import RegistryError
from osbctl.platforms import ApiVersion, Platform, State
from osbctl.registry.records import BrokerCatalog, BrokerRow, Kept, Refresh, RefreshOutcome

METADATA = MetaData()

VERSION_TABLE = "osbctl_version"

BROKERS = Table(
    "osbctl_brokers",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    # The name as it stands in the name of the variable with the password: no two brokers share one.
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
    sqlite_autoincrement=True,  # the id of a removed broker is never given again
)

KEPT = Table(
    "osbctl_kept",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("broker_id", ForeignKey("osbctl_brokers.id", ondelete="CASCADE"), nullable=False, index=True),
    # JSON, escaped to ASCII: ids and names of catalogs may hold what a text column refuses.
    Column("content", Text, nullable=False),
)

LIGHT = tuple(column for column in BROKERS.c if column.name not in ("catalog", "previous", "variable"))
"""The columns of a broker without its catalogs."""


def broker_row(row: Row[Any]) -> BrokerRow:
    """The broker in a row that has the columns `LIGHT`, and may have more."""
    values = {column.name: getattr(row, column.name) for column in LIGHT}
    with _understood():
        if not all(isinstance(values[column.name], column.type.python_type) for column in LIGHT):
            raise TypeError
        ApiVersion(row.api_version)
        return BrokerRow(**values | {"platform": Platform(row.platform), "outcome": RefreshOutcome(row.outcome)})


def catalog_of(row: Row[Any]) -> bytes:
    """The stored catalog in a row that has it."""
    return _bytes(row.catalog)


def previous_of(row: Row[Any]) -> bytes:
    """The catalog before that in a row that has it."""
    return _bytes(row.previous)


def _bytes(value: Any) -> bytes:
    with _understood():
        if not isinstance(value, bytes):  # SQLite takes any value in any column
            raise TypeError
        return value


def kept_rows(rows: Iterable[Row[Any]]) -> tuple[Kept, ...]:
    """Kept objects from rows of their table."""
    with _understood():
        values = (json.loads(row.content) for row in rows)
        return tuple(Kept(**value | {"state": State(value["state"])}) for value in values)


def stored(catalog: BrokerCatalog, refresh: Refresh) -> dict[str, Any]:
    """The columns of a broker that change with its catalog."""
    offered = catalog.offered
    return {
        "catalog": catalog.body,
        "etag": refresh.etag,
        "services": len(offered.services),
        "plans": sum(1 for _ in offered.plans),
        "refreshed_at": refresh.at,
        "outcome": refresh.outcome.value,
    }


@contextmanager
def _understood() -> Iterator[None]:
    """Reports rows that osbctl did not write: other users of the database may have."""
    try:
        yield
    except (ValueError, TypeError, KeyError, RecursionError):
        raise RegistryError("the database holds rows that osbctl did not write", "restore it from a backup") from None
