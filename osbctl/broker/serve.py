"""From options to a running service: bind, serve until stopped, drain."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from osbctl.broker import listeners
from osbctl.broker.admin import AdminApp
from osbctl.broker.answers import Application
from osbctl.broker.decision import Ask
from osbctl.broker.logs import AccessLog, as_json, as_text
from osbctl.broker.loop import Loop
from osbctl.broker.proxy import ProxyRule
from osbctl.broker.reload import Watched, Watcher
from osbctl.broker.server import Server
from osbctl.broker.settings import ADMIN_CONNECTIONS, FILES_KEPT, LEAST_CONNECTIONS, ServeOptions, descriptor_limit
from osbctl.broker.sharing import Shared, Standing, Stats
from osbctl.broker.signals import Signals
from osbctl.broker.snapshot import ServedCatalog
from osbctl.broker.tls import Certificate, Tls, load_certificate, self_signed
from osbctl.errors import ConfigError, UsageError

_log = logging.getLogger("osbctl.broker")

STANDARD_OUTPUT = 1


@dataclass(frozen=True)
class Service:
    """Content that the process serves.

    `app` answers requests, `ask` is that of the gate before it (None: no gate). `watched` are the
    catalog and the credentials. `catalog()` is what is served now, `waiting()` the length of the gate's
    queue, `why_not()` why it can check no password (empty where it can). `summary` are the sentences for the log at the
    start. `close()` ends threads and processes.
    """

    app: Application
    ask: Ask | None = None
    watched: Sequence[Watched[Any]] = ()
    catalog: Callable[[], ServedCatalog | None] = lambda: None
    waiting: Callable[[], int] = lambda: 0
    why_not: Callable[[], str] = lambda: ""
    summary: Sequence[str] = ()
    close: Callable[[], None] = lambda: None


def serve(
    options: ServeOptions, make_service: Callable[[], Service], environ: Mapping[str, str], signals: Signals
) -> int:
    """Serve until SIGTERM or SIGINT, drain, and return the exit code (0).

    `make_service` is called once the sockets are bound. Raises OsbctlError where the options make no
    sense, the certificate cannot be used or an address cannot be bound.
    Must run in the main thread. `signals` may hold requests to reload that came while `make_service` was prepared.
    """
    options.check()
    proxy = ProxyRule.of(options.trusted_proxies) if options.behind_proxy else None
    shared = Shared(options.settings, Stats(), tls=_tls(options), proxy=proxy)
    handed = listeners.inherited(environ)
    made = None if handed else options.unix_socket  # goes at the end; one that was handed over stays
    sockets = handed or ([listeners.listen_unix(made)] if made else listeners.listen_tcp(options.host, options.port))
    file = _file_id(made)
    try:
        _check_sockets(options, sockets)
        _run(options, sockets, shared, make_service, signals)
        return 0  # connections left after the drain had enough time
    finally:
        if made and file == _file_id(made):  # a new process may have put its own there while this one drained
            made.unlink(missing_ok=True)
        for sock in sockets:
            sock.close()


def _file_id(path: Path | None) -> tuple[int, int, int] | None:
    """Device, inode and time of a file, since an inode that was freed is given to the next file; None: no file."""
    if path is None or not path.exists():
        return None
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _tls(options: ServeOptions) -> Tls | None:
    if options.self_signed:
        return Tls(self_signed()[0])
    if options.tls_cert and options.tls_key:
        return Tls(load_certificate(options.tls_cert, options.tls_key))
    return None


def _check_sockets(options: ServeOptions, sockets: Sequence[socket.socket]) -> None:
    """Require loopback sockets for testing options. Raises UsageError, ConfigError."""
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


def _run(
    options: ServeOptions,
    sockets: Sequence[socket.socket],
    shared: Shared,
    make_service: Callable[[], Service],
    signals: Signals,
) -> None:
    """Serve until stopped."""
    signals.collect(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    loop, service = Loop(options.settings), make_service()
    watched = [*service.watched, *_certificate(options, shared.tls)]
    remind = shared.tls.remind if shared.tls else None
    watcher = Watcher(watched, shared.stats, remind, seconds=options.settings.reload_seconds)
    shared.ask, shared.access_log = service.ask, _access_log(options)
    try:
        _open(options, sockets, shared, service, loop)
        watcher.start()
        signals.call({signal.SIGTERM: loop.stop, signal.SIGINT: loop.stop, signal.SIGHUP: watcher.reload_now})
        _announce(options, sockets, shared)  # from here on connections are taken
        for sentence in service.summary:
            _log.info("%s", sentence)
        left = loop.run()
        _log.info("stopped" if not left else f"stopped; {left} connections were cut")
    finally:
        watcher.close()
        service.close()
        if shared.access_log:
            shared.access_log.close()


def _certificate(options: ServeOptions, tls: Tls | None) -> Iterator[Watched[Certificate]]:
    cert, key = options.tls_cert, options.tls_key
    if tls and cert and key:
        yield Watched(
            "certificate", lambda: (cert, key), lambda: tls.checked(load_certificate(cert, key)), tls.swap, (key,)
        )


def _access_log(options: ServeOptions) -> AccessLog | None:
    if not options.access_log:
        return None
    line, limits = as_json if options.log_format == "json" else as_text, options.settings
    return AccessLog(STANDARD_OUTPUT, line, seconds=limits.log_seconds, limit=limits.log_lines)


def _open(
    options: ServeOptions, sockets: Sequence[socket.socket], shared: Shared, service: Service, loop: Loop
) -> None:
    """Open the listeners in `loop`, that for the admin too where the options name one."""

    def server(app: Application, sock: socket.socket, shared: Shared) -> Server:
        return Server(app, sock, loop_map=loop.map, ready=loop.ready, shared=shared)

    def standing() -> Standing:
        catalog, tls = service.catalog(), shared.tls
        return Standing(
            shared.stats,
            loop.connections(),
            service.waiting(),
            tls.certificate.days_left() if tls else None,
            (catalog.etag, catalog.modified) if catalog else None,
            "draining" if loop.draining else service.why_not() if catalog else "no catalog",
        )

    loop.servers += [server(service.app, sock, shared) for sock in sockets]
    if options.admin_listen:
        # The admin listener has its own limit, independent of the service's connections.
        apart = Shared(replace(options.settings, connections=ADMIN_CONNECTIONS), Stats())
        app = AdminApp(standing, options.admin_hosts)
        for sock in listeners.listen_tcp(*listeners.parse_address(options.admin_listen)):
            loop.admin.append(server(app, sock, apart))
            _log.info("admin on %s", listeners.name_of(sock, "http"))


def _announce(options: ServeOptions, sockets: Sequence[socket.socket], shared: Shared) -> None:
    for sock in sockets:
        _log.info("listening on %s", listeners.name_of(sock, options.scheme))
    if options.insecure_http:
        _log.warning("INSECURE: plain HTTP, passwords can be read on the way; for testing only")
    for network in shared.proxy.networks if shared.proxy else ():
        if not network.prefixlen:
            _log.warning(
                "INSECURE: --trusted-proxy %s trusts every address: any client may claim to come over HTTPS, and from "
                "any address, which it can guess passwords from without end",
                network,
            )
    if shared.tls:
        shared.tls.tell()
