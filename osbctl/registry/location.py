"""Where the registry is: the database that is named, else one in the user's data folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from osbctl.registry.records import RegisteredBroker
    from osbctl.registry.store import Registry


def open_registry(database: str | None) -> Registry:
    """The registry in `database`, else in the user's data folder.

    Raises:
        UsageError, RegistryError: as `Registry.open`.
    """
    from osbctl.registry.store import Registry

    return Registry.open(database or _default())


def registered(name: str, database: str | None) -> RegisteredBroker:
    """What is stored of a broker. Raises UnknownBrokerError beside what `open_registry` raises."""
    with open_registry(database) as registry:
        return registry.broker(name)


def is_registered(name: str, database: str | None) -> bool:
    """Whether a broker of that name is registered. Where there is no database yet, none is made.

    Raises:
        UsageError, RegistryError: as `Registry.open`.
    """
    where = database or _default()
    if "://" not in where and not os.path.exists(where):  # noqa: PTH110
        return False
    with open_registry(where) as registry:
        return name in registry.names()


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
