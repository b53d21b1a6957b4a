"""One editor with a server for all tests that do not need one of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.editor import client


@pytest.fixture(scope="package")
def one_server() -> Iterator[None]:
    with asyncio.Runner() as runner:
        session = client.editing()
        client.SESSION.append((runner, runner.run(session.__aenter__())))
        yield
        runner.run(session.__aexit__(None, None, None))
        client.SESSION.clear()
