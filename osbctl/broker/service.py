"""Catalog and credentials become the service of one process: the answers, the gate, what is watched."""

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
    """A checked catalog: JSON in UTF-8, how many services and plans; `read_as` as that of a `Document`."""

    body: bytes
    services: int
    plans: int
    read_as: str = ""


@dataclass(frozen=True)
class Sources:
    """Sources of catalog and credentials, and options of their answers.

    `load_catalog` and `load_credentials` read and check; what is wrong they raise as OsbctlError.
    The paths are the files whose change means a reload (none for a source that is no file).
    `allow_empty` lets a reload take every service away. `answers` makes the application, as `CatalogApp` does.
    """

    load_catalog: Callable[[], LoadedCatalog]
    load_credentials: Callable[[], Sequence[CredentialRecord]]
    catalog_paths: Callable[[], Sequence[Path]]
    credentials_paths: Callable[[], Sequence[Path]]
    allow_empty: bool = False
    answers: Callable[[ServedCatalog], CatalogApp] = CatalogApp


def prepare(sources: Sources) -> Callable[[], Service]:
    """Load everything once, and return what makes the service of each process. Raises OsbctlError."""
    body, services, plans, read_as = sources.load_catalog()
    catalog, records = ServedCatalog.of(body, time.time(), services=services, plans=plans), sources.load_credentials()
    return lambda: _service(sources, catalog, records, read_as)


def _next(sources: Sources, served: ServedCatalog) -> ServedCatalog:
    """Load the content to serve after `served`. Raises OsbctlError."""
    body, services, plans, _ = sources.load_catalog()
    if served.services and not services and not sources.allow_empty:
        raise ConfigError("it has no services: that would take every service away", "if it is meant, use --allow-empty")
    if body == served.body:
        return served
    # Should the clock go back: a date once given must not come again.
    return ServedCatalog.of(body, max(time.time(), served.modified), services=services, plans=plans)


def _service(sources: Sources, catalog: ServedCatalog, records: Sequence[CredentialRecord], read_as: str) -> Service:
    authenticator, answers, paths = Authenticator(records), sources.answers(catalog), sources.credentials_paths
    in_force = len(records)

    def swap(new: ServedCatalog) -> None:
        answers.catalog = new

    def renew(new: Sequence[CredentialRecord]) -> None:
        nonlocal in_force
        authenticator.renew(new)
        in_force = len(new)

    return Service(
        answers,
        ask=authenticator.ask,
        watched=[
            WatchedFiles(
                "catalog",
                sources.catalog_paths,
                lambda: _next(sources, answers.catalog),
                swap,
                loss=lambda new: _loss(answers.catalog.services, new.services),
            ),
            WatchedFiles(
                "credentials", paths, sources.load_credentials, renew, paths(), lambda new: _loss(in_force, len(new))
            ),
        ],
        catalog=lambda: answers.catalog,
        waiting=lambda: authenticator.waiting,
        why_not=lambda: authenticator.why_not,
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
