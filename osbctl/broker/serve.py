"""Runs the service: bind sockets, serve in a main loop until stopped, drain."""

import logging
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from waitress import wasyncore  # type: ignore[import-untyped]

from osbctl.broker import listeners
from osbctl.broker.admin import AdminApp
from osbctl.broker.catalog_app import Application
from osbctl.broker.channel import Channel
from osbctl.broker.fairness import Scheduler
from osbctl.broker.logs import LineWriter, format_json_line, format_text_line
from osbctl.broker.proxy import ProxyRule
from osbctl.broker.reload import WatchedFiles, Watcher, stamp_files
from osbctl.broker.server import PolledSockets, Server
from osbctl.broker.service import Service
from osbctl.broker.settings import FILES_KEPT, ServeOptions, Settings, descriptor_limit
from osbctl.broker.shared_state import Shared, Stats
from osbctl.broker.tls import Certificate, Tls, load_certificate
from osbctl.errors import UsageError
from osbctl.text import plural

_log = logging.getLogger("osbctl.broker")

STANDARD_OUTPUT = 1


class Loop:
    """The main loop: one thread for all sockets. `servers` serve the catalog; `admin` stays up while they drain.

    `stop()` may be called from any thread or signal handler, as it takes no lock; the second call ends draining.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sockets, self.scheduler = PolledSockets(), Scheduler()
        self.servers: list[Server] = []
        self.admin: list[Server] = []
        self._stops = 0
        self._next_sweep = 0.0

    def stop(self) -> None:
        """Begin to drain; the second call ends the loop now."""
        self._stops += 1
        for server in self.servers[:1]:
            server.wake_loop()

    def run(self) -> int:
        """Serve until `stop()`, then drain. Returns the number of connections cut during a response."""
        while not self._stops:
            self.run_turn(self.settings.sweep_seconds)
        return self.drain()

    def run_turn(self, wait_seconds: float) -> None:
        """Wait for sockets for at most `wait_seconds`, accept connections, serve those who wait. Never raises."""
        servers = (*self.servers, *self.admin)
        try:
            now = time.monotonic()
            wait_seconds = min(wait_seconds, *(server.resume_accepting(now) for server in servers))
            for channel, events in self.sockets.wait(0 if not self.scheduler.is_idle else wait_seconds):
                self._handle_events(channel, events)
            self.scheduler.run_turn()
        except Exception:  # a failure must not end the service, or spin
            _log.exception("a turn of the main loop failed")
            time.sleep(0.05)
        if now >= self._next_sweep:
            self._next_sweep = now + self.settings.sweep_seconds
            for server in servers:
                server.cut_overdue_connections(now)

    def _handle_events(self, channel: Any, events: int) -> None:
        """Queue a connection; let a listener or the trigger of `wake_loop` act at once."""
        if not isinstance(channel, Channel):
            wasyncore.readwrite(channel, events)
        elif channel.waits:  # for its turn
            channel.server.poll_socket(channel)
        elif events & select.POLLPRI:
            channel.handle_expt()
        else:
            self.scheduler.add(channel)

    def drain(self) -> int:
        """Stop accepting, close idle connections, finish responses. Returns the number of remaining connections."""
        for server in self.servers:
            server.stop_accepting()
        began = time.monotonic()
        while self._open_channels() and self._stops < 2:
            age = time.monotonic() - began
            if age > self.settings.drain_seconds:
                break
            for channel in self._open_channels():
                channel.close_gracefully(age > self.settings.drain_grace_seconds)
            self.run_turn(0.05)
        left = self._open_channels()
        for channel in left:
            channel.abort()
        self.close()
        return len(left)

    def close(self) -> None:
        for server in (*self.servers, *self.admin):
            for channel in list(server.active_channels.values()):
                channel.handle_close()
            server.close()

    def _open_channels(self) -> list[Channel]:
        return [channel for server in self.servers for channel in list(server.active_channels.values())]


def serve(options: ServeOptions, load_service: Callable[[], Service], environ: Mapping[str, str]) -> int:
    """Serve until SIGTERM or SIGINT, drain, and return the exit code (0).

    `load_service` is called once the certificate is read, which is cheaper than a catalog. Must run in the main thread.
    Raises OsbctlError if the options conflict, the certificate cannot be used or an address cannot be bound.
    """
    options.check()
    proxy = ProxyRule.parse(options.trusted_proxies, options.trusted_proxy_hops) if options.behind_proxy else None
    tls, certificate_files = load_tls(options)
    shared = Shared(options.settings, Stats(), tls=tls, proxy=proxy)
    service = load_service()
    with closing(service.authenticator):
        sockets = listeners.systemd_sockets(environ)
        if not sockets and options.unix_socket:
            # Its file stays at the end: a new process may have replaced it while this one drained.
            sockets = [listeners.listen_unix(options.unix_socket)]
        sockets = sockets or listeners.listen_tcp(options.host, options.port)
        try:
            for sock in sockets:
                if options.insecure_http and not listeners.is_loopback_socket(sock):
                    name = listeners.socket_url(sock, options.scheme)
                    raise UsageError(f"--insecure-http is for loopback only, not for {name}", "listen on 127.0.0.1")
            _run_until_stopped(options, sockets, shared, service, certificate_files)
            return 0  # connections left after the drain had enough time
        finally:
            for sock in sockets:
                sock.close()


def load_tls(options: ServeOptions) -> tuple[Tls | None, list[WatchedFiles[Certificate]]]:
    """Load the certificate, None for plain HTTP, and the files to watch for it."""
    cert, key = options.tls_cert, options.tls_key
    if not (cert and key):
        return None, []
    stamp = stamp_files(lambda: (cert, key))
    tls = Tls(load_certificate(cert, key))
    watched = WatchedFiles(
        "certificate",
        lambda: (cert, key),
        lambda: tls.check_dates(load_certificate(cert, key)),
        tls.replace_certificate,
        secrets=(key,),
        loaded=stamp,
    )
    return tls, [watched]


def _run_until_stopped(
    options: ServeOptions,
    sockets: Sequence[socket.socket],
    shared: Shared,
    service: Service,
    certificate_files: Sequence[WatchedFiles[Certificate]],
) -> None:
    limits = options.settings
    loop = Loop(limits)
    tasks = [service.log_new_expiry, *([shared.tls.log_expiry_if_soon] if shared.tls else ())]
    watcher = Watcher([*service.watched, *certificate_files], shared.stats, tasks, seconds=limits.reload_seconds)
    # A signal may interrupt a handler, which would wait forever for a lock that it holds: these take none.
    signal.signal(signal.SIGTERM, lambda *_: loop.stop())
    signal.signal(signal.SIGINT, lambda *_: loop.stop())
    signal.signal(signal.SIGHUP, lambda *_: watcher.reload_now())
    shared.authenticate = service.authenticator.check
    shared.threads += [service.authenticator.thread, watcher.thread]
    if options.access_log:
        to_line = format_json_line if options.log_format == "json" else format_text_line
        shared.access_log = LineWriter(
            STANDARD_OUTPUT, to_line, name="the access log", seconds=limits.log_seconds, limit=limits.log_lines
        )
        shared.threads.append(shared.access_log.thread)
    try:
        _add_servers_to_loop(options, sockets, shared, service, loop)
        watcher.start()
        _log_listeners(options, sockets, shared)  # from here on connections are accepted
        for sentence in service.summary:
            _log.info("%s", sentence)
        left = loop.run()
        _log.info("stopped" if not left else f"stopped; {plural(left, 'connection')} cut off")
    finally:
        # A late signal must not change the exit code: the interpreter restores the default action before it has ended.
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        watcher.close()
        if shared.access_log:
            shared.access_log.close()


def _add_servers_to_loop(
    options: ServeOptions, sockets: Sequence[socket.socket], shared: Shared, service: Service, loop: Loop
) -> None:
    def create_server(app: Application, sock: socket.socket, shared: Shared) -> Server:
        return Server(app, sock, sockets=loop.sockets, scheduler=loop.scheduler, shared=shared)

    loop.servers += [create_server(service.app, sock, shared) for sock in sockets]
    if options.admin_listen:
        # The admin listener has its own limit, independent of the service's connections.
        admin_shared = Shared(replace(options.settings, connections=options.settings.admin_connections()), Stats())
        app = AdminApp(shared, service, options.admin_hosts)
        for sock in listeners.listen_tcp(*listeners.parse_listen_address(options.admin_listen)):
            loop.admin.append(create_server(app, sock, admin_shared))
            _log.info("admin on %s", listeners.socket_url(sock, "http"))


def _log_listeners(options: ServeOptions, sockets: Sequence[socket.socket], shared: Shared) -> None:
    """Log the addresses, warnings of insecure options, and the expiry of the certificate."""
    for sock in sockets:
        _log.info("listening on %s", listeners.socket_url(sock, options.scheme))
    connections, wanted = options.settings.connection_limit(), options.settings.connections
    if connections < wanted:
        text = "at most %s at a time: the limit of open files is %d; %s need %d (ulimit -n)"
        _log.warning(text, plural(connections, "connection"), descriptor_limit(), f"{wanted:,}", wanted + FILES_KEPT)
    if options.insecure_http:
        _log.warning("INSECURE: plain HTTP, passwords can be read on the way; for testing only")
    for network in shared.proxy.networks if shared.proxy else ():
        if not network.prefixlen:
            _log.warning(
                "INSECURE: --trusted-proxy %s trusts every address: any client can forge HTTPS and its address, and "
                "so guess passwords without a limit",
                network,
            )
    if shared.tls:
        shared.tls.log_expiry()
