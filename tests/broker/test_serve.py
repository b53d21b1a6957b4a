"""The whole service as a process: signals, reloads, logs, inherited sockets, the admin listener."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from osbctl.broker import self_signed
from osbctl.broker.admin import AdminApp
from osbctl.broker.options import ServeOptions
from osbctl.broker.stats import Standing, Stats
from osbctl.broker.tls import Certificate, Tls
from osbctl.errors import UsageError
from tests.broker.harness import GET, Authority, ask, until

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = str(Path(__file__).with_name("serve_program.py"))
ADMIN = "GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


class Process:
    def __init__(self, tmp_path: Path, told: dict[str, Any], wrap: tuple[str, ...]) -> None:
        self.file = tmp_path / "catalog.json"
        self.file.write_bytes(b"one")
        self.out, self.err = tmp_path / "out", tmp_path / "err"
        told = {"file": str(self.file), "port": 0, "settings": {"reload_seconds": 0.05}, **told}
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen([*wrap, sys.executable, PROGRAM, json.dumps(told)], stdout=out, stderr=err)
        assert until(lambda: "1 service" in self.log or self.process.poll() is not None, 10), self.log

    @property
    def log(self) -> str:
        return self.err.read_text()

    def port(self, what: str = "listening on") -> int:
        found = re.search(what + r" https?://[^ \n]+:(\d+)", self.log)
        assert found, self.log
        return int(found[1])

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(10)


@contextmanager
def process(tmp_path: Path, wrap: tuple[str, ...] = (), **told: Any) -> Iterator[Process]:
    started = Process(tmp_path, told, wrap)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait(10)


@pytest.fixture
def tls(pair: tuple[Path, Path]) -> dict[str, str]:
    return {"tls_cert": str(pair[0]), "tls_key": str(pair[1])}


def over_tls(trust: ssl.SSLContext, port: int) -> tuple[int, dict[str, str], bytes]:
    raw = socket.create_connection(("127.0.0.1", port), timeout=10)
    with trust.wrap_socket(raw, server_hostname="localhost") as sock:
        return ask(sock)


def admin(port: int, path: str) -> tuple[int, bytes]:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        status, _, body = ask(sock, ADMIN.format(path).encode())
    return status, body


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_starts_says_what_and_ends_with_0(
    tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str], number: int
) -> None:
    with process(tmp_path, **tls) as broker:
        assert over_tls(trust, broker.port())[2] == b"one"
        assert broker.end(number) == 0
        assert "the certificate lasts 19 days" in broker.log
        line = broker.out.read_text()
        assert re.fullmatch(r'\S+Z 127\.0\.0\.1 "GET /v2/catalog" 200 3 [\d.]+ms credential="main"\n', line)


def test_the_catalog_is_reloaded_and_a_bad_one_is_not(
    tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]
) -> None:
    with process(tmp_path, **tls, log_format="json") as broker:
        broker.file.write_bytes(b"bad")
        assert until(lambda: "the catalog is bad" in broker.log)
        assert over_tls(trust, broker.port())[2] == b"one"
        broker.file.write_bytes(b"two")
        assert until(lambda: over_tls(trust, broker.port())[2] == b"two")
        before = broker.log.count("catalog was reloaded")
        broker.process.send_signal(signal.SIGHUP)
        assert until(lambda: broker.log.count("catalog was reloaded") > before)
        assert broker.end() == 0
        assert all(json.loads(line)["event"] == "log" for line in broker.log.splitlines())
        entry = json.loads(broker.out.read_text().splitlines()[0])
        assert (entry["path"], entry["status"], entry["credential"]) == ("/v2/catalog", 200, "main")


def test_the_certificate_is_reloaded(tmp_path: Path, authority: Authority, trust: ssl.SSLContext) -> None:
    cert, key = authority.issue("served")
    with process(tmp_path, tls_cert=str(cert), tls_key=str(key)) as broker:
        cert.write_text("broken")
        assert until(lambda: "the new certificate is not used" in broker.log)
        assert over_tls(trust, broker.port())[0] == 200
        authority.issue("served", days=9)
        assert until(lambda: "the certificate lasts 8 days" in broker.log)
        assert over_tls(trust, broker.port())[0] == 200


def test_an_expired_certificate_does_not_replace_a_good_one(
    tmp_path: Path, authority: Authority, trust: ssl.SSLContext
) -> None:
    cert, key = authority.issue("expiring", days=9)
    told = {"tls_cert": str(cert), "tls_key": str(key), "admin_listen": "127.0.0.1:0"}
    with process(tmp_path, **told) as broker:
        authority.issue("expiring", days=-0.01)
        assert until(
            lambda: "the new certificate is not used, the old one stays: the certificate expired" in broker.log
        )
        assert over_tls(trust, broker.port())[0] == 200
        assert admin(broker.port("admin on"), "/readyz") == (200, b"ready, but the certificate lasts 8 days\n")
    with process(tmp_path, **told) as broker:  # whoever starts with one is told, and served
        assert "ERROR the certificate expired on" in broker.log
        assert admin(broker.port("admin on"), "/readyz") == (200, b"ready, but the certificate has expired\n")


def test_the_end_of_a_certificate_is_told_once_a_day_and_when_it_comes(caplog: pytest.LogCaptureFixture) -> None:
    certificate = Certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), datetime(2030, 1, 31, 12, tzinfo=UTC))
    served = Tls(certificate)
    with pytest.MonkeyPatch.context() as patch:
        for days in (20.0, 14.1, 13.9, 13.2, 12.9, 0.1, -0.1, -0.2, -1.1):
            patch.setattr(Certificate, "days_left", lambda _, days=days: days)
            served.remind()
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3 + ["ERROR"] * 2
    assert "the certificate lasts 13 days, until 2030-01-31 12:00 UTC" in caplog.text
    assert "the certificate expired on 2030-01-31 12:00 UTC" in caplog.text


def test_files_with_secrets_that_others_may_read_are_told_and_served(tmp_path: Path, authority: Authority) -> None:
    cert, key = authority.issue("open")
    key.chmod(0o644)
    with process(tmp_path, tls_cert=str(cert), tls_key=str(key)) as broker:
        said = f"other users may read or change {key} (mode 0644): chmod 640 {key}"
        assert broker.log.count(said) == 1
        key.chmod(0o640)
        assert until(lambda: "the certificate was reloaded" in broker.log)
        assert broker.log.count(said) == 1
        assert broker.end() == 0


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("localhost:9090", 200),
        ("LOCALHOST", 200),
        ("[::1]:9090", 200),
        ("10.2.3.4:9090", 200),
        ("metrics.internal", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("[evil]", 421),
    ],
)
def test_the_admin_listener_is_asked_by_its_own_names_only(host: str, status: int) -> None:
    seen: list[str] = []
    app = AdminApp(lambda: Standing(Stats()), ["metrics.internal"])
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/readyz", "HTTP_HOST": host}
    app(environ, lambda line, _: seen.append(line))
    assert int(seen[0][:3]) == status


def test_the_admin_listener(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
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


@contextmanager
def full_pipe() -> Iterator[tuple[int, int]]:
    """A pipe's end to write to, and one to fill it by: what is set of the second is not set of the first."""
    reading, writing = os.pipe()
    filling = os.open(f"/proc/self/fd/{writing}", os.O_WRONLY | os.O_NONBLOCK)
    try:
        yield writing, filling
    finally:
        for descriptor in (reading, writing, filling):
            os.close(descriptor)


