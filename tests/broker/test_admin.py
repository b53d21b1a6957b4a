"""The admin listener: accepted hosts, pages, and availability."""

import signal
import socket
import ssl
import threading
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from osbctl.broker.admin import AdminApp
from tests.broker.harness import GET, PATIENCE, ask, until
from tests.broker.processes import admin, over_tls, process


@pytest.mark.parametrize(("host", "status"), [
    ("127.0.0.1", 200),
    ("localhost:9090", 200),
    ("LOCALHOST", 200),
    ("[::1]:9090", 200),
    ("10.2.3.4:9090", 200),
    ("metrics.internal", 200),
    *((host, 421) for host in ("evil.example", "127.0.0.1.evil.example", "[evil]", "evillocalhost")),
    *((host, 421) for host in ("evil.metrics.internal", "metrics.internal.evil")),
])  # fmt: skip
def test_admin_listener_checks_the_host_header(host: str, status: int) -> None:
    shared, unused = SimpleNamespace(draining=False, threads=[]), SimpleNamespace()
    app = AdminApp(shared, unused, unused, ["metrics.internal"])  # type: ignore[arg-type]
    request = SimpleNamespace(command="GET", path="/readyz", headers={"HOST": host})
    phrase = {200: "OK", 421: "Misdirected Request"}[status]
    assert app(request).status == f"{status} {phrase}"


def test_admin_pages(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
    hosts, patient = ["metrics.internal"], {"drain_grace_seconds": 60}
    with process(tmp_path, **tls, admin_listen="127.0.0.1:0", admin_hosts=hosts, settings=patient) as broker:
        over_tls(trust, broker.port())
        port = broker.port("admin on")
        assert admin(port, "/livez") == admin(port, "/livez", "metrics.internal") == (200, b"ok\n")
        assert admin(port, "/readyz") == (200, b"ready\n")
        assert admin(port, "/v2/catalog")[0] == 404
        with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
            for method, status in (("POST", 405), ("PUT", 405), ("DELETE", 405), ("OPTIONS", 405), ("GET", 200)):
                head = f"{method} /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
                assert ask(sock, head.encode())[0] == status, method
        metrics = admin(port, "/metrics")[1].decode()
        assert 'osbctl_requests_total{status="200"} 1.0' in metrics
        assert 'osbctl_authentications_total{credential="main",result="accepted"} 1.0' in metrics
        assert "osbctl_certificate_days_left 19." in metrics
        assert "osbctl_request_duration_seconds_count 1.0" in metrics
        with socket.create_connection(("127.0.0.1", broker.port())) as raw:
            half = trust.wrap_socket(raw, server_hostname="localhost")
            half.sendall(GET[:10])
            broker.process.send_signal(signal.SIGTERM)
            assert until(lambda: admin(port, "/readyz") == (503, b"draining\n"))
            half.sendall(GET[10:])
            half.close()
        assert broker.process.wait(PATIENCE) == 0


def test_broker_is_not_ready_without_a_thread() -> None:
    alive, dead = threading.current_thread(), threading.Thread(name="reload")
    shared = SimpleNamespace(draining=False, threads=[alive])
    app = AdminApp(shared, SimpleNamespace(), SimpleNamespace(), [])  # type: ignore[arg-type]
    request = SimpleNamespace(command="GET", path="/readyz", headers={})
    assert app(request).status == "200 OK"
    shared.threads.append(dead)
    assert app(request)[::2] == ("503 Service Unavailable", b"the thread 'reload' has ended\n")


def test_threads_of_the_service_are_watched(tmp_path: Path, tls: dict[str, str]) -> None:
    """Of the authenticator (it stands for one here), of the log writer and of the watcher."""
    with process(tmp_path, **tls, admin_listen="127.0.0.1:0", threads_end=True) as broker:
        port = broker.port("admin on")
        assert until(lambda: admin(port, "/readyz") == (503, b"the thread 'a stand-in' has ended\n"))


def test_probe_is_answered_at_the_connection_limit(tmp_path: Path, tls: dict[str, str]) -> None:
    told = {"connections": 20, "handshake_seconds": 10_000}
    with process(tmp_path, **tls, admin_listen="127.0.0.1:0", settings=told) as broker, ExitStack() as held:
        for _ in range(60):
            held.enter_context(socket.create_connection(("127.0.0.1", broker.port()), timeout=PATIENCE))
        assert admin(broker.port("admin on"), "/livez") == (200, b"ok\n")
