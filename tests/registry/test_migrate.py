"""From the first schema to a second one, with data in it, while another process goes on using the database."""

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from osbctl.errors import RegistryError
from osbctl.platforms import State
from osbctl.registry import tables
from osbctl.registry.database import Database
from osbctl.registry.records import RetainedObject
from osbctl.registry.store import Registry
from tests.registry.make import AT, add, refresh

ROOT = Path(__file__).parents[2]
FIRST = """
CREATE TABLE osbctl_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT osbctl_version_pkc PRIMARY KEY (version_num));
INSERT INTO osbctl_version VALUES ('0001');
CREATE TABLE osbctl_brokers (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(100) NOT NULL, variable VARCHAR(100) NOT NULL,
    url TEXT NOT NULL, username TEXT NOT NULL, api_version VARCHAR(20) NOT NULL, platform VARCHAR(40) NOT NULL,
    etag TEXT NOT NULL, services INTEGER NOT NULL, plans INTEGER NOT NULL, kept_plans INTEGER NOT NULL,
    registered_at VARCHAR(20) NOT NULL, refreshed_at VARCHAR(20) NOT NULL, outcome VARCHAR(20) NOT NULL,
    revision INTEGER NOT NULL, catalog BLOB NOT NULL, previous BLOB, UNIQUE (name), UNIQUE (variable)
);
CREATE TABLE osbctl_kept (
    id INTEGER NOT NULL, broker_id INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (id),
    FOREIGN KEY(broker_id) REFERENCES osbctl_brokers (id) ON DELETE CASCADE
);
CREATE INDEX ix_osbctl_kept_broker_id ON osbctl_kept (broker_id);
"""
"""The tables of version 0001, as its migration made them. Never to be changed: there are such databases."""
OTHER = """
import sys
from osbctl.errors import OsbctlError
from osbctl.registry.store import Registry
from tests.registry.make import refresh
with Registry.open(sys.argv[1]) as registry:
    for line in sys.stdin:  # a refresh for each line, told once it is stored
        registry.store_refresh(registry.row("db"), refresh())
        print("stored", flush=True)
"""


def label(connection: sqlalchemy.Connection) -> None:
    """One more version: a column that is filled from what was there, and an index."""
    connection.exec_driver_sql("ALTER TABLE osbctl_brokers ADD label TEXT NOT NULL DEFAULT ''")
    connection.exec_driver_sql("UPDATE osbctl_brokers SET label = 'Broker ' || name")
    connection.exec_driver_sql("CREATE INDEX ix_osbctl_label ON osbctl_brokers (label)")


def fail(connection: sqlalchemy.Connection) -> None:
    label(connection)
    raise ZeroDivisionError


def described(file: Path) -> list[Any]:
    """The columns, references and indexes of each table, and whether ids are used again."""
    with closing(sqlite3.connect(file)) as connection:
        found: list[Any] = connection.execute(
            "SELECT name, sql LIKE '%AUTOINC%' FROM sqlite_master ORDER BY 1"
        ).fetchall()
        for table in ("osbctl_version", "osbctl_brokers", "osbctl_kept"):
            for facts in ("table_info", "foreign_key_list", "index_list"):
                found += connection.execute(f"PRAGMA {facts}({table})").fetchall()
    return found


def test_the_first_tables_become_those_that_the_program_uses(tmp_path: Path) -> None:
    old, new = tmp_path / "old.sqlite", tmp_path / "new.sqlite"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(FIRST)
    fill(str(old))
    fill(str(new))
    assert described(old) == described(new)
    assert len(described(new)) > 20
    assert state(str(old)) == state(str(new))


def fill(url: str) -> dict[str, Any]:
    with Registry.open(url) as registry:
        add(registry, "db", "other")
        kept = (RetainedObject("s", "gone", State.INACTIVE, AT, {"id": "gone", "name": "gone"}),)
        registry.store_refresh(registry.row("other"), refresh(), kept=kept)
    return state(url)


def state(url: str) -> dict[str, Any]:
    with Registry.open(url) as registry:
        return {name: registry.broker(name) for name in registry.names()}


def labels(url: str) -> list[str]:
    with closing(Database(url)) as database, database.reading() as connection:
        return list(connection.scalars(sqlalchemy.text("SELECT label FROM osbctl_brokers ORDER BY name")))


def test_what_was_stored_outlives_a_second_schema(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fill(url)
    monkeypatch.setitem(tables.STEPS, "0002", label)
    assert state(url) == before
    assert labels(url) == ["Broker db", "Broker other"]
    monkeypatch.undo()
    with pytest.raises(RegistryError, match="a newer osbctl made this database"):
        Registry.open(url)
    assert labels(url) == ["Broker db", "Broker other"]


def test_a_migration_that_fails_changes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fill(url)
    monkeypatch.setitem(tables.STEPS, "0002", fail)
    with pytest.raises(ZeroDivisionError):
        Registry.open(url)
    monkeypatch.undo()
    assert state(url) == before
    with pytest.raises(RegistryError, match="a column of it is missing"):
        labels(url)


def test_a_version_that_does_not_fit_its_tables_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(url)
    monkeypatch.setitem(tables.STEPS, "0002", tables.BROKERS.create)
    with pytest.raises(RegistryError, match="the version of the database does not fit its tables") as error:
        Registry.open(url)
    assert error.value.advice == "restore it from a backup"


def test_another_process_stores_on_while_several_migrate(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fill(url)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    other = subprocess.Popen(
        [sys.executable, "-c", OTHER, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert other.stdin
    assert other.stdout
    try:
        other.stdin.write("\n" * 30)
        other.stdin.flush()
        # It is in the midst of it. Not readline(), which reads ahead what communicate() then does not see.
        assert os.read(other.stdout.fileno(), 7) == b"stored\n"
        monkeypatch.setitem(tables.STEPS, "0002", label)
        with ThreadPoolExecutor(3) as pool:
            opened = list(pool.map(names, [url] * 3, timeout=60))
        rest, _ = other.communicate(timeout=60)
    finally:
        other.kill()
        other.wait()
    assert (other.returncode, rest.count("stored")) == (0, 29)
    assert opened == [["db", "other"]] * 3
    after = state(url)
    assert after["other"] == before["other"]
    assert after["db"].row.revision == 31
    assert labels(url) == ["Broker db", "Broker other"]


def names(url: str) -> list[str]:
    with Registry.open(url) as registry:
        return registry.names()
