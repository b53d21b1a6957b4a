"""From the first schema to a second one, with data in it, while another process goes on using the database."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
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
SECOND = '''
"""One more schema: a column that is filled from what was there, and an index."""
import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.add_column("osbctl_brokers", sa.Column("label", sa.Text, nullable=False, server_default=""))
    op.execute("UPDATE osbctl_brokers SET label = 'Broker ' || name")
    op.create_index("ix_osbctl_label", "osbctl_brokers", ["label"])
'''
BROKEN = SECOND.replace('["label"])', "[1 / 0])")
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


@pytest.fixture
def second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of one more migration, beside the others, as a newer osbctl has it once `NEWEST` says so."""
    folder = tmp_path / "migrations 100%"
    shutil.copytree(tables.FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(tables, "FOLDER", folder)
    return folder / "versions" / "0002_labels.py"


def become_newer(second: Path, monkeypatch: pytest.MonkeyPatch, text: str = SECOND) -> None:
    second.write_text(text)
    monkeypatch.setattr(tables, "NEWEST", "0002")


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
    database = Database(url)
    try:
        with database.reading() as connection:
            return list(connection.scalars(sqlalchemy.text("SELECT label FROM osbctl_brokers ORDER BY name")))
    finally:
        database.close()


def test_what_was_stored_outlives_a_second_schema(url: str, second: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fill(url)
    become_newer(second, monkeypatch)
    assert state(url) == before
    assert labels(url) == ["Broker db", "Broker other"]
    monkeypatch.undo()
    with pytest.raises(RegistryError, match="a newer osbctl made this database"):
        Registry.open(url)
    assert labels(url) == ["Broker db", "Broker other"]


def test_a_migration_that_fails_changes_nothing(url: str, second: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fill(url)
    become_newer(second, monkeypatch, BROKEN)
    with pytest.raises(ZeroDivisionError):
        Registry.open(url)
    second.unlink()
    monkeypatch.setattr(tables, "NEWEST", "0001")
    assert state(url) == before
    with pytest.raises(RegistryError, match="a column of it is missing"):
        labels(url)


def test_a_version_that_does_not_fit_its_tables_is_told(
    tmp_path: Path, second: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = str(tmp_path / "brokers.sqlite")
    fill(url)
    become_newer(second, monkeypatch, SECOND.partition("op.add")[0] + 'op.create_table("osbctl_brokers")\n')
    with pytest.raises(RegistryError, match="the version of the database does not fit its tables") as error:
        Registry.open(url)
    assert error.value.advice == "restore it from a backup"


def test_another_process_stores_on_while_several_migrate(
    url: str, second: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        become_newer(second, monkeypatch)
        opened: list[list[str]] = []
        threads = [threading.Thread(target=lambda: opened.append(names(url))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
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
