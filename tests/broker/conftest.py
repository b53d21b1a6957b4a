"""Certificates for the session, and a broker for a test."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker.harness import Authority, Broker, running


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def pair(authority: Authority) -> tuple[Path, Path]:
    return authority.issue("broker")


@pytest.fixture(scope="session")
def trust(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.cert))


@pytest.fixture
def broker(trust: ssl.SSLContext, pair: tuple[Path, Path]) -> Iterator[Broker]:
    with running(trust, pair) as broker:
        yield broker


@pytest.fixture
def tls(pair: tuple[Path, Path]) -> dict[str, str]:
    return {"tls_cert": str(pair[0]), "tls_key": str(pair[1])}
