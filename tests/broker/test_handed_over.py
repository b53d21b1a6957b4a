"""Sockets passed by systemd, to one process or several."""

from __future__ import annotations

import socket
import ssl
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.broker.harness import GET, ask, until
from tests.broker.processes import Load, handed_over, over_tls
from tests.cli.warm import Fork


def test_systemd_socket(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, handed_over(tmp_path, listener, **tls):
        assert over_tls(trust, listener.getsockname()[1])[2] == b"one"


def test_rolling_restart_loses_no_request(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener, ExitStack() as stack:

        def start(name: str) -> Fork:
            folder = tmp_path / name
            folder.mkdir()
            return stack.enter_context(handed_over(folder, listener, **tls))

        load, first = Load(listener.getsockname()[1], trust), [start("one"), start("two")]
        with load.running(4):
            assert until(lambda: {str(process.pid) for process in first} <= set(load.pids), 20), "both have a share"
            for number, process in enumerate(first):
                process.terminate()
                assert process.wait(20) == 0
                fresh = start(f"new {number}")
                assert until(lambda pid=str(fresh.pid): pid in load.pids, 20)
        assert load.lost == []


def test_systemd_unix_socket_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "handed"
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as sock:
        listener.bind(str(path))
        listener.listen()
        with handed_over(tmp_path, listener, unix_socket=str(path)):
            sock.connect(str(path))
            assert ask(sock, GET[:-2] + b"X-Forwarded-Proto: https\r\n\r\n")[2] == b"one"
        assert path.exists(), "it is the one's who made it"


@pytest.mark.parametrize("way", ["insecure_http", "self_signed"])
def test_testing_options_refuse_any_systemd_socket_but_of_loopback(tmp_path: Path, way: str) -> None:
    """`--host` is 127.0.0.1 here, but the sockets count."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("0.0.0.0", 0)) as second:
        with handed_over(tmp_path, first, **{way: True}):
            assert until(lambda: "listening on" in (tmp_path / "err").read_text())
        with handed_over(tmp_path, first, second, ended=2, **{way: True}):
            assert until(lambda: "for loopback only" in (tmp_path / "err").read_text())
        assert f"0.0.0.0:{second.getsockname()[1]}" in (tmp_path / "err").read_text()
