"""Catalogs, registrations and refreshes for tests."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from osbctl.platforms import Platform
from osbctl.registry.records import BrokerCatalog, Refresh, RefreshOutcome, Registration
from osbctl.registry.store import Registry

AT = "2026-01-02T03:04:05Z"


def plan(id: str, name: str = "", **more: Any) -> dict[str, Any]:
    return {"id": id, "name": name or f"plan-{id}", "description": f"plan {id}", **more}


def service(id: str, *plans: Mapping[str, Any] | str, name: str = "", **more: Any) -> dict[str, Any]:
    made = [plan(one) if isinstance(one, str) else dict(one) for one in plans]
    base = {"id": id, "name": name or f"service-{id}", "description": f"service {id}", "bindable": True}
    return {**base, "plans": made, **more}


def catalog(*services: Mapping[str, Any]) -> dict[str, Any]:
    return {"services": list(services)}


def body(*services: Mapping[str, Any]) -> bytes:
    return json.dumps(catalog(*services)).encode()


def registration(name: str = "db", platform: Platform = Platform.CLOUD_FOUNDRY, **more: Any) -> Registration:
    fields = {"url": f"https://{name}.example.com", "username": "user", "api_version": "2.14"} | more
    return Registration(name=name, platform=platform, **fields)


def refresh(outcome: RefreshOutcome = RefreshOutcome.CHANGED, **more: Any) -> Refresh:
    return Refresh(**{"at": AT, "outcome": outcome, "platform": Platform.CLOUD_FOUNDRY} | more)


def read(content: bytes) -> BrokerCatalog:
    return BrokerCatalog(content, json.loads(content))


SMALL = body(service("s", "p"))


def add(registry: Registry, *names: str, content: bytes = SMALL, **more: Any) -> None:
    for name in names or ("db",):
        registry.add(registration(name, **more), read(content), refresh(RefreshOutcome.ADDED))


def execute(database: Path | str, statement: str, *values: object) -> None:
    """Let another program write to a database: a file of SQLite, or PostgreSQL by its URL."""
    if "://" not in str(database):
        with closing(sqlite3.connect(database, timeout=20)) as connection, connection:
            connection.execute(statement, values)
        return
    import psycopg

    with psycopg.connect(str(database).replace("+psycopg", ""), autocommit=True) as server:
        server.execute(statement.encode())


def names(values: Sequence[Any]) -> list[str]:
    return [value.name for value in values]
