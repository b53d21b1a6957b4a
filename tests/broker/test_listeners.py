"""Listening sockets: addresses, failures, and their messages."""

import errno
import os
import socket
import stat
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from osbctl.broker import listeners
from osbctl.broker.listeners import (
    is_loopback_socket,
    listen_tcp,
    listen_unix,
    parse_listen_address,
    socket_url,
    systemd_sockets,
)
from osbctl.errors import ConfigError, UsageError

needs_ipv6 = pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6 here")


def sockets_of(host: str) -> list[tuple[socket.AddressFamily, str]]:
    made = listen_tcp(host, 0)
    try:
        assert all(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) for sock in made)
        return [(sock.family, sock.getsockname()[0]) for sock in made]
    finally:
        for sock in made:
            sock.close()


def refusal(call: Callable[..., object], *given: object) -> tuple[str, str]:
    try:
        call(*given)
    except (ConfigError, UsageError) as error:
        return error.message, error.advice
    pytest.fail("it was not refused")


def test_one_address_gets_one_socket() -> None:
    assert sockets_of("127.0.0.1") == [(socket.AF_INET, "127.0.0.1")]


@needs_ipv6
def test_no_host_means_all_ipv4_and_ipv6_addresses() -> None:
    """`::` alone includes IPv4; beside a socket for IPv4 it must not."""
    assert sorted(sockets_of("")) == [(socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")]
    (sock,) = listen_tcp("::", 0)
    with sock:
        socket.create_connection(("127.0.0.1", sock.getsockname()[1]), timeout=60).close()


def test_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        told = f"cannot listen on 127.0.0.1:{port}: Address already in use"
        assert refusal(listen_tcp, "127.0.0.1", port) == (told, "another program listens there; choose another port")


@pytest.mark.parametrize(("number", "advice"), [
    (errno.EACCES, "ports below 1024 need a privilege; use socket activation or a higher port"),
    (errno.EADDRNOTAVAIL, "this machine does not have that address"),
    (errno.ENOBUFS, ""),
    (None, ""),
])  # fmt: skip
def test_bind_errors(number: int | None, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the second of two addresses: the first socket is closed."""
    plain, made = socket.create_server, []

    def create(*given: object, **more: object) -> socket.socket:
        if made:
            raise OSError(number, "x") if number else OSError("no number")
        made.append(plain(("127.0.0.1", 0)))
        return made[0]

    monkeypatch.setattr(socket, "create_server", create)
    found = [(socket.AF_INET, 0, 0, "", (f"127.0.0.{n}", 0)) for n in (1, 1, 2)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert refusal(listen_tcp, "host", 80) == (f"cannot listen on host:80: {os.strerror(number or 0)}", advice)
    assert made[0].fileno() == -1


def test_unknown_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    told = "cannot listen on 'nosuch': Name or service not known"
    assert refusal(listen_tcp, "nosuch", 80) == (told, "use an address of this machine")


def test_unix_socket_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with listen_unix(tmp_path / "s") as sock:
            assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o660
            assert (sock.family, sock.type) == (socket.AF_UNIX, socket.SOCK_STREAM)
        assert os.umask(0o027) == 0o027, "what it was before"
        told, _ = refusal(listen_unix, tmp_path / "none" / "s")
        assert told == f"cannot listen on {tmp_path}/none/s: No such file or directory"
        (tmp_path / "file").touch()
        assert refusal(listen_unix, tmp_path / "file" / "s")[0].endswith("/file/s: Not a directory")
        assert refusal(listen_unix, tmp_path / ("x" * 300))[0].endswith("x: File name too long")
        assert refusal(listen_unix, tmp_path / ("x" * 200))[0].endswith("x: AF_UNIX path too long")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


def test_existing_file_at_the_path_of_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("precious")
    assert refusal(listen_unix, path) == (f"cannot listen on {path}: there is a file", "choose a path that is free")
    assert path.read_text() == "precious"
    path.unlink()
    with listen_unix(path) as alive:
        alive.listen()
        told = f"cannot listen on {path}: another program uses that socket"
        assert refusal(listen_unix, path) == (told, "choose a path that is free")
    listen_unix(path).close()  # no process listens there any more


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET])
def test_socket_of_a_living_program_stays(tmp_path: Path, kind: socket.SocketKind) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, kind) as other, ExitStack() as waiting:
        other.bind(str(path))
        if kind != socket.SOCK_DGRAM:
            other.listen(0)
            with suppress(BlockingIOError):  # fill its queue: another connection would wait for ever
                while True:
                    client = waiting.enter_context(socket.socket(socket.AF_UNIX, kind))
                    client.setblocking(False)
                    client.connect(str(path))
        before = path.stat().st_ino
        assert refusal(listen_unix, path)[0] == f"cannot listen on {path}: another program uses that socket"
        assert path.stat().st_ino == before
    listen_unix(path).close()


def test_socket_that_may_not_be_probed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s"
    listen_unix(path).close()

    class Denied(socket.socket):
        def connect(self, address: object) -> None:
            raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "socket", Denied)
    assert refusal(listen_unix, path)[0] == f"cannot listen on {path}: Permission denied"
    assert path.exists()


def test_stale_socket_removed_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s"
    listen_unix(path).close()

    class Gone(socket.socket):
        def connect(self, address: object) -> None:
            path.unlink()
            raise ConnectionRefusedError

    monkeypatch.setattr(socket, "socket", Gone)
    listen_unix(path).close()


def handed(monkeypatch: pytest.MonkeyPatch, *sockets: socket.socket, **environ: str) -> list[socket.socket]:
    """The sockets made from consecutive descriptors, as systemd passes them."""
    first = 200
    for number, sock in enumerate(sockets, first):
        os.dup2(sock.fileno(), number)
    monkeypatch.setattr(listeners, "SYSTEMD_FIRST", first)
    return systemd_sockets({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(len(sockets)), **environ})


def test_all_systemd_sockets_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        found = handed(monkeypatch, one, two)
        assert [sock.getsockname() for sock in found] == [one.getsockname(), two.getsockname()]
        for sock in found:
            assert not sock.get_inheritable(), "a program that is started must not have it"
            sock.close()


@pytest.mark.parametrize("environ", [
    *({"LISTEN_PID": pid} for pid in ("1", f"{os.getpid()}0", "")),
    *({"LISTEN_FDS": number} for number in ("0", "-1", "x")),
])  # fmt: skip
def test_systemd_sockets_of_others_are_ignored(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        assert handed(monkeypatch, sock, **environ) == []
    assert systemd_sockets({}) == systemd_sockets({"LISTEN_PID": str(os.getpid())}) == []


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the program ends, and its descriptors with it
def test_systemd_descriptor_that_is_not_a_listener(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as letters, socket.socket() as idle:
        said = "descriptor 200 from systemd is not a listening stream socket", "use ListenStream= and Accept=no"
        for sock in (letters, idle):
            assert refusal(handed, monkeypatch, sock) == said
    monkeypatch.setattr(listeners, "SYSTEMD_FIRST", 300)
    told, _ = refusal(systemd_sockets, {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"})
    assert told == "descriptor 300 from systemd is not a listening stream socket"


@pytest.mark.parametrize(("text", "address"), [
    ("9090", ("127.0.0.1", 9090)),
    (":9090", ("127.0.0.1", 9090)),
    ("0.0.0.0:0", ("0.0.0.0", 0)),
    ("[::1]:65535", ("::1", 65535)),
    ("host:1", ("host", 1)),
    ("XenX:1", ("XenX", 1)),
])  # fmt: skip
def test_parse_address(text: str, address: tuple[str, int]) -> None:
    assert parse_listen_address(text) == address


@pytest.mark.parametrize("text", ["", "host", "host:", ":65536", ":-1", ":\u0661", ":\u00b2", "1.5"])
def test_parse_invalid_address(text: str) -> None:
    advice = "write HOST:PORT, for example 127.0.0.1:9090"
    assert refusal(parse_listen_address, text) == (f"{text!r} is not an address to listen on", advice)


@pytest.mark.parametrize(("address", "loopback", "name"), [
    ("127.0.0.2", True, "https://127.0.0.2:1"),
    ("0.0.0.0", False, "https://0.0.0.0:1"),
    ("::1", True, "https://[::1]:1"),
    ("::", False, "https://[::]:1"),
    ("::ffff:127.0.0.1", True, "https://[::ffff:127.0.0.1]:1"),
    ("fe80::1%lo", False, "https://[fe80::1%lo]:1"),
    ("::1%lo", True, "https://[::1%lo]:1"),
])  # fmt: skip
def test_loopback_check_and_socket_url(address: str, loopback: bool, name: str) -> None:
    class Bound:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET

        def getsockname(self) -> tuple[object, ...]:
            return (address, 1)

    assert is_loopback_socket(Bound()) is loopback  # type: ignore[arg-type]
    assert socket_url(Bound(), "https") == name  # type: ignore[arg-type]


def test_unix_socket_counts_as_loopback(tmp_path: Path) -> None:
    with listen_unix(tmp_path / "s") as sock:
        assert is_loopback_socket(sock)
        assert socket_url(sock, "http") == f"unix:{tmp_path}/s"
