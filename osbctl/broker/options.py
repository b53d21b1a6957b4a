"""The options of `osbctl serve`, checked as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from osbctl.broker.settings import Settings
from osbctl.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class ServeOptions:
    """How to listen and what to log. Exactly one way to HTTPS must be chosen (`check`).

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
            raise UsageError("--tls-cert and --tls-key belong together")
        ways = (self.tls_cert, self.self_signed, self.insecure_http, self.behind_proxy)
        chosen = sum(map(bool, ways))
        if chosen != 1:
            problem = "HTTPS is not configured" if not chosen else "there are several ways to listen"
            raise UsageError(
                problem,
                "give --tls-cert with --tls-key, --trusted-proxy, --unix-socket, or --self-signed to try",
            )
