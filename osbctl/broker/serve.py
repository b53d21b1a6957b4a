"""The service of a process: what it is built from, and how it runs: bind sockets, serve until stopped, drain."""

import logging
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from osbctl.broker import listeners
from osbctl.broker.admin import AdminApp
from osbctl.broker.authenticator import Authenticator
from osbctl.broker.catalog_app import CatalogApp, ServedCatalog
from osbctl.broker.channel import Shared, Stats
from osbctl.broker.logs import LineWriter, format_json_line, format_text_line
from osbctl.broker.proxy import ProxyRule
from osbctl.broker.reload import WatchedFiles, Watcher
from osbctl.broker.server import Loop, Server
from osbctl.broker.settings import FILES_KEPT, ServeOptions, descriptor_limit
from osbctl.broker.tls import Tls
from osbctl.catalog import LoadedCatalog
from osbctl.credentials import CredentialRecord
from osbctl.errors import ConfigError, UsageError
from osbctl.text import plural

_log = logging.getLogger("osbctl.broker")


class Service:
    """The application, the authenticator before it, and the files that are watched for both.

    Loads everything once and starts the authenticator. `read_catalog` and `read_records` read and check. A change of
    a file means a reload (`catalog_paths()` lists none for a source that is not a file; `secrets` are the files of the
    credentials). `make_app` creates the application. `allow_empty` allows a reload to remove every service. `summary`
    are sentences for the log at the start. Raises OsbctlError.
    """

    def __init__(
        self,
        read_catalog: Callable[[], LoadedCatalog],
        read_records: Callable[[], Sequence[CredentialRecord]],
        catalog_paths: Callable[[], Sequence[Path]],
        secrets: Sequence[Path],
        make_app: Callable[[ServedCatalog], CatalogApp] = CatalogApp,
        *,
        allow_empty: bool = False,
    ) -> None:
        self.watched: Sequence[WatchedFiles[Any]] = (
            WatchedFiles("catalog", catalog_paths, self._load_catalog, self._replace_catalog),
            WatchedFiles("credentials", lambda: secrets, self._load_credentials, self._replace_records, secrets),
        )
        records, loaded = read_records(), read_catalog()  # the cheaper first
        self._read_catalog, self._read_records, self._allow_empty = read_catalog, read_records, allow_empty
        listed = self._set_records(records)
        self.authenticator = Authenticator(records)
        self.app = make_app(ServedCatalog.from_body(loaded.body, int(time.time()), services=loaded.services))
        serving = f"serving {plural(loaded.services, 'service')} with {plural(loaded.plans, 'plan')}"
        self.summary = [sentence for sentence in (loaded.read_as, serving, listed) if sentence]
        if _have_all_expired(records):
            _log.error("all credentials have expired: every request will be refused")

    def _load_catalog(self) -> ServedCatalog:
        """Load the catalog to serve next. Raises OsbctlError."""
        served, loaded = self.app.catalog, self._read_catalog()
        if served.services and not loaded.services and not self._allow_empty:
            problem = "it has no services, and would remove all of them"
            raise ConfigError(problem, "if this is intended, use --allow-empty")
        if loaded.body == served.body:
            return served
        # Each content has its own date, also within one second, or if the clock was set back.
        modified = max(int(time.time()), served.modified + 1)
        return ServedCatalog.from_body(loaded.body, modified, services=loaded.services)

    def _load_credentials(self) -> Sequence[CredentialRecord]:
        """Load the credentials to use next. Raises OsbctlError."""
        records = self._read_records()
        if _have_all_expired(records) and not _have_all_expired(self._records):
            raise ConfigError("all of them have expired", "add one with osbctl hash-password")
        return records

    def log_new_expiry(self) -> None:
        """Log each credential that has expired since it was loaded, once."""
        for record in [record for record in self._unexpired if record.has_expired]:
            self._unexpired.remove(record)
            _log.warning("a credential has expired, its requests are refused from now on: %s", _describe_record(record))

    def _set_records(self, records: Sequence[CredentialRecord]) -> str:
        """Keep the records, and list them for the log: which are there, and which of them have expired."""
        self._records = records
        self._unexpired = [record for record in records if not record.has_expired]
        names = (_describe_record(record) + (" (expired)" if record.has_expired else "") for record in records)
        return f"credentials: {', '.join(names)}"

    def _replace_records(self, records: Sequence[CredentialRecord]) -> None:
        listed = self._set_records(records)
        self.authenticator.replace_records(records)
        _log.info("%s", listed)

    def _replace_catalog(self, new: ServedCatalog) -> None:
        self.app.catalog = new


