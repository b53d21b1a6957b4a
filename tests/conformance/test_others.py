"""Brokers that other people wrote, the two that PyPI has: openbrokerapi, and Yellow Pages' broker for MongoDB Atlas."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from osbctl.client.connection_options import ConnectionOptions
from osbctl.conformance.check import check_broker
from osbctl.findings import Severity
from tests.broker.harness import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.conformance.check import CheckResult

HERE = Path(__file__).parent
OPTIONS = ConnectionOptions(user="platform", password="correct-horse")
ALIKE = {
    ("wire-plain-http", Severity.WARNING),
    ("wire-version-status", Severity.INFO),
}
"""Results common to both: the one is built with the other."""


@contextmanager
def running(program: str, how: str, log: Path) -> Iterator[str]:
    """The address of a program's broker; `how` is its option."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, str(HERE / program), how, str(port)], stdout=out, stderr=out)

    def answers() -> bool:
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", port)) == 0

    try:
        assert until(answers, 20), log.read_text()
        yield f"http://127.0.0.1:{port}/v2/catalog"
    finally:
        process.terminate()
        process.wait(10)


def said(checked: CheckResult) -> set[tuple[str, Severity]]:
    return {(finding.rule, finding.severity) for finding in checked.findings}


@pytest.mark.parametrize("server", ["flask", "waitress"])
def test_openbrokerapi(server: str, tmp_path: Path) -> None:
    pytest.importorskip("openbrokerapi")
    with running("openbroker_program.py", server, tmp_path / "log") as address:
        checked = check_broker(address, OPTIONS)
    assert said(checked) == ALIKE | {("wire-request-identity", Severity.INFO)}
    assert checked.catalog


def test_atlasbroker_as_its_readme_starts_it(tmp_path: Path) -> None:
    """It hands a list to openbrokerapi, which takes no list any more: no platform can register it."""
    pytest.importorskip("atlasbroker")
    with running("atlas_program.py", "published", tmp_path / "log") as address:
        checked = check_broker(address, OPTIONS)
    assert said(checked) == ALIKE | {("wire-status", Severity.ERROR)}
    assert checked.catalog is None


def test_atlasbroker_mended(tmp_path: Path) -> None:
    """It requires no password."""
    pytest.importorskip("atlasbroker")
    with running("atlas_program.py", "mended", tmp_path / "log") as address:
        checked = check_broker(address, OPTIONS)
    assert said(checked) == ALIKE | {("wire-request-identity", Severity.INFO), ("wire-open", Severity.ERROR)}
    assert checked.catalog
    assert b"atlas-mongodb-cluster" in checked.catalog
