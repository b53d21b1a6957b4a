"""From options to a running service: bind, serve until stopped, drain."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from osbctl.broker import listeners
from osbctl.broker.admin import AdminApp
from osbctl.broker.logs import AccessLog, as_json, as_text
from osbctl.broker.loop import Loop
from osbctl.broker.proxy import ProxyRule
from osbctl.broker.reload import Watched, Watcher
from osbctl.broker.server import Dispatcher, Server
from osbctl.broker.settings import FILES_KEPT, LEAST_CONNECTIONS, descriptor_limit
from osbctl.broker.sharing import Shared, Standing, Stats
from osbctl.broker.tls import Certificate, Tls, load_certificate
from osbctl.errors import ConfigError, UsageError

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from osbctl.broker.decision import Ask
    from osbctl.broker.settings import ServeOptions
    from osbctl.broker.snapshot import ServedCatalog

_log = logging.getLogger("osbctl.broker")

STANDARD_OUTPUT = 1


@dataclass(frozen=True)
class Service:
    """What the process serves.

    `app` is the WSGI application, `ask` that of the gate before it (None: no gate). `watched` are the
    catalog and the credentials. `catalog()` is what is served now, `waiting()` the length of the gate's
    queue, `why_not()` why it can check no password (empty where it can). `summary` are the sentences for the log at the
    start. `close()` ends threads and processes.
    """

    app: Callable[..., Any]
    ask: Ask | None = None
    watched: Sequence[Watched[Any]] = ()
    catalog: Callable[[], ServedCatalog | None] = lambda: None
    waiting: Callable[[], int] = lambda: 0
    why_not: Callable[[], str] = lambda: ""
    summary: Sequence[str] = ()
    close: Callable[[], None] = lambda: None


@dataclass
class _Ground:
    """The sockets and what is done on them."""

    sockets: list[socket.socket]
    tls: Tls | None
    proxy: ProxyRule | None
    made: Path | None = None
    """The Unix socket that was made here, and goes at the end. One that was handed over stays."""


def serve(options: ServeOptions, make_service: Callable[[], Service], environ: Mapping[str, str]) -> int:
    """Serve until SIGTERM or SIGINT, drain, and return the exit code (0).

    `make_service` is called once the sockets are bound. Raises OsbctlError where the options make no
    sense, the certificate cannot be used or an address cannot be bound.
    Must run in the main thread: it takes the signals.
    """
    options.check()
    proxy = ProxyRule.of(options.trusted_proxies) if options.behind_proxy else None
    ground = _Ground(sockets=[], tls=_tls(options), proxy=proxy)
    ground.sockets = _listen(options, environ, ground)
    try:
        _check_sockets(options, ground.sockets)
        return _Process(options, ground).run(make_service)
    finally:
        if ground.made:
            ground.made.unlink(missing_ok=True)
        listeners.close_all(ground.sockets)


def _tls(options: ServeOptions) -> Tls | None:
    if options.self_signed:
        from osbctl.broker.tls import self_signed

        return Tls(self_signed()[0])
    if options.tls_cert and options.tls_key:
        return Tls(load_certificate(options.tls_cert, options.tls_key))
    return None


def _listen(options: ServeOptions, environ: Mapping[str, str], ground: _Ground) -> list[socket.socket]:
    handed = listeners.inherited(environ)
    if handed:
        return handed
    if options.unix_socket:
        made = listeners.listen_unix(options.unix_socket)
        ground.made = options.unix_socket
        return [made]
    return listeners.listen_tcp(options.host, options.port)


def _check_sockets(options: ServeOptions, sockets: Sequence[socket.socket]) -> None:
    """What is for trying out stays on this machine, wherever its socket came from. Raises UsageError, ConfigError."""
    for sock in sockets:
        if options.trying_out and not listeners.is_loopback(sock):
            name = listeners.name_of(sock, options.scheme)
            raise UsageError(f"{options.trying_out} is for loopback only, not for {name}", "listen on 127.0.0.1")
    allowed, needed = descriptor_limit(), FILES_KEPT + len(sockets) * 2 + LEAST_CONNECTIONS
    if allowed < needed:
        raise ConfigError(
            f"this process may open {allowed} files, and needs {needed}",
            "raise the limit: `ulimit -n 1024`, or LimitNOFILE= in a systemd unit",
        )


def _announce(options: ServeOptions, ground: _Ground) -> None:
    for sock in ground.sockets:
        _log.info("listening on %s", listeners.name_of(sock, options.scheme))
    if options.insecure_http:
        _log.warning("INSECURE: plain HTTP, passwords can be read on the way; for testing only")
    if ground.tls:
        ground.tls.tell()


def _open_admin(options: ServeOptions, loop: Loop, standing: Callable[[], Standing]) -> None:
    """Open the admin listener in `loop`, where the options name one."""
    if not options.admin_listen:
        return
    dispatcher = Dispatcher()
    loop.dispatchers.append(dispatcher)
    for sock in listeners.listen_tcp(*listeners.parse_address(options.admin_listen)):
        server = Server(
            AdminApp(standing, options.admin_hosts),
            sock,
            loop_map=loop.map,
            dispatcher=dispatcher,
            shared=Shared(options.settings, Stats()),
            secure=False,
            admin=True,
        )
        loop.admin.append(server)
        _log.info("admin on %s", listeners.name_of(sock, "http"))


@dataclass
class _Process:
    """The process that serves."""

    options: ServeOptions
    ground: _Ground
    loop: Loop = field(init=False)
    stats: Stats = field(default_factory=Stats)

    def __post_init__(self) -> None:
        self.loop = Loop(self.options.settings)

    def run(self, make_service: Callable[[], Service]) -> int:
        """Serve until stopped. Returns 0: whoever is still there after the drain had time enough."""
        reload_asked = threading.Event()
        self._take_signals(reload_asked.set)
        service = make_service()
        tls, seconds = self.ground.tls, self.options.settings.reload_seconds
        watcher = Watcher(self._watched(service), self.stats, tls.remind if tls else None, seconds=seconds)
        log = self._access_log()
        try:
            self._open(service, log)
            signal.signal(signal.SIGHUP, lambda *_: watcher.reload_now())
            watcher.start()
            if reload_asked.is_set():
                watcher.reload_now()
            _announce(self.options, self.ground)  # from here on connections are taken
            for sentence in service.summary:
                _log.info("%s", sentence)
            left = self.loop.run()
            _log.info("stopped" if not left else "stopped; %d connections were cut", *([left] if left else []))
            return 0
        finally:
            watcher.close()
            service.close()
            if log:
                log.close()

    def _take_signals(self, reload_soon: Callable[[], None]) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.loop.stop())
        signal.signal(signal.SIGHUP, lambda *_: reload_soon())

    def _watched(self, service: Service) -> list[Watched[Any]]:
        options, tls = self.options, self.ground.tls
        if tls is None or options.tls_cert is None or options.tls_key is None:
            return list(service.watched)
        cert, key = options.tls_cert, options.tls_key

        def swap(certificate: Certificate) -> None:
            tls.certificate = certificate
            tls.tell()

        def load() -> Certificate:
            return tls.checked(load_certificate(cert, key))

        return [*service.watched, Watched("certificate", lambda: (cert, key), load, swap, (key,))]

    def _access_log(self) -> AccessLog | None:
        if not self.options.access_log:
            return None
        line = as_json if self.options.log_format == "json" else as_text
        limits = self.options.settings
        return AccessLog(STANDARD_OUTPUT, line, seconds=limits.log_seconds, limit=limits.log_lines)

    def _open(self, service: Service, log: AccessLog | None) -> None:
        dispatcher = Dispatcher()
        self.loop.dispatchers.append(dispatcher)
        tls, proxy = self.ground.tls, self.ground.proxy
        shared = Shared(self.options.settings, self.stats, service.ask, tls, proxy, log)
        for sock in self.ground.sockets:
            server = Server(
                service.app,
                sock,
                loop_map=self.loop.map,
                dispatcher=dispatcher,
                shared=shared,
                secure=not self.options.insecure_http,
            )
            self.loop.servers.append(server)
        _open_admin(self.options, self.loop, lambda: self._standing(service))

    def _standing(self, service: Service) -> Standing:
        catalog, tls = service.catalog(), self.ground.tls
        return Standing(
            self.stats,
            self.loop.connections(),
            service.waiting(),
            tls.certificate.days_left() if tls else None,
            (catalog.etag, catalog.modified) if catalog else None,
            "draining" if self.loop.draining else service.why_not() if catalog else "no catalog",
        )
