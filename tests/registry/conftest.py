"""The same tests against SQLite and a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from osbctl.registry.store import Registry
from tests.registry import postgres
from tests.registry.make import empty_database


@pytest.fixture(scope="session")
def cluster() -> Iterator[postgres.Cluster]:
    folder = postgres.programs()
    if folder is None:
        pytest.skip("no PostgreSQL here: neither on PATH nor in /usr/lib/postgresql")
    with postgres.cluster(folder) as cluster:
        yield cluster


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "brokers.sqlite")
    cluster: postgres.Cluster = request.getfixturevalue("cluster")
    return cluster.empty()


@pytest.fixture
def registry(url: str) -> Iterator[Registry]:
    if "://" not in url:
        Path(url).write_bytes(empty_database())
    with Registry.open(url, wait_seconds=5) as registry:
        yield registry
