"""One editor with a server for all tests that do not need one of their own."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editor import client
from tests.folders import catalogs_folder


@pytest.fixture(scope="package")
def one_server() -> Iterator[None]:
    with asyncio.Runner() as runner:
        session = client.editing()
        client.SESSION.append((runner, runner.run(session.__aenter__())))
        yield
        runner.run(session.__aexit__(None, None, None))
        client.SESSION.clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example of a source folder."""
    return Path(shutil.copytree(catalogs_folder() / "source", tmp_path / "source"))
