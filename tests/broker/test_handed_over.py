"""Sockets passed by systemd, to one process or several."""

from __future__ import annotations

import re
import socket
import ssl
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.broker.harness import GET, ask, until
from tests.broker.processes import Load, handed_over, over_tls
from tests.cli.warm import Fork


def test_systemd_socket(tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with handed_over(tmp_path, listener, **tls):
            assert over_tls(trust, listener.getsockname()[1])[2] == b"one"


def test_rolling_restart_on_a_shared_socket_loses_no_request(
    tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]
) -> None:
    with socket.socket() as listener, ExitStack() as stack:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)

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


@pytest.mark.parametrize(("way", "address"), [
    ("insecure_http", "0.0.0.0"),
    ("insecure_http", "::"),
    ("insecure_http", "::ffff:0.0.0.0"),
    ("self_signed", "0.0.0.0"),
])  # fmt: skip
def test_testing_options_refuse_other_systemd_sockets(tmp_path: Path, way: str, address: str) -> None:
    """`--host` is 127.0.0.1 here, but the socket counts."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as listener:
        listener.bind((address, 0))
        listener.listen()
        with handed_over(tmp_path, listener, ended=2, **{way: True}):
            assert until(lambda: "for loopback only" in (tmp_path / "err").read_text())


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_testing_options_accept_a_loopback_systemd_socket(tmp_path: Path, address: str) -> None:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as listener:
        listener.bind((address, 0))
        listener.listen()
        with handed_over(tmp_path, listener, insecure_http=True):
            assert until(lambda: "listening on" in (tmp_path / "err").read_text())


def test_systemd_sockets_of_another_process_are_ignored(
    tmp_path: Path, trust: ssl.SSLContext, tls: dict[str, str]
) -> None:
    """A parent program may have left LISTEN_FDS in the environment (sd_listen_fds(3))."""
    with socket.create_server(("127.0.0.1", 0)) as other, handed_over(tmp_path, other, pid="1", port=0, **tls):
        found = re.search(r"listening on https://127.0.0.1:(\d+)", (tmp_path / "err").read_text())
        assert found
        assert int(found[1]) != other.getsockname()[1]
        assert over_tls(trust, int(found[1]))[2] == b"one"


def test_every_systemd_socket_is_checked(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("0.0.0.0", 0)) as second:
        with handed_over(tmp_path, first, second, ended=2, insecure_http=True):
            assert until(lambda: "for loopback only" in (tmp_path / "err").read_text())
        assert f"0.0.0.0:{second.getsockname()[1]}" in (tmp_path / "err").read_text()


def test_systemd_connection_is_refused(tmp_path: Path, tls: dict[str, str]) -> None:
    """With `Accept=yes`, systemd passes one connection to each process."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        connection, _ = listener.accept()
        with connection, client, handed_over(tmp_path, connection, ended=3, **tls):
            pass
    assert (tmp_path / "err").read_text() == (
        "descriptor 3 from systemd is a connection, not a listener\nuse Accept=no\n"
    )
