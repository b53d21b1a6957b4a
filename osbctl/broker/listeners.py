"""Listening sockets: TCP, Unix, or passed by systemd."""

import errno
import os
import socket
import stat
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path

from osbctl.errors import ConfigError, UsageError

SYSTEMD_FIRST = 3
"""The first descriptor that systemd passes (sd_listen_fds(3))."""

_ADVICE = {
    errno.EADDRINUSE: "another program listens there; choose another port",
    errno.EACCES: "ports below 1024 need a privilege; use socket activation or a higher port",
    errno.EADDRNOTAVAIL: "this machine does not have that address",
}


def listen_tcp(host: str, port: int) -> list[socket.socket]:
    """Listen on every address of `host`. Raises ConfigError."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ConfigError(f"cannot listen on {host!r}: {error.strerror}", "use an address of this machine") from error
    sockets: list[socket.socket] = []
    try:
        for family, *_, address in dict.fromkeys(found):
            # `::` means every address, including IPv4; without a host, IPv4 gets its own socket.
            both = host == "::" and socket.has_dualstack_ipv6()
            sockets.append(socket.create_server(address, family=family, dualstack_ipv6=both))
    except OSError as error:
        for sock in sockets:
            sock.close()
        number = error.errno or 0
        raise ConfigError(f"cannot listen on {host}:{port}: {os.strerror(number)}", _ADVICE.get(number, "")) from error
    return sockets


def listen_unix(path: Path) -> socket.socket:
    """Bind a Unix socket that only its owner and group may use, replacing a stale one.

    Raises ConfigError if another program listens there, or a file is in the way.
    """
    _remove_stale_socket(path)
    sock = socket.socket(socket.AF_UNIX)
    before = os.umask(0o117)
    try:
        sock.bind(str(path))
    except OSError as error:
        sock.close()
        raise ConfigError(f"cannot listen on {path}: {error.strerror or error}") from error
    finally:
        os.umask(before)
    return sock


def _remove_stale_socket(path: Path) -> None:
    """Remove a socket file that outlived its process (unix(7)), which only the error of a connection shows."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise ConfigError(f"cannot listen on {path}: there is a file", "choose a path that is free")
        with socket.socket(socket.AF_UNIX) as probe:
            probe.setblocking(False)  # a listener whose queue is full would not let it return
            probe.connect(str(path))
    except FileNotFoundError:
        return
    except ConnectionRefusedError:
        path.unlink(missing_ok=True)
        return
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EPROTOTYPE):  # a full queue, or a datagram socket: it is in use
            raise ConfigError(f"cannot listen on {path}: {error.strerror or error}") from error
    raise ConfigError(f"cannot listen on {path}: another program uses that socket", "choose a path that is free")


def systemd_sockets(environ: Mapping[str, str]) -> list[socket.socket]:
    """Listening stream sockets of systemd (LISTEN_PID, LISTEN_FDS), maybe none. Raises ConfigError for any other."""
    if environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    count, sockets = environ.get("LISTEN_FDS", ""), []
    for descriptor in range(SYSTEMD_FIRST, SYSTEMD_FIRST + (int(count) if count.isdecimal() else 0)):
        try:
            sock = socket.socket(fileno=descriptor)
            listens = sock.type == socket.SOCK_STREAM and sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        except OSError:
            listens = False
        if not listens:
            message = f"descriptor {descriptor} from systemd is not a listening stream socket"
            raise ConfigError(message, "use ListenStream= and Accept=no")
        sock.set_inheritable(False)
        sockets.append(sock)
    return sockets


def parse_listen_address(text: str) -> tuple[str, int]:
    """Parse `HOST:PORT`, `[IPv6]:PORT`, or `:PORT` and `PORT` (loopback). Raises UsageError."""
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"{text!r} is not an address to listen on", "write HOST:PORT, for example 127.0.0.1:9090")
    return host.strip("[]") or "127.0.0.1", int(port)


def is_loopback_socket(sock: socket.socket) -> bool:
    """Return whether a bound socket can be reached from this machine only."""
    if sock.family == socket.AF_UNIX:
        return True
    address = ip_address(str(sock.getsockname()[0]))
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def socket_url(sock: socket.socket, scheme: str) -> str:
    """The URL of a listening socket, for messages."""
    address = sock.getsockname()
    if not isinstance(address, tuple):
        return f"unix:{address}"
    host = f"[{address[0]}]" if ":" in str(address[0]) else address[0]
    return f"{scheme}://{host}:{address[1]}"
