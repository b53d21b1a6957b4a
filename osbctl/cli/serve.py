"""`osbctl serve`: serve a catalog over HTTPS."""

import gc
import os
import signal
from logging import getLevelNamesMapping
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from osbctl.cli import common
from osbctl.errors import SourceError
from osbctl.platforms import Platform


def serve(
    source: Annotated[str, Argument(metavar="SOURCE", help="The catalog, as for osbctl validate.")],
    credentials: Annotated[Path, Option(metavar="FILE", help="Credential records, or htpasswd with $6$ hashes.")],
    tls_cert: Annotated[Path | None, Option(metavar="FILE", help="Certificate chain, PEM.")] = None,
    tls_key: Annotated[Path | None, Option(metavar="FILE", help="Private key of the certificate, PEM.")] = None,
    host: Annotated[str, Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, Option(metavar="N", min=0, max=65535, help="Port; 0 picks a free one.", envvar=["OSBCTL_PORT", "PORT"])
    ] = 8443,
    trusted_proxy: Annotated[
        list[str] | None,
        Option(metavar="ADDRESS", help="Address or network of a proxy for TLS; repeatable."),
    ] = None,
    trusted_proxy_hops: Annotated[
        int, Option(metavar="N", min=0, max=16, help="Number of proxies that add to X-Forwarded-For; 0: unknown.")
    ] = 0,
    unix_socket: Annotated[Path | None, Option(metavar="PATH", help="Unix socket to listen on for a proxy.")] = None,
    insecure_http: Annotated[bool, Option("--insecure-http", help="Test without TLS, on loopback only.")] = False,
    base_path: Annotated[str, Option(metavar="PATH", help="Path in front of /v2/catalog.")] = "",
    minimum_version: Annotated[str, Option(metavar="VERSION", help="Oldest API version to answer.")] = "2.0",
    missing_version_status: Annotated[int, Option(metavar="412|400", help="Status without a version header.")] = 412,
    admin_listen: Annotated[str, Option(metavar="HOST:PORT", help="Address of /livez, /readyz, /metrics.")] = "",
    admin_host: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="Host name of the admin address, besides IPs; repeatable."),
    ] = None,
    log_format: Annotated[
        Literal["text", "json"], Option(help="Format of log (stderr) and access log (stdout).")
    ] = "text",
    log_level: Annotated[
        Literal["debug", "info", "warning"], Option(help="Detail of the log, not of the access log.")
    ] = "info",
    access_log: Annotated[bool, Option("--access-log/--no-access-log", help="Log one line per request.")] = True,
    connections_per_address: Annotated[int, Option(metavar="N", min=0, help="Connections per address; 0: any.")] = 250,
    api_version: Annotated[common.ApiVersion | None, Option(help="The API version to check against.")] = None,
    platforms: Annotated[
        list[Platform] | None,
        Option("--platform", "-p", help="Refuse what this platform refuses; repeatable.", envvar="OSBCTL_PLATFORM"),
    ] = None,
    allow_empty: Annotated[bool, Option("--allow-empty", help="Allow a reload to remove every service.")] = False,
    max_bytes: Annotated[int, Option(metavar="N", min=1, help="Size limit of the catalog, in bytes.")] = 10_000_000,
    at: common.At = "",
    config: common.Config = None,
) -> int:
    """Serve a catalog over HTTPS, at GET /v2/catalog, until SIGTERM or SIGINT.

    HTTPS needs --tls-cert with --tls-key, or a proxy (--trusted-proxy or --unix-socket). A changed catalog,
    credentials file or certificate is loaded automatically, and on SIGHUP. If it is faulty, the error is logged, and
    the last good one stays. Every option has an environment variable.

    \b
    osbctl serve c.yaml --credentials c.json --tls-cert a.crt --tls-key a.key
    osbctl serve catalog.yaml --credentials credentials.json --insecure-http
    osbctl serve c.yaml --credentials c.json --host :: --trusted-proxy 10.0.0.0/8
    """
    if not hasattr(signal, "SIGHUP"):
        raise SourceError("serve needs Linux or macOS", "on Windows run it in a container, or in WSL")
    from osbctl.broker import logs
    from osbctl.broker.serve import serve as run
    from osbctl.broker.settings import ServeOptions, Settings
    from osbctl.findings import DocumentError
    from osbctl.tasks.load_catalog import CatalogSource, load
    from osbctl.tasks.options import variables_lookup
    from osbctl.tasks.serve import service_factory

    gc.enable()
    options = ServeOptions(
        host=host,
        port=port,
        tls_cert=tls_cert,
        tls_key=tls_key,
        insecure_http=insecure_http,
        trusted_proxies=tuple(trusted_proxy or ()),
        trusted_proxy_hops=trusted_proxy_hops,
        unix_socket=unix_socket,
        admin_listen=admin_listen,
        admin_hosts=tuple(admin_host or ()),
        log_format=log_format,
        access_log=access_log,
        settings=Settings(connections_per_address=connections_per_address),
    )
    options.check()
    logs.configure_logging(log_format, getLevelNamesMapping()[log_level.upper()])
    catalog = CatalogSource(source, at, api_version, tuple(platforms or ()), max_bytes, config)
    load_service = service_factory(
        catalog, credentials, base_path, minimum_version, missing_version_status, allow_empty=allow_empty
    )
    try:
        return run(options, load_service, os.environ)
    except DocumentError:
        load(catalog, variables_lookup(os.environ, config_file=config))  # once more, here: the report shows the lines
        raise
