"""Limits and deadlines of the server, and the options of `osbctl serve`.

The defaults were measured (`make soak`): 1,250 silent connections, reopened as they are closed, against a limit of
1,000 delay another client by less than a tenth of a second.
"""

import resource
import sys
from dataclasses import dataclass, field
from pathlib import Path

from osbctl.errors import ConfigError, UsageError

FILES_KEPT, FEWEST_KEPT = 64, 24
"""Descriptors reserved for listeners, the admin listener's connections, files and the hashing process; with a low limit
half of it, but not fewer than the second number."""

MINIMUM_FILES = 32  # the lowest limit of descriptors with which a broker starts


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits and deadlines. Times are in seconds, sizes in bytes; all deadlines are absolute."""

    connections: int = 1000  # open in one process; fewer if the descriptor limit is lower
    connections_per_address: int = 250  # of one IPv4 address or one IPv6 /64; 0 is no limit (behind a balancer)
    backlog: int = 1024  # connections that the kernel queues until they are accepted
    send_buffer_bytes: int = 131072  # kernel memory for a response to a slow client

    handshake_seconds: float = 10.0  # from the connection to the end of the TLS handshake
    request_seconds: float = 10.0  # from the first byte of a request to its last
    idle_seconds: float = 30.0  # between two requests
    authentication_seconds: float = 30.0  # maximum wait of a request for its password check
    stall_seconds: float = 20.0  # a response slower than stall_bytes_per_second over this time is cut
    stall_bytes_per_second: int = 4096
    linger_seconds: float = 2.0  # after a refusal, so that the client can read it before the connection closes
    grace_seconds: float = 1.0  # a client's only connection is not evicted for this long
    full_seconds: float = 0.05  # pause of accepting while no slot can be freed
    sweep_seconds: float = 1.0  # interval of deadline checks
    drain_seconds: float = 20.0  # to finish responses after the signal to stop
    drain_grace_seconds: float = 1.0  # further requests are accepted for this long while draining

    header_bytes: int = 16384  # the request line and headers
    body_bytes: int = 65536  # bodies are ignored

    step_bytes: int = 1 << 18  # sent by one connection before it is the turn of others

    reload_seconds: float = 1.0  # interval of checks of watched files
    log_seconds: float = 0.1  # interval of writes of the access log
    log_lines: int = 10000  # maximum length of its queue

    def connection_limit(self) -> int:
        """`connections`, or fewer if the descriptor limit is lower: a server without descriptors spins."""
        limit = descriptor_limit()
        return min(self.connections, limit - min(FILES_KEPT, max(FEWEST_KEPT, limit // 2)))


def descriptor_limit() -> int:
    """The limit of open descriptors of this process (`ulimit -n`)."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if limit == resource.RLIM_INFINITY else limit


@dataclass(frozen=True)
class ServeOptions:
    """Options of listeners and logs. Exactly one way to HTTPS is required (`check`).

    `tls_cert` and `tls_key` are PEM files; `trusted_proxies` are addresses or networks of proxies that terminate TLS,
    and `trusted_proxy_hops` is the number of proxies on the way of a request (0: unknown); `unix_socket` is a path for
    a proxy on this machine; `insecure_http` is for testing, on loopback only. `admin_listen` is `HOST:PORT` (empty:
    none), `admin_hosts` are names accepted in its Host header. `log_format` is `text` or `json`.
    """

    host: str = "127.0.0.1"
    port: int = 8443
    tls_cert: Path | None = None
    tls_key: Path | None = None
    insecure_http: bool = False
    trusted_proxies: tuple[str, ...] = ()
    trusted_proxy_hops: int = 0
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
    def scheme(self) -> str:
        """Scheme of the listener itself: behind a proxy it is `http`."""
        return "http" if self.behind_proxy or self.insecure_http else "https"

    def check(self) -> None:
        """Raise UsageError unless the options choose one way to HTTPS; ConfigError without enough descriptors."""
        if bool(self.tls_cert) != bool(self.tls_key):
            raise UsageError("--tls-cert and --tls-key must be given together")
        if descriptor_limit() < MINIMUM_FILES:
            problem = f"the limit of open files is {descriptor_limit()}, and a broker needs {MINIMUM_FILES} at least"
            raise ConfigError(problem, f"raise it, as with ulimit -n {self.settings.connections + FILES_KEPT}")
        if self.admin_hosts and not self.admin_listen:
            raise UsageError("--admin-host is for --admin-listen, which is missing")
        if self.trusted_proxy_hops and not self.behind_proxy:
            raise UsageError("--trusted-proxy-hops is for --trusted-proxy or --unix-socket, which are missing")
        chosen = sum(map(bool, (self.tls_cert, self.insecure_http, self.behind_proxy)))
        if chosen != 1:
            problem = "HTTPS is not configured" if not chosen else "more than one way to listen is given"
            advice = "give --tls-cert with --tls-key, --trusted-proxy, --unix-socket, or --insecure-http to try"
            raise UsageError(problem, advice)
