"""`osbctl serve`: serve a catalog over HTTPS."""

import gc
import os
import re
import signal
from collections.abc import Callable, Iterator
from functools import partial
from logging import getLevelNamesMapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from osbctl.broker.catalog_app import CatalogApp
from osbctl.broker.parser import parse_api_version
from osbctl.catalog import LoadedCatalog
from osbctl.commands import options as common
from osbctl.commands.load_catalog import CatalogSource, load, load_in_subprocess
from osbctl.commands.options import Argument, Option
from osbctl.commands.settings import first_config, variables_lookup
from osbctl.credentials import read_credentials
from osbctl.errors import SourceError, UsageError
from osbctl.findings import DocumentError
from osbctl.platforms import Platform
from osbctl.sources.folder.source_tree import LOCK, SUFFIXES

if TYPE_CHECKING:
    from osbctl.broker.serve import Service


def serve(
    source: Annotated[str, Argument("SOURCE", "The catalog, as for osbctl validate.")],
    credentials: Annotated[Path, Option("Credential records, or htpasswd with $6$ hashes.", metavar="FILE")],
    tls_cert: Annotated[Path | None, Option("Certificate chain, PEM.", metavar="FILE")] = None,
    tls_key: Annotated[Path | None, Option("Private key of the certificate, PEM.", metavar="FILE")] = None,
    host: Annotated[str, Option("Address to listen on.", metavar="HOST")] = "127.0.0.1",
    port: Annotated[
        int, Option("Port; 0 picks a free one.", metavar="N", min=0, max=65535, envvar=["OSBCTL_PORT", "PORT"])
    ] = 8443,
    trusted_proxy: Annotated[
        tuple[str, ...], Option("Address or network of a proxy for TLS; repeatable.", metavar="ADDRESS")
    ] = (),
    trusted_proxy_hops: Annotated[
        int, Option("Number of proxies that add to X-Forwarded-For; 0: unknown.", metavar="N", min=0, max=16)
    ] = 0,
    unix_socket: Annotated[Path | None, Option("Unix socket to listen on for a proxy.", metavar="PATH")] = None,
    insecure_http: Annotated[bool, Option("Test without TLS, on loopback only.")] = False,
    base_path: Annotated[str, Option("Path in front of /v2/catalog.", metavar="PATH")] = "",
    minimum_version: Annotated[str, Option("Oldest API version to answer.", metavar="VERSION")] = "2.0",
    missing_version_status: Annotated[int, Option("Status without a version header.", metavar="412|400")] = 412,
    admin_listen: Annotated[str, Option("Address of /livez, /readyz, /metrics.", metavar="HOST:PORT")] = "",
    admin_host: Annotated[
        tuple[str, ...], Option("Host name of the admin address, besides IPs; repeatable.", metavar="NAME")
    ] = (),
    log_format: Annotated[Literal["text", "json"], Option("Format of log (stderr) and access log (stdout).")] = "text",
    log_level: Annotated[
        Literal["debug", "info", "warning"], Option("Detail of the log, not of the access log.")
    ] = "info",
    access_log: Annotated[bool, Option("Log one line per request.", "--access-log/--no-access-log")] = True,
    connections_per_address: Annotated[int, Option("Connections per address; 0: any.", metavar="N", min=0)] = 250,
    api_version: Annotated[common.ApiVersion | None, Option("The API version to check against.")] = None,
    platforms: Annotated[
        tuple[Platform, ...],
        Option("Refuse what this platform refuses; repeatable.", "--platform", "-p", envvar="OSBCTL_PLATFORM"),
    ] = (),
    allow_empty: Annotated[bool, Option("Allow a reload to remove every service.")] = False,
    max_bytes: Annotated[int, Option("Size limit of the catalog, in bytes.", metavar="N", min=1)] = 10_000_000,
    at: common.At = "",
    config: common.Config = None,
) -> int:
    """Serve a catalog over HTTPS, at GET /v2/catalog, until SIGTERM or SIGINT.

    HTTPS needs --tls-cert with --tls-key, or a proxy (--trusted-proxy or --unix-socket). A changed catalog,
    configuration, credentials file or certificate is loaded automatically, and on SIGHUP. If it is faulty, the error is
    logged, and the last good one stays. Every option has an environment variable.

    \b
    osbctl serve c.yaml --credentials c.json --tls-cert a.crt --tls-key a.key
    osbctl serve catalog.yaml --credentials credentials.json --insecure-http
    osbctl serve c.yaml --credentials c.json --host :: --trusted-proxy 10.0.0.0/8
    """
    if not hasattr(signal, "SIGHUP"):
        raise SourceError("serve needs Linux or macOS", "on Windows run it in a container, or in WSL")
    # Windows cannot import these.
    from osbctl.broker import logs
    from osbctl.broker.serve import serve as run
    from osbctl.broker.settings import ServeOptions, Settings

    gc.enable()
    options = ServeOptions(
        host=host,
        port=port,
        tls_cert=tls_cert,
        tls_key=tls_key,
        insecure_http=insecure_http,
        trusted_proxies=trusted_proxy,
        trusted_proxy_hops=trusted_proxy_hops,
        unix_socket=unix_socket,
        admin_listen=admin_listen,
        admin_hosts=admin_host,
        log_format=log_format,
        access_log=access_log,
        settings=Settings(connections_per_address=connections_per_address),
    )
    options.check()
    logs.configure_logging(log_format, getLevelNamesMapping()[log_level.upper()])
    catalog = CatalogSource(source, at, api_version, platforms, max_bytes, config)
    load_service = service_factory(
        catalog, credentials, base_path, minimum_version, missing_version_status, allow_empty=allow_empty
    )
    try:
        return run(options, load_service, os.environ)
    except DocumentError:
        load(catalog, variables_lookup(config_file=config))  # once more, here: the report shows the lines
        raise


