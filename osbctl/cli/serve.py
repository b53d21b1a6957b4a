"""`osbctl serve`: the catalog over HTTPS."""

from __future__ import annotations

import os
from enum import StrEnum
from logging import getLevelNamesMapping
from pathlib import Path
from typing import Annotated

import typer

from osbctl.cli import options as common
from osbctl.platforms import Platform


class LogFormat(StrEnum):
    """How log and access log are written."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """How much the log tells."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"


def serve(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="The catalog, as for validate.", envvar="OSBCTL_SOURCE")
    ],
    credentials: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Credential records, or htpasswd ($6$).", envvar="OSBCTL_CREDENTIALS"),
    ],
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate chain, PEM.", envvar="OSBCTL_TLS_CERT")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its private key, PEM.", envvar="OSBCTL_TLS_KEY")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.", envvar="OSBCTL_HOST")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="Port; 0 takes a free one.", envvar=["OSBCTL_PORT", "PORT"]),
    ] = 8443,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="Proxy that ends TLS; repeatable.", envvar="OSBCTL_TRUSTED_PROXY"),
    ] = None,
    unix_socket: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Listen on a Unix socket for a proxy.", envvar="OSBCTL_UNIX_SOCKET"),
    ] = None,
    self_signed: Annotated[
        bool,
        typer.Option("--self-signed", help="For testing: makes a certificate.", envvar="OSBCTL_SELF_SIGNED"),
    ] = False,
    insecure_http: Annotated[
        bool,
        typer.Option("--insecure-http", help="For testing: no TLS, loopback only.", envvar="OSBCTL_INSECURE_HTTP"),
    ] = False,
    base_path: Annotated[
        str, typer.Option(metavar="PATH", help="The path before /v2/catalog.", envvar="OSBCTL_BASE_PATH")
    ] = "",
    minimum_version: Annotated[
        str,
        typer.Option(metavar="VERSION", help="The oldest API version answered.", envvar="OSBCTL_MINIMUM_VERSION"),
    ] = "2.0",
    missing_version_status: Annotated[
        int,
        typer.Option(
            metavar="412|400",
            help="Status for a missing version header.",
            envvar="OSBCTL_MISSING_VERSION_STATUS",
        ),
    ] = 412,
    admin_listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Serve /livez, /readyz, /metrics there.", envvar="OSBCTL_ADMIN_LISTEN"),
    ] = "",
    admin_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Name to ask it by, beside addresses.", envvar="OSBCTL_ADMIN_HOST"),
    ] = None,
    log_format: Annotated[
        LogFormat, typer.Option(help="Of log (stderr) and access log (stdout).", envvar="OSBCTL_LOG_FORMAT")
    ] = LogFormat.TEXT,
    log_level: Annotated[
        LogLevel, typer.Option(help="What the log tells; the access log is apart.", envvar="OSBCTL_LOG_LEVEL")
    ] = LogLevel.INFO,
    access_log: Annotated[
        bool, typer.Option("--access-log/--no-access-log", help="A line a request.", envvar="OSBCTL_ACCESS_LOG")
    ] = True,
    connections_per_address: Annotated[
        int,
        typer.Option(
            min=0, help="Limit for one address; 0 behind a balancer.", envvar="OSBCTL_CONNECTIONS_PER_ADDRESS"
        ),
    ] = 250,
    api_version: Annotated[
        common.ApiVersion | None,
        typer.Option("--api-version", help="The API version to check against.", envvar="OSBCTL_API_VERSION"),
    ] = None,
    platforms: Annotated[
        list[Platform] | None,
        typer.Option("--platform", "-p", help="Serve nothing that it refuses; repeatable.", envvar="OSBCTL_PLATFORM"),
    ] = None,
    allow_empty: Annotated[
        bool,
        typer.Option("--allow-empty", help="A reload may take every service away.", envvar="OSBCTL_ALLOW_EMPTY"),
    ] = False,
    max_bytes: Annotated[
        int,
        typer.Option("--max-bytes", min=1, help="The largest catalog that is served.", envvar="OSBCTL_MAX_BYTES"),
    ] = 10_000_000,
    at: common.At = "",
) -> int:
    """Serve a catalog as GET /v2/catalog, with credentials, until SIGTERM or SIGINT.

    HTTPS is a must: --tls-cert with --tls-key, or a proxy (--trusted-proxy, --unix-socket), or --self-signed to
    try. A change of catalog, credentials or certificate is taken up by itself, or on SIGHUP; a bad one is
    logged, and the good one stays. Every option has an environment variable.

    \b
    osbctl serve c.yaml --credentials c.json --tls-cert a.crt --tls-key a.key
    osbctl serve catalog.yaml --credentials credentials.json --self-signed
    osbctl serve c.yaml --credentials c.json --host :: --trusted-proxy 10.0.0.0/8
    """
    from osbctl.broker import logs
    from osbctl.broker.options import ServeOptions
    from osbctl.broker.serve import serve as run
    from osbctl.broker.service import prepare
    from osbctl.broker.settings import Settings
    from osbctl.errors import DocumentError
    from osbctl.tasks.load_catalog import CatalogSource, load
    from osbctl.tasks.serve import sources

    options = ServeOptions(
        host=host,
        port=port,
        tls_cert=tls_cert,
        tls_key=tls_key,
        self_signed=self_signed,
        insecure_http=insecure_http,
        trusted_proxies=tuple(trusted_proxy or ()),
        unix_socket=unix_socket,
        admin_listen=admin_listen,
        admin_hosts=tuple(admin_host or ()),
        log_format=log_format.value,
        access_log=access_log,
        settings=Settings(connections_per_address=connections_per_address),
    )
    options.check()
    logs.set_up(log_format.value, getLevelNamesMapping()[log_level.upper()])
    catalog = CatalogSource(source, at, api_version, tuple(platforms or ()), max_bytes)
    made = sources(catalog, credentials, base_path, minimum_version, missing_version_status, allow_empty=allow_empty)
    try:
        return run(options, prepare(made), os.environ)
    except DocumentError:
        load(catalog)  # once more, here: the report shows the lines
        raise
