"""Every limit and deadline of the server, and the options of `osbctl serve`, in one place.

The defaults were measured: with them, 1,250 silent connections, opened again as they are closed, against a limit
of 1,000 cost another client less than a tenth of a second (`make soak`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from osbctl.errors import UsageError

FILES_KEPT = 64
"""Descriptors that connections leave free: for listeners, the admin listener's connections, files, the hash worker."""

ADMIN_CONNECTIONS = 32
"""Of the admin listener; some of `FILES_KEPT`."""

LEAST_CONNECTIONS = 16
"""Minimum number of connections of a useful service."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits and deadlines. Times are in seconds, sizes in bytes; all deadlines are absolute."""

    connections: int = 1000  # open at one time, in one process; never more than the descriptors allow
    connections_per_address: int = 250  # of one IPv4 address or one IPv6 /64; 0 is no limit (behind a balancer)
    backlog: int = 1024  # connections the kernel keeps until they are accepted
    send_buffer_bytes: int = 131072  # kernel memory for an answer that a client is slow to take

    handshake_seconds: float = 10.0  # from the connection to the end of the TLS handshake
    request_seconds: float = 10.0  # from the first byte of a request to its last
    idle_seconds: float = 30.0  # between two requests
    unproven_seconds: float = 60.0  # the life of a connection that shows no right password
    unproven_requests: int = 20  # and what it may ask
    parked_seconds: float = 30.0  # a request may wait for its password to be worked out
    stall_seconds: float = 20.0  # an answer taken more slowly than the next over that time is cut
    stall_bytes_per_second: int = 4096
    linger_seconds: float = 2.0  # after a refusal, so that the client can read it before the connection is gone
    settle_seconds: float = 1.0  # in which the only connection of a client keeps its place, however full it is
    full_seconds: float = 0.05  # until a new connection is looked at again where no place can be had
    sweep_seconds: float = 1.0  # between two looks at all deadlines
    drain_seconds: float = 20.0  # to finish answers after the signal to stop
    drain_grace_seconds: float = 1.0  # in which a connection may still ask while draining

    header_bytes: int = 16384  # the request line and headers
    body_bytes: int = 65536  # it is ignored

    # What one connection may send, and how many steps one client may go on, before the others have their turn.
    turn_bytes: int = 1 << 20
    turn_steps: int = 8  # of all connections of one client that have shown no right password

    reload_seconds: float = 0.4  # between two looks at watched files
    log_seconds: float = 0.1  # between two writes of the access log
    log_lines: int = 10000  # kept for it at most

    def connection_limit(self) -> int:
        """`connections`, or fewer where the process may not open enough descriptors.

        A server that runs out of descriptors spins.
        """
        return max(1, min(self.connections, descriptor_limit() - FILES_KEPT))


def descriptor_limit() -> int:
    """Number of descriptors that this process may open (RLIMIT_NOFILE)."""
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


@dataclass(frozen=True)
class ServeOptions:
    """Options of listeners and logs. Exactly one way to HTTPS is required (`check`).

    `tls_cert` and `tls_key` are PEM files; `trusted_proxies` are addresses or networks of proxies that
    end TLS; `unix_socket` is a path for a proxy on this machine; `self_signed` and `insecure_http` are
    for trying out, on loopback only. `admin_listen` is `HOST:PORT` (empty: none), `admin_hosts` are names
    by which it may be asked. `log_format` is `text` or `json`.
    """

    host: str = "127.0.0.1"
    port: int = 8443
    tls_cert: Path | None = None
    tls_key: Path | None = None
    self_signed: bool = False
    insecure_http: bool = False
    trusted_proxies: tuple[str, ...] = ()
    unix_socket: Path | None = None
    admin_listen: str = ""
    admin_hosts: tuple[str, ...] = ()
    log_format: str = "text"
    access_log: bool = True
    settings: Settings = field(default_factory=Settings)

    @property
    def behind_proxy(self) -> bool:
        return bool(self.trusted_proxies or self.unix_socket)

    @property
    def trying_out(self) -> str:
        """The option that is for loopback only, where one was given."""
        return "--self-signed" if self.self_signed else "--insecure-http" if self.insecure_http else ""

    @property
    def scheme(self) -> str:
        """Of the listener itself: behind a proxy it is plain."""
        return "http" if self.behind_proxy or self.insecure_http else "https"

    def check(self) -> None:
        """Raise UsageError where the options do not add up to a service over HTTPS."""
        if bool(self.tls_cert) != bool(self.tls_key):
            raise UsageError("--tls-cert and --tls-key must be given together")
        ways = (self.tls_cert, self.self_signed, self.insecure_http, self.behind_proxy)
        chosen = sum(map(bool, ways))
        if chosen != 1:
            problem = "HTTPS is not configured" if not chosen else "more than one way to listen is given"
            raise UsageError(
                problem, "give --tls-cert with --tls-key, --trusted-proxy, --unix-socket, or --self-signed to try"
            )
