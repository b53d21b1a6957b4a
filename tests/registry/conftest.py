"""The same tests against SQLite and a real PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from osbctl.registry.store import Registry
from tests.registry import postgres


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[postgres.Cluster]:
    folder = postgres.programs()
    if folder is None:
        pytest.skip("no PostgreSQL here: neither on PATH nor in /usr/lib/postgresql")
    with postgres.cluster(folder, tmp_path_factory.getbasetemp()) as cluster:
        yield cluster


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database."""
    if request.param == "sqlite":
        yield str(tmp_path / "brokers.sqlite")
        return
    cluster: postgres.Cluster = request.getfixturevalue("cluster")
    url = cluster.create()
    yield url
    cluster.empty(url)


@pytest.fixture
def registry(url: str) -> Iterator[Registry]:
    """An empty registry."""
    with Registry.open(url, wait_seconds=5) as registry:
        yield registry
