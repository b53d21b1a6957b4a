"""Brokers that other people wrote: openbrokerapi, the one that PyPI has, on Flask's server and on waitress."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from osbctl.conformance.check import check_broker
from osbctl.findings import Severity
from osbctl.sources.broker import Access
from tests.broker.harness import until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("openbrokerapi")
PROGRAM = str(Path(__file__).with_name("openbroker_program.py"))
SAID = {
    ("wire-plain-http", Severity.WARNING),
    ("wire-request-identity", Severity.INFO),
    ("wire-version-status", Severity.INFO),
    ("wire-error-body", Severity.WARNING),
}


@contextmanager
def running(server: str, log: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, PROGRAM, server, str(port)], stdout=out, stderr=out)

    def answers() -> bool:
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", port)) == 0

    try:
        assert until(answers, 20), log.read_text()
        yield f"http://127.0.0.1:{port}/v2/catalog"
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.parametrize("server", ["flask", "waitress"])
def test_what_is_said_of_it(server: str, tmp_path: Path) -> None:
    with running(server, tmp_path / "log") as address:
        checked = check_broker(address, Access(user="platform", password="correct-horse"))
    assert {(finding.rule, finding.severity) for finding in checked.findings} == SAID
    assert checked.catalog
    told = [finding.message for finding in checked.findings if finding.rule == "wire-error-body"]
    assert [message.split(":")[0] for message in told] == ["POST /v2/catalog", "GET /v2/osbctl-check"]
