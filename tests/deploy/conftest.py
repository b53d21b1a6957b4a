"""The certificates of the broker's tests, and a credentials file."""

from pathlib import Path

import pytest

from osbctl.credentials import make_record, write_record
from tests.broker.conftest import authority, pair, trust
from tests.deploy.harness import GOOD, repository
from tests.git import git

__all__ = ["authority", "credentials", "pair", "trust"]


@pytest.fixture(scope="session")
def credentials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record for platform:right."""
    file = tmp_path_factory.mktemp("credentials") / "credentials.json"
    write_record(file, make_record("platform", "right", rounds=1000))
    return file


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone as a runner makes it: `catalog.yaml`, and only the last commit."""
    origin = repository(tmp_path / "origin", {"catalog.yaml": GOOD})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{origin}", "clone")
    return tmp_path / "clone"
