"""From rows of the database to values, and back. What the rows hold is not trusted."""

from __future__ import annotations

import json
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from osbctl.errors import RegistryError
from osbctl.platforms import ApiVersion, Platform
from osbctl.platforms.record import State
from osbctl.registry.records import Action, BrokerRow, Kept, Refresh, RefreshOutcome, Remark, What
from osbctl.registry.tables import BROKERS
from osbctl.sources.limits import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Row

    from osbctl.registry.records import BrokerCatalog

LIGHT = tuple(column for column in BROKERS.c if column.name not in ("catalog", "variable"))
"""The columns of a broker without its catalog."""


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
    with _understood():
        if not isinstance(row.catalog, bytes):  # SQLite takes any value in any column
            raise TypeError
        return row.catalog


def unpacked(row: Row[Any]) -> bytes:
    """The earlier catalog in a row that has it packed."""
    with _understood():
        reader = zlib.decompressobj()
        body = reader.decompress(row.packed, MAX_BYTES)
        if not reader.eof:
            raise ValueError
        return body


def kept_rows(rows: Iterable[Row[Any]]) -> tuple[Kept, ...]:
    """What is kept, from rows of its table."""
    with _understood():
        values = (json.loads(row.content) for row in rows)
        return tuple(Kept(**value | {"state": State(value["state"])}) for value in values)


def refreshes(rows: Iterable[Row[Any]]) -> list[Refresh]:
    """The refreshes in rows of their table."""
    with _understood():
        return [_refresh(row) for row in rows]


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
    """Tells of rows that osbctl did not write: whoever shares the database may have."""
    try:
        yield
    except (ValueError, TypeError, KeyError, RecursionError, zlib.error):
        raise RegistryError("the database holds rows that osbctl did not write", "restore it from a backup") from None


def _refresh(row: Row[Any]) -> Refresh:
    return Refresh(
        at=row.at,
        outcome=RefreshOutcome(row.outcome),
        platform=Platform(row.platform),
        etag=row.etag,
        actions=tuple(Action(**one | {"what": What(one["what"])}) for one in json.loads(row.actions)),
        told=tuple(Remark(**one) for one in json.loads(row.told)),
    )
