"""Where the registry is: the database that is named, else one in the user's data folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from osbctl.registry.records import RegisteredBroker
    from osbctl.registry.store import Registry


def open_registry(database: str | None, *, make: bool = False) -> Registry:
    """The registry in `database`, else in the user's data folder; `make` one where the named one is missing.

    Raises:
        UsageError, RegistryError: as `Registry.open`; or there is no file of that name.
    """
    from osbctl.errors import RegistryError
    from osbctl.registry.store import Registry

    if database and not make and (file := _missing(database)):
        advice = "look at --database; osbctl brokers add makes a new one"
        raise RegistryError(f"{file}: there is no such database", advice)
    return Registry.open(database or _default())


def registered(name: str, database: str | None) -> RegisteredBroker:
    """What is stored of a broker. Raises UnknownBrokerError beside what `open_registry` raises."""
    with open_registry(database) as registry:
        return registry.broker(name)


def is_registered(name: str, database: str | None) -> bool:
    """Whether a broker of that name is registered. Where you have no database yet, none is made.

    Raises:
        UsageError, RegistryError: as `open_registry`.
    """
    if not database and _missing(_default()):
        return False
    with open_registry(database) as registry:
        return name in registry.names()


def is_missing(database: str | None) -> bool:
    """Whether the database that is named, or the one in the data folder, is a file that is not there."""
    return bool(_missing(database or _default()))


def _missing(database: str) -> str:
    """The file that `database` means, if it is one and not there; else empty."""
    from osbctl.registry.database import parse_url

    url = parse_url(database)
    file = url.database or ""
    return file if url.get_backend_name() == "sqlite" and not os.path.exists(file) else ""  # noqa: PTH110


def _default() -> str:
    from osbctl.errors import RegistryError
    from osbctl.registry.errors import missing_extra

    try:
        from platformdirs import user_data_path
    except ImportError as error:
        raise missing_extra() from error
    folder = user_data_path("osbctl", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise RegistryError(f"{folder}: cannot be made: {error.strerror}", "--database names another file") from error
    return str(folder / "brokers.sqlite")