def fill(descriptor: int) -> None:
    with suppress(BlockingIOError):
        while os.write(descriptor, b"x" * 512):
            pass


def test_pipes_that_nobody_reads_stop_neither_serving_nor_reloading_nor_the_end(
    tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]
) -> None:
    file = tmp_path / "catalog.json"
    file.write_bytes(b"one")
    with socket.socket() as listener, full_pipe() as (out, fill_out), full_pipe() as (err, fill_err):
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        listener.close()
        fill(fill_out)
        fill(fill_err)
        told = {"file": str(file), "port": port, "settings": {"reload_seconds": 0.05}, **tls}
        started = subprocess.Popen([sys.executable, PROGRAM, json.dumps(told)], stdout=out, stderr=err)
        try:
            assert until(lambda: over_tls_or_none(trust, port), 10)
            for body in (b"bad", b"two", b"bad", b"three"):
                file.write_bytes(body)
                time.sleep(0.2)
            assert until(lambda: over_tls(trust, port)[2] == b"three")
            started.terminate()
            assert started.wait(10) == 0
        finally:
            started.kill()
            started.wait(10)


def over_tls_or_none(trust: ssl.SSLContext, port: int) -> object:
    try:
        return over_tls(trust, port)
    except OSError:
        return None


def test_a_crowd_does_not_keep_a_probe_away(tmp_path: Path, tls: dict[str, str]) -> None:
    told = {"connections": 20, "handshake_seconds": 30}
    with process(tmp_path, **tls, admin_listen="127.0.0.1:0", settings=told) as broker, ExitStack() as held:
        for _ in range(60):
            held.enter_context(socket.create_connection(("127.0.0.1", broker.port()), timeout=5))
        began = time.monotonic()
        assert admin(broker.port("admin on"), "/livez") == (200, b"ok\n")
        assert time.monotonic() - began < 1


