"""The same tests against SQLite and a real PostgreSQL."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from osbctl.registry import tables
from osbctl.registry.database import Database
from osbctl.registry.store import Registry
from tests.registry import postgres
from tests.registry.make import empty_database


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[postgres.Cluster]:
    folder = postgres.programs()
    if folder is None:
        pytest.skip("no PostgreSQL here: neither on PATH nor in /usr/lib/postgresql")
    ours = tmp_path_factory.getbasetemp()
    shared = ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours
    with postgres.cluster(folder, shared) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def with_tables(cluster: postgres.Cluster) -> Iterator[tuple[str, Database]]:
    """A database of PostgreSQL with all tables: its URL, and the connections that stay open from test to test."""
    url = cluster.create()
    database = Database(url, wait_seconds=5)
    tables.make_table(database)
    yield url, database
    database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database; for the fixture `registry`, with tables."""
    has_tables = "registry" in request.fixturenames
    if request.param == "sqlite":
        file = tmp_path / "brokers.sqlite"
        if has_tables:
            file.write_bytes(empty_database())
        return str(file)
    if has_tables:
        found: str = request.getfixturevalue("with_tables")[0]
        return found
    cluster: postgres.Cluster = request.getfixturevalue("cluster")
    return cluster.empty()


@pytest.fixture
def registry(url: str, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """An empty registry."""
    if "://" not in url:
        with Registry.open(url, wait_seconds=5) as registry:
            yield registry
        return
    database: Database = request.getfixturevalue("with_tables")[1]
    with database.writing() as connection:
        connection.execute(sqlalchemy.delete(tables.BROKERS))
    yield Registry(database)
