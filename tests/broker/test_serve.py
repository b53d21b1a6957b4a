"""`osbctl serve` as a process: signals, reloads, logs, options, sockets of systemd."""

import ast
import json
import os
import random
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from osbctl.broker.logs import LineWriter
from osbctl.broker.settings import ServeOptions
from osbctl.errors import UsageError
from tests.broker.harness import PATIENCE, Authority, ask, until
from tests.broker.processes import Load, Process, handed_over, over_tls, over_tls_or_none, process, start, start_alone
from tests.case import each
from tests.cli.warm import Fork
from tests.corpus import EVERY_CASE
from tests.deploy.harness import ROOT
from tests.deploy.running import EXAMPLE, OSBCTL, serve_options


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_start_log_and_exit_code_0(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str], number: int) -> None:
    with process(tmp_path, start_alone, **tls) as broker:
        assert over_tls(trust, broker.port())[2] == b"one"
        assert broker.end(number) == 0
        assert "the certificate lasts 20 days" in broker.log
        line = broker.out.read_text()
        assert re.fullmatch(r'\S+Z 127\.0\.0\.1 "GET /v2/catalog" 200 3 [\d.]+ms credential="main"\n', line)


def test_catalog_is_reloaded_unless_invalid(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
    with process(tmp_path, **tls, log_format="json") as broker:
        broker.file.write_bytes(b"bad")
        assert until(lambda: "the catalog is bad" in broker.log)
        assert over_tls(trust, broker.port())[2] == b"one"
        new = tmp_path / "new"
        new.write_bytes(b"two")
        new.replace(broker.file)
        assert until(lambda: over_tls(trust, broker.port())[2] == b"two")
        assert not until(lambda: broker.log.count("reloaded the catalog") > 1, 0.5), "loaded once for each change"
        broker.process.send_signal(signal.SIGHUP)
        assert until(lambda: broker.log.count("reloaded the catalog") == 2)
        assert broker.end() == 0
        assert all(json.loads(line)["event"] == "log" for line in broker.log.splitlines())
        entry = json.loads(broker.out.read_text().splitlines()[0])
        assert (entry["path"], entry["status"], entry["credential"]) == ("/v2/catalog", 200, "main")


def test_readable_secret_files_are_a_warning(tmp_path: Path, authority: Authority) -> None:
    cert, key = authority.issue("open")
    key.chmod(0o644)
    with process(tmp_path, tls_cert=str(cert), tls_key=str(key)) as broker:
        said = f"other users may read or change {key} (mode 0644): chmod 640 {key}"
        assert broker.log.count(said) == 1
        key.chmod(0o640)
        assert until(lambda: "reloaded the certificate" in broker.log)
        assert broker.log.count(said) == 1
        assert broker.end() == 0


@contextmanager
def full_pipe() -> Iterator[tuple[int, int, int]]:
    """A pipe: an end to write to, one to fill it, one to read. Flags of one descriptor do not affect the others."""
    reading, writing = os.pipe()
    filling = os.open(f"/proc/self/fd/{writing}", os.O_WRONLY | os.O_NONBLOCK)
    try:
        yield writing, filling, reading
    finally:
        for descriptor in (reading, writing, filling):
            os.close(descriptor)


def fill(descriptor: int) -> None:
    with suppress(BlockingIOError):
        while os.write(descriptor, b"x" * 512):
            pass


def test_log_pipes_without_reader_do_not_block(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
    file = tmp_path / "catalog.json"
    file.write_bytes(b"one")
    with socket.socket() as listener, full_pipe() as (out, fill_out, _), full_pipe() as (err, fill_err, _):
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        listener.close()
        fill(fill_out)
        fill(fill_err)
        told = {"file": str(file), "port": port, "settings": {"reload_seconds": 0.05}, **tls}
        started = start(told, out, err)
        try:
            assert until(lambda: over_tls_or_none(trust, port))
            for body in (b"bad", b"two", b"bad", b"three"):
                file.write_bytes(body)
                time.sleep(0.2)
            assert until(lambda: over_tls(trust, port)[2] == b"three")
            started.terminate()
            assert started.wait(PATIENCE) == 0
        finally:
            started.kill()
            started.wait(PATIENCE)


@contextmanager
def asked(tmp_path: Path, output: int, times: int, **settings: float) -> Iterator[socket.socket]:
    """A connection to a broker with the access log `output`, after so many requests."""

    def begin(told: dict[str, Any], _: int, err: int) -> Fork:
        return start(told, output, err)

    with process(tmp_path, begin, insecure_http=True, settings=settings) as broker:
        with socket.create_connection(("127.0.0.1", broker.port()), timeout=PATIENCE) as sock:
            for _ in range(times):
                assert ask(sock)[0] == 200
            yield sock
        assert "Traceback" not in broker.log


def count_lines(log: str) -> tuple[int, int]:
    """Number of requests in an access log, and of those that it says were lost."""
    return log.count('"GET /v2/catalog" 200'), sum(map(int, re.findall(r'"lost", "lines": (\d+)}\n', log)))


def test_access_log_queue_is_bounded_and_reports_lost_lines(tmp_path: Path) -> None:
    """While the first lines are being written, which waits, five are kept and the others counted."""
    with full_pipe() as (out, fill_out, reading):
        fill(fill_out)
        with asked(tmp_path, out, 40, log_lines=5, log_seconds=0.05):
            lines = read_lines(reading, lambda seen: sum(count_lines(seen)) >= 40)
    kept, lost = count_lines("\n".join([*lines, ""]))
    assert 5 <= kept <= 10
    assert lost == 40 - kept


def test_access_log_continues_after_a_write_error(tmp_path: Path) -> None:
    with full_pipe() as (out, fill_out, reading):
        os.set_blocking(out, False)
        fill(fill_out)
        with asked(tmp_path, out, 3, log_seconds=0.05) as sock:
            assert until(lambda: "the access log cannot be written" in (tmp_path / "err").read_text())
            drain(reading)
            assert ask(sock)[0] == 200
            lines = read_lines(reading, lambda seen: sum(count_lines(seen)) >= 4)
    kept, lost = count_lines("\n".join([*lines, ""]))
    assert '"GET /v2/catalog" 200' in lines[0]
    assert 1 <= lost == 4 - kept


@pytest.mark.parametrize("closed", [False, True], ids=["full", "closed"])
def test_lost_lines_of_several_writes_are_added_up_and_warned_of_once(
    caplog: pytest.LogCaptureFixture, closed: bool
) -> None:
    """The pipe is full, or the process that reads it has ended, and another one takes its place."""
    with full_pipe() as (out, fill_out, reading), full_pipe() as (other, fill_other, read_by_other):
        os.set_blocking(out, False)
        fill(fill_out)
        if closed:
            os.dup2(read_by_other, reading)
        writer = LineWriter(out, str, name="the log", seconds=0.01)
        for number in range(3):
            writer.add("lost")
            assert until(lambda number=number: writer._lost == number + 1)
        if closed:
            os.dup2(other, out)
        else:
            drain(reading)
        writer.add("kept")
        assert read_lines(reading, lambda seen: "event" in seen) == ["kept", '{"event": "lost", "lines": 3}']
        assert len(caplog.records) == 1
        os.set_blocking(out, False)
        fill(fill_other if closed else fill_out)
        writer.add("lost again")
        assert until(lambda: len(caplog.records) == 2)
        writer.close()
        nameless = LineWriter(-1, str, seconds=0)  # as that of standard error, which would log to itself
        nameless.add("lost")
        nameless.close()
    why = "Broken pipe" if closed else "Resource temporarily unavailable"
    reasons = (why, "Resource temporarily unavailable")
    assert caplog.messages == [f"the log cannot be written, lines are lost: {reason}" for reason in reasons]


def test_log_writes_are_whole_lines_of_at_most_4096_bytes(tmp_path: Path) -> None:
    """Writes up to PIPE_BUF are atomic on a shared pipe. Each write is a datagram here."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(PATIENCE)
    with ours, theirs, asked(tmp_path, theirs.fileno(), 200, log_seconds=1):
        written = [ours.recv(1 << 16)]
        while sum(data.count(b"\n") for data in written) < 200:
            written.append(ours.recv(1 << 16))
    assert all(data.endswith(b"\n") and len(data) <= 4096 for data in written)
    assert len(written) < 40, "many lines in one write"


def read_lines(reading: int, complete: Callable[[str], bool]) -> list[str]:
    """The lines of a pipe, without the filling."""
    data = b""
    while not complete(data.decode()):
        assert select.select([reading], [], [], PATIENCE)[0], data
        data += os.read(reading, 1 << 16)
    return data.decode().lstrip("x").splitlines()


def drain(reading: int) -> None:
    os.set_blocking(reading, False)
    with suppress(BlockingIOError):
        while os.read(reading, 1 << 16):
            pass
    os.set_blocking(reading, True)


def test_trusting_every_proxy_address_is_a_warning(tmp_path: Path) -> None:
    for proxy, loud in (("0.0.0.0/0", True), ("::/0", True), ("10.0.0.0/8", False)):
        with process(tmp_path, trusted_proxies=[proxy]) as broker:
            assert (f"WARNING INSECURE: --trusted-proxy {proxy} trusts every address" in broker.log) is loud
            assert broker.end() == 0


def test_insecure_http_is_served_with_a_warning(tmp_path: Path) -> None:
    with process(tmp_path, insecure_http=True) as broker:
        with socket.create_connection(("127.0.0.1", broker.port()), timeout=PATIENCE) as sock:
            assert ask(sock)[2] == b"one"
        assert "INSECURE" in broker.log


def test_port_in_use_is_a_clear_error(tmp_path: Path, tls: dict[str, str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for told in ({"port": port}, {"admin_listen": f"127.0.0.1:{port}"}):
            with process(tmp_path, **{**tls, **told}) as broker:
                assert broker.process.wait(PATIENCE) == 3
                assert f"cannot listen on 127.0.0.1:{port}" in broker.log
                assert "Traceback" not in broker.log


def test_low_descriptor_limit_lowers_the_number_of_connections(tmp_path: Path) -> None:
    with process(tmp_path, partial(start, file_limit=32), insecure_http=True) as broker, ExitStack() as held:
        for _ in range(20):
            sock = held.enter_context(socket.create_connection(("127.0.0.1", broker.port()), timeout=PATIENCE))
            assert ask(sock)[2] == b"one"


def test_low_descriptor_limit_is_said(tmp_path: Path) -> None:
    with process(tmp_path, partial(start, file_limit=40), insecure_http=True) as broker:
        said = "at most 16 connections at a time: the limit of open files is 40; 1,000 need 1064 (ulimit -n)"
        assert said in broker.log
    with process(tmp_path, partial(start, file_limit=31), insecure_http=True) as broker:
        assert broker.process.wait(10) == 3
        assert "the limit of open files is 31, and a broker needs 32 at least" in broker.log
        assert "Traceback" not in broker.log


@pytest.mark.parametrize("closed", ["0", "1", "2"])
def test_closed_standard_stream_is_not_reused_by_a_socket(tmp_path: Path, closed: str) -> None:
    """Otherwise the access log would be written into the listening socket."""
    show = "import os; print([os.readlink(f'/proc/self/fd/{number}') for number in range(3)], file=open('seen', 'w'))"
    program = f"from osbctl.__main__ import _replace_closed_streams; _replace_closed_streams(); {show}"
    command = ["sh", "-c", f'exec "$0" -c "$1" {closed}>&-', sys.executable, program]
    none = subprocess.DEVNULL
    subprocess.run(command, cwd=tmp_path, check=True, timeout=PATIENCE, stdin=none, stdout=none)
    assert ast.literal_eval((tmp_path / "seen").read_text())[int(closed)] == os.devnull


@each("told, message", [
    ({}, "HTTPS is not configured"),
    ({"tls_cert": Path("c")}, "--tls-cert and --tls-key must be given together"),
    ({"trusted_proxies": ("10.0.0.1",), "insecure_http": True}, "more than one way to listen is given"),
    ({"insecure_http": True, "admin_hosts": ("a",)}, "--admin-host is for --admin-listen"),
    ({"insecure_http": True, "trusted_proxy_hops": 1}, "--trusted-proxy-hops is for --trusted-proxy or --unix-socket"),
])  # fmt: skip
def test_conflicting_options_are_refused(told: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ServeOptions(**told).check()


def test_systemd_socket(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, handed_over(tmp_path, listener, **tls):
        assert over_tls(trust, listener.getsockname()[1])[2] == b"one"


def test_rolling_restart_loses_no_request(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener, ExitStack() as stack:

        def begin(name: str) -> Fork:
            folder = tmp_path / name
            folder.mkdir()
            return stack.enter_context(handed_over(folder, listener, **tls)).process

        load, first = Load(listener.getsockname()[1], trust), [begin("one"), begin("two")]
        with load.running(4):
            assert until(lambda: {str(old.pid) for old in first} <= set(load.pids)), "both have a share"
            for number, old in enumerate(first):
                old.terminate()
                assert old.wait(PATIENCE) == 0
                fresh = begin(f"new {number}")
                assert until(lambda pid=str(fresh.pid): pid in load.pids)
        assert load.lost == []


def test_insecure_http_refuses_any_systemd_socket_but_of_loopback(tmp_path: Path) -> None:
    """`--host` is 127.0.0.1 here, but the sockets count."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("0.0.0.0", 0)) as second:
        with handed_over(tmp_path, first, insecure_http=True) as broker:
            assert until(lambda: "listening on" in broker.log)
        with handed_over(tmp_path, first, second, ended=2, insecure_http=True) as broker:
            assert until(lambda: "for loopback only" in broker.log)
            assert f"0.0.0.0:{second.getsockname()[1]}" in broker.log


def send_pair(started: Any, number: int, seconds: float) -> None:
    """Seconds between the two signals."""
    started.send_signal(number)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    started.send_signal(number)


@pytest.mark.fuzz
def test_simultaneous_reload_signals_do_not_deadlock(tmp_path: Path) -> None:
    for _ in range(4 if EVERY_CASE else 1):
        with process(tmp_path, insecure_http=True) as broker:
            for _ in range(2500):
                send_pair(broker.process, signal.SIGHUP, random.random() * 80e-6)
                time.sleep(0.0005)
            assert reloads(broker)
            assert broker.end() == 0
            assert "Error" not in broker.log


def reloads(broker: Process) -> bool:
    before = broker.log.count("reloaded")
    broker.process.send_signal(signal.SIGHUP)
    return until(lambda: broker.log.count("reloaded") > before)


@pytest.mark.fuzz
def test_simultaneous_stop_signals_exit_with_0(tmp_path: Path) -> None:
    for number in range(200 if EVERY_CASE else 3):
        with process(tmp_path, start_alone, insecure_http=True) as broker:
            send_pair(broker.process, signal.SIGTERM, number % 5 * 20e-6)
            assert broker.process.wait(PATIENCE) == 0


def test_reload_signal_during_start_is_not_fatal(tmp_path: Path) -> None:
    """At any time: before the catalog is read (it waits for it here), while it is checked, while sockets are bound."""
    command, log = [*OSBCTL, "serve", *serve_options(tmp_path, catalog="-")], tmp_path / "log"
    with log.open("wb") as err:
        started = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=err, bufsize=0
        )
    assert started.stdin
    try:
        assert until(lambda: ignored(started.pid))
        with started.stdin as catalog:
            catalog.write(EXAMPLE.read_bytes())
        while "serving" not in log.read_text():
            started.send_signal(signal.SIGHUP)
            time.sleep(0.01)
            assert started.poll() is None, log.read_text()
        started.send_signal(signal.SIGHUP)
        assert until(lambda: "reloaded the catalog" in log.read_text())
        started.terminate()
        assert started.wait(PATIENCE) == 0
    finally:
        started.kill()
        started.wait(PATIENCE)


def ignored(pid: int) -> bool:
    """Return whether the process ignores or catches SIGHUP (proc_pid_status(5))."""
    found = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool((int(found["SigIgn"], 16) | int(found["SigCgt"], 16)) & 1 << signal.SIGHUP - 1)
