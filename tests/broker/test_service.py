"""Everything together in one process: real credentials, real answers, TLS."""

from __future__ import annotations

import base64
import re
import signal
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from tests.broker.harness import ask, until

pytest.importorskip("osbctl.broker.answers")
pytest.importorskip("osbctl.credentials.reading")

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, sys
from pathlib import Path
from osbctl.broker import logs
from osbctl.broker.options import ServeOptions
from osbctl.broker.serve import serve
from osbctl.broker.service import LoadedCatalog, Sources, prepare
from osbctl.credentials.reading import read_credentials

folder = Path(sys.argv[1])
catalog, credentials = folder / "catalog.json", folder / "credentials.json"
logs.set_up("text")
sources = Sources(
    lambda: LoadedCatalog(catalog.read_bytes(), 1, 2, catalog.stat().st_mtime),
    lambda: read_credentials(credentials),
    lambda: [catalog],
    lambda: [credentials],
)
sys.exit(serve(ServeOptions(port=0, self_signed=True), prepare(sources), os.environ))
"""


def request(password: str) -> bytes:
    basic = base64.b64encode(f"platform:{password}".encode())
    head = b"GET //v2/catalog HTTP/1.1\r\nHost: b\r\nX-Broker-API-Version: 2.17\r\nAuthorization: Basic "
    return head + basic + b"\r\n\r\n"


def test_the_whole_broker(tmp_path: Path) -> None:
    from osbctl.credentials.hashing import make_record
    from osbctl.credentials.writing import write_record

    (tmp_path / "catalog.json").write_bytes(b'{"services": []}')
    write_record(tmp_path / "credentials.json", make_record("platform", "right", rounds=5000))
    with (tmp_path / "log").open("w") as log:
        command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
        started = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)
    try:
        text = (tmp_path / "log").read_text
        assert until(lambda: "credentials: platform" in text() or started.poll() is not None, 10), text()
        port = re.search(r"listening on https://127.0.0.1:(\d+)", text())
        assert port
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with _connect(context, int(port[1])) as sock:
            for password, status in (("right", 200), ("wrong", 401), ("right", 200)):
                assert ask(sock, request(password))[0] == status
        started.send_signal(signal.SIGTERM)
        assert started.wait(10) == 0
        assert "serving 1 service with 2 plans" in text()
        assert text().count('credential="platform"') == 2
        assert "right" not in text().replace("platform", "")
    finally:
        started.kill()
        started.wait(10)


def _connect(context: ssl.SSLContext, port: int) -> ssl.SSLSocket:
    import socket

    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=10))