def _describe_record(record: CredentialRecord) -> str:
    """The label of a record for the log, or else its number and identity."""
    return record.label or f"{record.public_name} ({record.identity})"


def _have_all_expired(records: Sequence[CredentialRecord]) -> bool:
    return all(record.has_expired for record in records)


def serve(options: ServeOptions, load_service: Callable[[], Service], environ: Mapping[str, str]) -> int:
    """Serve until SIGTERM or SIGINT, drain, and return the exit code (0).

    `load_service` is called once the certificate is read, which is cheaper than a catalog. Must run in the main thread.
    Raises OsbctlError if the options conflict, the certificate cannot be used or an address cannot be bound.
    """
    options.check()
    proxy = ProxyRule.parse(options.trusted_proxies, options.trusted_proxy_hops) if options.behind_proxy else None
    tls = Tls(options.tls_cert, options.tls_key) if options.tls_cert and options.tls_key else None
    shared = Shared(options.settings, Stats(), tls=tls, proxy=proxy)
    service = load_service()
    with closing(service.authenticator), ExitStack() as stack:
        sockets = listeners.systemd_sockets(environ)
        if not sockets and options.unix_socket:
            # Its file stays at the end: a new process may have replaced it while this one drained.
            sockets = [listeners.listen_unix(options.unix_socket)]
        sockets = [*map(stack.enter_context, sockets or listeners.listen_tcp(options.host, options.port))]
        for sock in sockets:
            if options.insecure_http and not listeners.is_loopback_socket(sock):
                name = listeners.socket_url(sock, options.scheme)
                raise UsageError(f"--insecure-http is for loopback only, not for {name}", "listen on 127.0.0.1")
        _run_until_stop(options, sockets, shared, service)
    return 0  # connections left after the drain had enough time


def _run_until_stop(options: ServeOptions, sockets: Sequence[socket.socket], shared: Shared, service: Service) -> None:
    limits = options.settings
    loop = Loop(limits)
    watched, tasks = [*service.watched], [service.log_new_expiry]
    if shared.tls:
        watched.append(shared.tls.watched)
        tasks.append(shared.tls.log_expiry_if_soon)
    watcher = Watcher(watched, shared.stats.reloads, tasks, seconds=limits.reload_seconds)
    # A signal may interrupt a handler, which would wait forever for a lock that it holds: these take none.
    signal.signal(signal.SIGTERM, lambda *_: loop.stop())
    signal.signal(signal.SIGINT, lambda *_: loop.stop())
    signal.signal(signal.SIGHUP, lambda *_: watcher.reload_now())
    shared.authenticate = service.authenticator.check
    shared.threads += [service.authenticator.thread, watcher.thread]
    if options.access_log:
        to_line = format_json_line if options.log_format == "json" else format_text_line
        stdout = 1
        shared.access_log = LineWriter(
            stdout, to_line, name="the access log", seconds=limits.log_seconds, limit=limits.log_lines
        )
        shared.threads.append(shared.access_log.thread)
    try:
        _add_servers_to_loop(options, sockets, shared, service, loop)
        watcher.start()
        _log_startup(options, sockets, shared)  # from here on connections are accepted
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
    loop.servers += [Server(service.app, sock, loop, shared) for sock in sockets]
    if options.admin_listen:
        # The admin listener has its own limit, independent of the service's connections: part of the kept descriptors.
        connections = 32 if descriptor_limit() >= 2 * FILES_KEPT else 4
        admin_shared = Shared(replace(options.settings, connections=connections), Stats())
        app = AdminApp(shared, service.authenticator, service.app, options.admin_hosts)
        for sock in listeners.listen_tcp(*listeners.parse_listen_address(options.admin_listen)):
            loop.admin.append(Server(app, sock, loop, admin_shared))
            _log.info("admin on %s", listeners.socket_url(sock, "http"))


def _log_startup(options: ServeOptions, sockets: Sequence[socket.socket], shared: Shared) -> None:
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
            text = "any client can forge HTTPS and its address, and so guess passwords without a limit"
            _log.warning("INSECURE: --trusted-proxy %s trusts every address: %s", network, text)
    if shared.tls:
        shared.tls.log_expiry()