def service_factory(
    catalog: CatalogSource,
    credentials: Path,
    base_path: str,
    minimum_version: str,
    missing_version_status: int,
    *,
    allow_empty: bool,
) -> Callable[[], "Service"]:
    """Return a function that loads catalog and credentials, with the options of their answers.

    Raises UsageError: the minimum version is not `2.N`, the status not 412 or 400, or the path not a valid one.
    """
    from osbctl.broker.serve import Service

    if missing_version_status not in (412, 400):
        raise UsageError("--missing-version-status must be 412 or 400")
    version = parse_api_version(minimum_version)
    if version is None or version[0] != 2:
        raise UsageError(f"{minimum_version!r} is not an API version", "write MAJOR.MINOR, for example 2.14")
    _check_base_path(base_path)

    def load_checked() -> LoadedCatalog:
        for path in _watched_files(catalog.source):
            _check_not_special(path)
        return load_in_subprocess(catalog)

    # Standard input can be read once only, so a reload gets the same catalog.
    loaded = load(catalog) if catalog.source == "-" else None
    configured = first_config([catalog.source], catalog.config)
    named = {*(layer.origin for layer in configured.layers), *configured.schema, configured.env} - {""}
    beside = [] if loaded else [Path(file) for file in sorted(named)]
    return partial(
        Service,
        read_catalog=(lambda: loaded) if loaded else load_checked,
        read_records=lambda: read_credentials(_check_not_special(credentials)),
        catalog_paths=lambda: [*_watched_files(catalog.source), *beside],
        secrets=[credentials],
        allow_empty=allow_empty,
        make_app=partial(
            CatalogApp, base_path=base_path, minimum_version=version, missing_version_status=missing_version_status
        ),
    )


def _check_base_path(path: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9/._~!$&'()*+,;=:@-]*", path):
        raise UsageError(f"--base-path {path!a} is not the path of a URL", "write it like /brokers/data")
    if {".", ".."} & set(path.split("/")):  # clients remove them (RFC 3986 §5.2.4)
        raise UsageError(f"--base-path {path!a} has dot segments", "write it like /brokers/data")


def _check_not_special(path: Path) -> Path:
    """`path`, also if nothing is there. Raises SourceError for a FIFO, device or folder: reading it may never end."""
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113  # else it raises PermissionError
        raise SourceError(f"{path} is not a regular file")
    return path


def _watched_files(source: str) -> Iterator[Path]:
    """Files whose change causes a reload. Empty for standard input and git."""
    path = Path(source)
    if os.path.isdir(path):  # noqa: PTH112
        # Other files are no part of a source folder: the log of this broker may be among them.
        parts = (file for file in _visible_files(path) if file.suffix in SUFFIXES or file.name == LOCK)
        yield from sorted(filter(Path.is_file, parts))
    elif os.path.exists(path):  # noqa: PTH110
        yield path


def _visible_files(folder: Path) -> Iterator[Path]:
    """The files below a folder that are not hidden; a subfolder may be a link within it, as in a mounted ConfigMap."""
    root, seen = folder.resolve(), set()
    for place, folders, files in os.walk(folder, followlinks=True):
        here = Path(place).resolve()
        if here in seen or not here.is_relative_to(root):
            folders.clear()
            continue
        seen.add(here)
        folders[:] = [name for name in folders if name[0] != "."]
        yield from (Path(place, name) for name in files if name[0] != ".")
