"""Brokers that other people wrote, the two that PyPI has: openbrokerapi, and Yellow Pages' broker for MongoDB Atlas."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from osbctl.client.connection_options import ConnectionOptions
from osbctl.conformance.check import check_broker
from osbctl.findings import Severity
from tests.broker.harness import until

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).with_name("others_program.py")
OPTIONS = ConnectionOptions(user="platform", password="correct-horse")
ALIKE = {("wire-plain-http", Severity.WARNING), ("wire-version-status", Severity.INFO)}
"""Findings of all: the one is made with the other."""
IDENTITY = ("wire-request-identity", Severity.INFO)
OPEN = ("wire-open", Severity.ERROR)
EXPECTED = {
    "openbrokerapi with Flask's server": ({IDENTITY}, b"A small one."),
    "openbrokerapi with waitress": ({IDENTITY}, b"A small one."),
    # It hands a list to openbrokerapi, which no longer accepts one: no platform can register it.
    "atlasbroker as its README starts it": ({("wire-status", Severity.ERROR)}, None),
    # It accepts requests without a password.
    "atlasbroker as it must be started": ({IDENTITY, OPEN}, b"atlas-mongodb-cluster"),
}
"""The other findings of each broker of the program, in its order, and a part of its catalog."""


@contextmanager
def running(log: Path) -> Iterator[list[str]]:
    """The addresses of the program's brokers."""
    with ExitStack() as probes:
        free = [probes.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in EXPECTED]
        ports = [probe.getsockname()[1] for probe in free]
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, PROGRAM, *map(str, ports)], stdout=out, stderr=out)

    def answers(port: int) -> bool:
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", port)) == 0

    try:
        assert until(lambda: all(map(answers, ports)), 20), log.read_text()
        yield [f"http://127.0.0.1:{port}/v2/catalog" for port in ports]
    finally:
        process.terminate()
        process.wait(10)


def test_brokers_of_others(tmp_path: Path) -> None:
    pytest.importorskip("openbrokerapi")
    pytest.importorskip("atlasbroker")
    with running(tmp_path / "log") as addresses:
        for (name, (more, part)), address in zip(EXPECTED.items(), addresses, strict=True):
            checked = check_broker(address, OPTIONS)
            assert {(finding.rule, finding.severity) for finding in checked.findings} == ALIKE | more, name
            assert (part in checked.catalog) if checked.catalog and part else (checked.catalog is part), name
