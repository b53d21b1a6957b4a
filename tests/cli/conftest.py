"""The certificate authority that the broker's tests have, and a folder with commands."""

from pathlib import Path

import pytest

from tests.broker.conftest import authority as authority
from tests.cli.machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