def test_a_unix_socket_behind_a_proxy(tmp_path: Path) -> None:
    path = tmp_path / "sock"
    with process(tmp_path, unix_socket=str(path)) as broker, socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(path))
        assert ask(sock, GET[:-2] + b"X-Forwarded-Proto: https\r\n\r\n")[2] == b"one"
        assert broker.end() == 0
        assert not path.exists()


def test_a_self_signed_key_is_on_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a folder for temporary files")

    monkeypatch.setattr(self_signed.tempfile, "TemporaryDirectory", refuse)
    certificate, pem = self_signed.self_signed()
    assert 29 < certificate.days_left() < 31
    assert "PRIVATE" not in pem


def test_a_self_signed_key_where_there_are_no_files_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    assert 29 < self_signed.self_signed()[0].days_left() < 31


def test_self_signed_and_insecure(tmp_path: Path) -> None:
    for way in ("self_signed", "insecure_http"):
        with process(tmp_path, **{way: True}) as broker:
            raw = socket.create_connection(("127.0.0.1", broker.port()), timeout=5)
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            with context.wrap_socket(raw) if way == "self_signed" else raw as sock:
                assert ask(sock)[2] == b"one"
            assert ("INSECURE" in broker.log) == (way == "insecure_http")


@contextmanager
def handed_over(
    tmp_path: Path, listener: socket.socket, *, ended: int = 0, **told: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """The program started as systemd starts it: with a socket that listens already."""
    starter = (
        "import os, sys; os.dup2(int(sys.argv[1]), 3); os.set_inheritable(3, True);"
        "os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()));"
        "os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
    )
    file = tmp_path / "catalog.json"
    file.write_bytes(b"one")
    command = [sys.executable, "-c", starter, str(listener.fileno())]
    command += [PROGRAM, json.dumps({"file": str(file), "port": 1, **told})]
    log = tmp_path / "err"
    with log.open("wb") as err:
        started = subprocess.Popen(command, pass_fds=[listener.fileno()], stdout=err, stderr=err)
    try:
        assert until(lambda: "1 service" in log.read_text() or started.poll() is not None, 20), log.read_text()
        yield started
    finally:
        if not ended:
            started.terminate()
        assert started.wait(20) == ended


@dataclass
class Load:
    """Clients of one port, each in a thread until `ended`; a kept connection is asked five times."""

    trust: ssl.SSLContext
    port: int
    ended: threading.Event = field(default_factory=threading.Event)
    pids: list[str] = field(default_factory=list)
    lost: list[Exception] = field(default_factory=list)

    def _ask(self) -> None:
        while not self.ended.is_set():
            try:
                raw = socket.create_connection(("127.0.0.1", self.port), timeout=20)
                with self.trust.wrap_socket(raw, server_hostname="localhost") as sock:
                    for _ in range(5):
                        headers = ask(sock)[1]
                        self.pids.append(headers["x-pid"])
                        if headers.get("connection") == "close":
                            break
            except (OSError, EOFError) as error:
                self.lost.append(error)

    @contextmanager
    def running(self, clients: int) -> Iterator[None]:
        threads = [threading.Thread(target=self._ask) for _ in range(clients)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.ended.set()
            for thread in threads:
                thread.join(30)


def test_a_socket_from_systemd(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with handed_over(tmp_path, listener, **tls):
            assert over_tls(trust, listener.getsockname()[1])[2] == b"one"


def test_two_processes_on_one_socket_are_restarted_under_load_without_a_loss(
    tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]
) -> None:
    with socket.socket() as listener, ExitStack() as stack:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)

        def start(name: str) -> subprocess.Popen[bytes]:
            folder = tmp_path / name
            folder.mkdir()
            return stack.enter_context(handed_over(folder, listener, **tls))

        load, first = Load(trust, listener.getsockname()[1]), [start("one"), start("two")]
        with load.running(4):
            assert until(lambda: {str(process.pid) for process in first} <= set(load.pids), 20), "both have a share"
            for number, process in enumerate(first):
                process.terminate()
                assert process.wait(20) == 0
                fresh = start(f"new {number}")
                assert until(lambda pid=str(fresh.pid): pid in load.pids, 20)
        assert load.lost == []


def test_a_unix_socket_from_systemd_stays(tmp_path: Path) -> None:
    path = tmp_path / "handed"
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as sock:
        listener.bind(str(path))
        listener.listen()
        with handed_over(tmp_path, listener, unix_socket=str(path)):
            sock.connect(str(path))
            assert ask(sock, GET[:-2] + b"X-Forwarded-Proto: https\r\n\r\n")[2] == b"one"
        assert path.exists(), "it is the one's who made it"


def test_a_port_that_is_taken_is_said_in_a_sentence(tmp_path: Path, tls: dict[str, str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with process(tmp_path, **{**tls, "port": taken.getsockname()[1]}) as broker:
            assert broker.process.wait(10) == 3
            assert "cannot listen on 127.0.0.1" in broker.log
            assert "Traceback" not in broker.log


@pytest.mark.parametrize("way", ["insecure_http", "self_signed"])
@pytest.mark.parametrize("address", ["0.0.0.0", "::", "::ffff:0.0.0.0"])
def test_what_is_for_trying_out_stays_on_loopback(tmp_path: Path, way: str, address: str) -> None:
    """Wherever the socket comes from: `--host` says 127.0.0.1 here."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as listener:
        listener.bind((address, 0))
        listener.listen()
        with handed_over(tmp_path, listener, ended=2, **{way: True}):
            assert until(lambda: "for loopback only" in (tmp_path / "err").read_text())


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_loopback_that_is_handed_over_is_loopback(tmp_path: Path, address: str) -> None:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as listener:
        listener.bind((address, 0))
        listener.listen()
        with handed_over(tmp_path, listener, insecure_http=True):
            assert until(lambda: "listening on" in (tmp_path / "err").read_text())


def test_a_host_that_is_not_loopback_is_refused_for_trying_out(tmp_path: Path) -> None:
    with process(tmp_path, insecure_http=True, host="0.0.0.0") as broker:
        assert broker.process.wait(10) == 2
        assert "for loopback only" in broker.log


def test_too_few_descriptors_are_said_with_the_number(tmp_path: Path) -> None:
    """With 66 it would say that it listens, and never accept."""
    with process(tmp_path, insecure_http=True, wrap=("prlimit", "--nofile=66")) as broker:
        assert broker.process.wait(10) == 3
        assert "may open 66 files, and needs 82" in broker.log
    with (
        process(tmp_path, insecure_http=True, wrap=("prlimit", "--nofile=82")) as broker,
        socket.create_connection(("127.0.0.1", broker.port()), timeout=5) as sock,
    ):
        assert ask(sock)[2] == b"one"


@pytest.mark.parametrize("closed", ["0", "1", "2"])
def test_a_closed_standard_descriptor_is_not_taken_by_a_socket(tmp_path: Path, closed: str) -> None:
    """Else the access log would be written into the listening socket."""
    show = "import os; print([os.readlink(f'/proc/self/fd/{number}') for number in range(3)], file=open('seen', 'w'))"
    program = f"from osbctl.__main__ import _open_closed_streams; _open_closed_streams(); {show}"
    command = ["sh", "-c", f'exec "$0" -c "$1" {closed}>&-', sys.executable, program]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=20, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    assert ast.literal_eval((tmp_path / "seen").read_text())[int(closed)] == os.devnull


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"tls_cert": Path("c")},
        {"self_signed": True, "insecure_http": True},
    ],
)
def test_options_that_make_no_sense(told: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ServeOptions(**told).check()
