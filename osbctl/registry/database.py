"""Connection to the database: SQLite or PostgreSQL through SQLAlchemy. Each failure becomes one sentence."""

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from time import monotonic
from typing import Any

from osbctl.errors import RegistryError, UsageError
from osbctl.extras import command_to_install
from osbctl.files import check_regular_file
from osbctl.registry.errors import ADD_MAKES_ONE, missing_extra_error, translate_database_error

try:
    import sqlalchemy
    from sqlalchemy import URL, Connection, Engine, event
    from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
    from sqlalchemy.pool import QueuePool
except ImportError as error:
    raise missing_extra_error() from error

WAIT_SECONDS = 10.0
"""Seconds to wait for another writer, and for a connection to the server."""


class Database:
    """An opened database. Each `read_transaction` and `write_transaction` has a connection of its own."""

    def __init__(self, url: str, wait_seconds: float = WAIT_SECONDS, *, create: bool = True) -> None:
        """Prepare the connection to `url`, the path of an SQLite file or a URL of SQLAlchemy; `create` a missing file.

        Raises UsageError (it is neither), RegistryError (there is no such file, no right to it, or no driver).
        """
        self._url = parse_database_url(url)
        # Without the query: a password may stand there, too.
        self.name = self._url.set(query={}).render_as_string(hide_password=True).removeprefix("sqlite:///")
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            _ensure_file(self._url.database or "", self.name, create=create)
        self.engine = _create_engine(self._url, wait_seconds)
        self._turns = _Turns(wait_seconds) if self.is_sqlite else None

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """A transaction that only reads. Raises RegistryError if the database cannot be used; the message says why."""
        with self._translate_errors(), self._take_turn(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write_transaction(self) -> Iterator[Connection]:
        """A transaction that may write. Raises RegistryError: also if the database is locked, or the disk full."""
        with (
            self._translate_errors(),
            self._take_turn(),
            self.engine.connect().execution_options(osbctl_writes=True) as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        self.engine.dispose()

    def _take_turn(self) -> AbstractContextManager[None]:
        return self._turns.take() if self._turns else nullcontext()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise RegistryError in place of an error of the database."""
        try:
            yield
        except (SQLAlchemyError, UnicodeError) as error:  # the latter: text that is not UTF-8
            raise translate_database_error(error, self.name, self._url.password) from None


class _Turns:
    """One transaction at a time: SQLite's own wait is unfair, so that of many threads some would wait in vain."""

    def __init__(self, wait_seconds: float) -> None:
        self._lock, self._wait_seconds = threading.RLock(), wait_seconds
        self._timeout: tuple[float, OperationalError] | None = None

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for the turn, however long it takes, unless another process is what all of them wait for."""
        asked = monotonic()
        with self._lock:
            if self._timeout and asked < self._timeout[0] and monotonic() > asked + self._wait_seconds:
                raise self._timeout[1]
            try:
                yield
            except OperationalError as error:
                if "database is locked" in str(error):
                    self._timeout = monotonic(), error
                raise


def parse_database_url(url: str) -> URL:
    """The SQLAlchemy URL of `url`, a path or a URL.

    Raises UsageError: osbctl does not support the database. The message never holds a password.
    """
    try:
        parsed = sqlalchemy.make_url(url) if "://" in url else sqlalchemy.URL.create("sqlite", database=url)
    except (ArgumentError, ValueError):
        raise UsageError("--database is not the URL of a database", _URLS) from None
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    in_memory = parsed.drivername == "sqlite" and parsed.database in (None, "", ":memory:")
    if parsed.drivername not in ("sqlite", "postgresql+psycopg") or in_memory:
        raise UsageError(f"the registry does not support this database: {parsed.drivername}", _URLS)
    return parsed


_URLS = "name a file for SQLite, or postgresql+psycopg://USER@HOST/DATABASE"


def _ensure_file(path: str, display_name: str, *, create: bool) -> None:
    """Check that the file exists, or `create` an empty one that only its owner may read (SQLite follows the umask)."""
    try:
        if create:
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        check_regular_file(path)
    except FileNotFoundError:
        if create:
            raise RegistryError(f"{display_name}: there is no such folder", "--database names another file") from None
        raise RegistryError(f"{display_name}: there is no such database", ADD_MAKES_ONE) from None
    except OSError as error:
        text = f"{display_name}: the database cannot be opened: {error.strerror}"
        raise RegistryError(text, "--database names another") from error


def _create_engine(url: URL, wait_seconds: float) -> Engine:
    """An engine whose transactions begin with their lock, or its time limit. Raises RegistryError: no driver."""
    # A server without an encoding (SQL_ASCII) would send bytes.
    arguments: dict[str, Any] = {"connect_timeout": max(2, round(wait_seconds)), "client_encoding": "utf8"}
    if sqlite := url.get_backend_name() == "sqlite":
        arguments = {"timeout": wait_seconds, "isolation_level": None, "check_same_thread": False}
    try:
        # Size 0: no limit; there are never more connections than working threads. A server that restarted has closed
        # the connections that wait in the pool: each is tried before it is used.
        engine = sqlalchemy.create_engine(
            url,
            poolclass=QueuePool,
            pool_size=0,
            pool_pre_ping=not sqlite,
            hide_parameters=True,
            connect_args=arguments,
        )
    except ImportError as error:
        raise RegistryError("PostgreSQL needs psycopg", command_to_install("postgresql")) from error
    if sqlite:
        event.listen(engine, "connect", _keep_text_that_is_not_utf8)
        event.listen(engine, "begin", _begin_sqlite_transaction)
    else:
        limit = f"SET LOCAL lock_timeout = {round(wait_seconds * 1000)}"
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(limit))
    return engine


def _keep_text_that_is_not_utf8(connection: Any, _: object) -> None:
    """Read such text with surrogates, so that one damaged row does not prevent reading the others."""
    connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")


def _begin_sqlite_transaction(connection: Connection) -> None:
    """Take the write lock at once for a transaction that writes: two readers that become writers would deadlock.

    The journal is a rollback journal, not a write-ahead log: one file at rest, which may lie on a network folder.
    """
    connection.exec_driver_sql("PRAGMA synchronous = FULL")  # after a power cut, too, the old or the new state
    writes = connection.get_execution_options().get("osbctl_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
