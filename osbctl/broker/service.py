"""Builds the service of a process from a catalog and credentials: application, authenticator, watched files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from osbctl.broker.authenticator import Authenticator
from osbctl.broker.catalog_app import CatalogApp, ServedCatalog
from osbctl.broker.reload import WatchedFiles
from osbctl.broker.serve import Service
from osbctl.credentials.record import CredentialRecord
from osbctl.errors import ConfigError
from osbctl.text import plural


class LoadedCatalog(NamedTuple):
    """A validated catalog: JSON in UTF-8, numbers of services and plans; `read_as` as in `Document`."""

    body: bytes
    services: int
    plans: int
    read_as: str = ""


@dataclass(frozen=True)
class Sources:
    """Sources of catalog and credentials, and the application that serves them.

    `load_catalog` and `load_credentials` read and check; they raise OsbctlError. A change of one of the paths means
    a reload (none for a source that is not a file). `allow_empty` allows a reload to remove every service.
    `make_app` creates the application.
    """

    load_catalog: Callable[[], LoadedCatalog]
    load_credentials: Callable[[], Sequence[CredentialRecord]]
    catalog_paths: Callable[[], Sequence[Path]]
    credentials_paths: Callable[[], Sequence[Path]]
    allow_empty: bool = False
    make_app: Callable[[ServedCatalog], CatalogApp] = CatalogApp


def prepare(sources: Sources) -> Callable[[], Service]:
    """Load everything once, and return a function that creates the service. Raises OsbctlError."""
    body, services, plans, read_as = sources.load_catalog()
    catalog, records = ServedCatalog.of(body, time.time(), services=services, plans=plans), sources.load_credentials()
    return lambda: _service(sources, catalog, records, read_as)


def _reload_catalog(sources: Sources, served: ServedCatalog) -> ServedCatalog:
    """Load the catalog to serve instead of `served`. Raises OsbctlError."""
    body, services, plans, _ = sources.load_catalog()
    if served.services and not services and not sources.allow_empty:
        raise ConfigError("it has no services, and would remove all of them", "if this is intended, use --allow-empty")
    if body == served.body:
        return served
    # The clock may have been set back, but Last-Modified must never decrease.
    return ServedCatalog.of(body, max(time.time(), served.modified), services=services, plans=plans)


def _service(sources: Sources, catalog: ServedCatalog, records: Sequence[CredentialRecord], read_as: str) -> Service:
    authenticator, app, paths = Authenticator(records), sources.make_app(catalog), sources.credentials_paths
    in_force = len(records)

    def swap(new: ServedCatalog) -> None:
        app.catalog = new

    def renew(new: Sequence[CredentialRecord]) -> None:
        nonlocal in_force
        authenticator.replace_records(new)
        in_force = len(new)

    return Service(
        app,
        authenticate=authenticator.check,
        watched=[
            WatchedFiles(
                "catalog",
                sources.catalog_paths,
                lambda: _reload_catalog(sources, app.catalog),
                swap,
                loss=lambda new: _loss(app.catalog.services, new.services),
            ),
            WatchedFiles(
                "credentials", paths, sources.load_credentials, renew, paths(), lambda new: _loss(in_force, len(new))
            ),
        ],
        catalog=lambda: app.catalog,
        waiting=lambda: authenticator.waiting,
        unavailable_reason=lambda: authenticator.unavailable_reason,
        summary=[
            *filter(None, [read_as]),
            f"serving {plural(catalog.services, 'service')} with {plural(catalog.plans, 'plan')}",
            "credentials: "
            + ", ".join(record.label or f"{record.public_name} ({record.identity})" for record in records),
        ],
        close=authenticator.close,
    )


def _loss(before: int, after: int) -> str:
    return f"{after} left of {before}" if 2 * after < before else ""
