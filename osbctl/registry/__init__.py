"""Registered brokers and their catalogs, without passwords: in a named database, or in the user's data folder."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from osbctl.errors import RegistryError
from osbctl.registry.records import NAME, TABLE, BrokerRow, UnknownBrokerError, missing_extra_error

if TYPE_CHECKING:
    from osbctl.registry.store import Registry


def open_registry(database: str | None, *, create: bool = False) -> Registry:
    """The registry in `database`, else in the user's data folder; `create` and errors as in `Registry.open`."""
    from osbctl.registry.store import Registry

    if not database:
        database = _default_database_path()
        folder = os.path.dirname(database)  # noqa: PTH120
        try:
            if create:
                os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        except OSError as error:
            text = f"{folder}: cannot be created: {error.strerror}"
            raise RegistryError(text, "--database names another file") from error
    return Registry.open(database, create=create)


def open_registry_of(name: str, database: str | None) -> Registry:
    """The registry that may hold the broker `name`. Never creates a database; a file or folder of that name needs none.

    Raises UnknownBrokerError; RegistryError: the database cannot be used.
    """
    if not NAME.fullmatch(name) and ("://" in name or os.path.exists(name)):  # noqa: PTH110
        raise UnknownBrokerError(name, ())
    if not database or os.path.exists(name):  # noqa: PTH110
        from osbctl.registry.database import parse_database_url

        url = parse_database_url(database or _default_database_path())
        if url.get_backend_name() == "sqlite" and not os.path.exists(url.database or ""):  # noqa: PTH110
            raise UnknownBrokerError(name, ())
    return open_registry(database)


def find_registration(name: str, database: str | None) -> BrokerRow:
    """The registered broker of that name. Raises errors as `open_registry_of`."""
    with open_registry_of(name, database) as registry:
        return registry.broker(name).row


def names_in_file(database: str | None) -> list[str]:
    """Names of the registered brokers, read without SQLAlchemy and without waiting. Empty for a server."""
    import sqlite3

    path = (database or _default_database_path()).removeprefix("sqlite:///")
    if not os.path.isfile(path):  # noqa: PTH113  # a URL of a server is no file
        return []
    with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as connection:
        return [name for (name,) in connection.execute(f"SELECT name FROM {TABLE} ORDER BY name")]  # noqa: S608


def _default_database_path() -> str:
    try:
        from platformdirs import user_data_path
    except ImportError as error:
        raise missing_extra_error() from error
    return str(user_data_path("osbctl", appauthor=False) / "brokers.sqlite")
