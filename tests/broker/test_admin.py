"""The admin listener: accepted hosts, pages, and availability."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from osbctl.broker.admin import AdminApp
from osbctl.broker.shared_state import ProcessStatus, Stats
from osbctl.credentials.file import write_record
from osbctl.credentials.record import make_record
from tests.broker.harness import GET, ask, until
from tests.broker.processes import admin, over_tls, process
from tests.deploy.harness import ROOT
from tests.deploy.running import ask as platform_asks
from tests.deploy.running import serving


@pytest.mark.parametrize(("host", "status"), [
    ("127.0.0.1", 200),
    ("localhost:9090", 200),
    ("LOCALHOST", 200),
    ("[::1]:9090", 200),
    ("10.2.3.4:9090", 200),
    ("metrics.internal", 200),
    ("evil.example", 421),
    ("127.0.0.1.evil.example", 421),
    ("[evil]", 421),
])  # fmt: skip
def test_admin_listener_checks_the_host_header(host: str, status: int) -> None:
    app = AdminApp(lambda: ProcessStatus(Stats()), ["metrics.internal"])
    request = SimpleNamespace(command="GET", path="/readyz", headers={"HOST": host})
    phrase = {200: "OK", 421: "Misdirected Request"}[status]
    assert app(request).status == f"{status} {phrase}"


def test_similar_host_names_are_refused(tmp_path: Path) -> None:
    ours = "metrics.internal"
    with process(tmp_path, insecure_http=True, admin_listen="127.0.0.1:0", admin_hosts=[ours]) as broker:
        for host, status in ((ours, 200), (f"evil.{ours}", 421), (f"{ours}.evil", 421), ("evillocalhost", 421)):
            with socket.create_connection(("127.0.0.1", broker.port("admin on")), timeout=10) as sock:
                assert ask(sock, f"GET /livez HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())[0] == status, host


def test_admin_pages(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
    with process(tmp_path, **tls, admin_listen="127.0.0.1:0") as broker:
        over_tls(trust, broker.port())
        port = broker.port("admin on")
        assert admin(port, "/livez") == (200, b"ok\n")
        assert admin(port, "/readyz") == (200, b"ready\n")
        assert admin(port, "/v2/catalog")[0] == 404
        metrics = admin(port, "/metrics")[1].decode()
        assert 'osbctl_requests_total{status="200"} 1.0' in metrics
        assert 'osbctl_authentications_total{credential="main",result="accepted"} 1.0' in metrics
        assert "osbctl_certificate_days_left 19." in metrics
        assert 'osbctl_request_duration_seconds_bucket{le="+Inf"} 1.0' in metrics
        with socket.create_connection(("127.0.0.1", broker.port())) as raw:
            half = trust.wrap_socket(raw, server_hostname="localhost")
            half.sendall(GET[:10])
            time.sleep(0.1)
            broker.process.send_signal(signal.SIGTERM)
            assert until(lambda: admin(port, "/readyz") == (503, b"draining\n"))
            half.sendall(GET[10:])
            half.close()
        assert broker.process.wait(10) == 0


def test_admin_port_without_host_is_on_loopback(tmp_path: Path, tls: dict[str, str]) -> None:
    for address in (":0", "0"):
        with process(tmp_path, **tls, admin_listen=address) as broker:
            assert "admin on http://127.0.0.1:" in broker.log
            assert admin(broker.port("admin on"), "/livez") == (200, b"ok\n")


def test_probe_is_answered_at_the_connection_limit(tmp_path: Path, tls: dict[str, str]) -> None:
    told = {"connections": 20, "handshake_seconds": 30}
    with process(tmp_path, **tls, admin_listen="127.0.0.1:0", settings=told) as broker, ExitStack() as held:
        for _ in range(60):
            held.enter_context(socket.create_connection(("127.0.0.1", broker.port()), timeout=5))
        began = time.monotonic()
        assert admin(broker.port("admin on"), "/livez") == (200, b"ok\n")
        assert time.monotonic() - began < 15  # not the deadline of handshakes


def test_readyz_reports_a_hung_hashing_process(tmp_path: Path, pair: tuple[Path, Path], trust: ssl.SSLContext) -> None:
    """The real command: requests get 503 meanwhile, and are not cut."""
    record = tmp_path / "credentials.json"
    write_record(record, make_record("platform", "right", rounds=1000))
    options = [str(ROOT / "catalogs/interface-example.json"), "--credentials", str(record), "--port", "0"]
    options += ["--tls-cert", str(pair[0]), "--tls-key", str(pair[1]), "--admin-listen", "127.0.0.1:0"]
    with serving(tmp_path, *options) as broker:
        port, (hashing,) = broker.port("admin on"), children(broker.process.pid)
        assert admin(port, "/readyz") == (200, b"ready\n")
        os.kill(hashing, signal.SIGSTOP)
        statuses: list[int] = []
        newcomer = threading.Thread(target=lambda: statuses.append(platform_asks(broker.port(), trust)[0]))
        newcomer.start()
        assert until(lambda: admin(port, "/readyz") == (503, b"the hashing process does not answer\n"), 10)
        assert admin(port, "/livez") == (200, b"ok\n")
        newcomer.join(10)
        assert statuses == [503]
        assert until(lambda: admin(port, "/readyz") == (200, b"ready\n"), 20)
        assert children(broker.process.pid) != [hashing]
        assert platform_asks(broker.port(), trust)[0] == 200


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
