"""From any earlier version of the tables to the newest, or from nothing.

Alembic is loaded only where there is something to do.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy
from sqlalchemy import Connection

from osbctl.errors import RegistryError
from osbctl.registry.errors import ADD_MAKES_ONE, missing_extra
from osbctl.registry.tables import METADATA, VERSION_TABLE
from osbctl.text import safe

if TYPE_CHECKING:
    from osbctl.registry.database import Database

NEWEST = "0001"
"""The last migration in `migrations/versions`."""

FOLDER = Path(__file__).parent / "migrations"
"""Alembic's folder of them."""

_LOCK = 0x6F7362_63746C
"""The key of PostgreSQL's advisory lock: any fixed number does; this one spells osbctl."""


def migrate(database: Database, *, make: bool = True) -> None:
    """Bring the tables to the newest version, in one transaction that only one process at a time can have.

    Raises RegistryError: there are none and `make` is false, they are another program's, a newer osbctl has been here,
    the version is damaged, or the database cannot be used.
    """
    with database.reading() as connection:
        version = _version(connection, database.name)
        ours = {VERSION_TABLE, *METADATA.tables}
        others = [name for name in sqlalchemy.inspect(connection).get_table_names() if name not in ours]
    if version == NEWEST:
        return
    if not version and others and (database.is_sqlite or not make):
        text = f"{database.name}: this database is another program's: it has a table {safe(others[0])!r}"
        raise RegistryError(text, "name another with --database")
    if not version and not make:
        raise RegistryError(f"{database.name}: the database is empty", ADD_MAKES_ONE)
    with database.writing() as connection:
        if not database.is_sqlite:
            connection.execute(sqlalchemy.select(sqlalchemy.func.pg_advisory_xact_lock(_LOCK)))
        if _version(connection, database.name) != NEWEST:  # another process may have been faster
            _upgrade(connection)


def _version(connection: Connection, name: str) -> str | None:
    """The version of the tables; None where there are none yet."""
    tables = set(sqlalchemy.inspect(connection).get_table_names()) & {VERSION_TABLE, *METADATA.tables}
    if not tables:
        return None
    found = []
    if VERSION_TABLE in tables:
        found = list(connection.scalars(sqlalchemy.text(f"SELECT version_num FROM {VERSION_TABLE}")))  # noqa: S608
    version: str | None = found[0] if len(found) == 1 else None
    if version not in {file.name.partition("_")[0] for file in (FOLDER / "versions").glob("[0-9]*.py")}:
        if isinstance(version, str) and version.isdecimal() and version > NEWEST:
            raise RegistryError(f"{name}: a newer osbctl made this database", "update osbctl")
        text = f"{version!r}, which no osbctl wrote" if version else "lost"
        raise RegistryError(
            f"{name}: the database is damaged: the version of its tables ({VERSION_TABLE}) is {text}",
            "restore it from a backup, or name another with --database",
        )
    return version


def _upgrade(connection: Connection) -> None:
    try:
        from alembic import command
        from alembic.config import Config
    except ImportError as error:
        raise missing_extra() from error
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        command.upgrade(config, "head")
