"""Database of registered brokers: connection to SQLite or PostgreSQL, the table of brokers, its rows as values.

Each failure becomes one sentence. What the rows hold is not trusted.
"""

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from time import monotonic
from typing import Any

from osbctl.errors import RegistryError, UsageError, command_to_install
from osbctl.files import check_regular_file
from osbctl.platforms import ApiVersion, Platform, State
from osbctl.platforms.golang import catalog_as_read
from osbctl.platforms.updates import StoredRow
from osbctl.registry.records import (
    ADD_MAKES_ONE,
    TABLE,
    BrokerCatalog,
    BrokerRow,
    DamagedRowError,
    Refresh,
    RefreshOutcome,
    missing_extra_error,
)
from osbctl.text import escape_line

try:
    import sqlalchemy
    from sqlalchemy import URL, Column, Connection, Engine, Integer, LargeBinary, Row, String, Table, Text, event
    from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
    from sqlalchemy.pool import NullPool, QueuePool
except ImportError as error:
    raise missing_extra_error() from error

_SHORTEST_SECRET = 4  # characters; a shorter value of a query, such as a number of seconds, may be part of any message
WAIT_SECONDS = 10.0  # for another writer, and for a connection to the server


class Database:
    """An opened database. Each `read_transaction` and `write_transaction` has a connection of its own."""

    def __init__(self, url: str, wait_seconds: float = WAIT_SECONDS, *, create: bool = True) -> None:
        """Prepare the connection to `url`, the path of an SQLite file or a URL of SQLAlchemy; `create` a missing file.

        Raises UsageError (it is neither), RegistryError (there is no such file, no right to it, or no driver).
        """
        self._url = parse_database_url(url)
        # Without the query: a password may stand there, too.
        self.name = self._url.set(query={}).render_as_string(hide_password=True)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self.name = escape_line(self._url.database or "")
            _ensure_file(self._url.database or "", self.name, create=create)
        self.engine = _create_engine(self._url, wait_seconds)
        self._take_turn: Callable[[], AbstractContextManager[None]] = nullcontext
        if self.is_sqlite:
            self._take_turn = _Turns(wait_seconds).take

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

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise RegistryError in place of an error of the database."""
        try:
            yield
        except (SQLAlchemyError, UnicodeError) as error:  # the latter: text that is not UTF-8
            raise translate_database_error(error, self.name, self._url) from None


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
    if parsed.drivername != "sqlite" and url.count("@") > 1:  # the host or more, which messages quote, is of a password
        raise UsageError("--database has more than one @", "in a user name or a password, write @ as %40")
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
    if sqlite := url.get_backend_name() == "sqlite":
        arguments: dict[str, Any] = {"timeout": wait_seconds, "isolation_level": None, "check_same_thread": False}
        # Connections are closed after use, also by a thread that goes on when the registry is closed.
        pool: dict[str, Any] = {"poolclass": NullPool}
    else:
        # A server without an encoding (SQL_ASCII) would send bytes.
        arguments = {"connect_timeout": max(2, round(wait_seconds)), "client_encoding": "utf8"}
        arguments["prepare_threshold"] = None  # behind PgBouncer, the next transaction may have another session
        # Size 0: no limit; there are never more connections than working threads. A server that restarted has closed
        # the connections that wait in the pool: each is tried before it is used.
        pool = {"poolclass": QueuePool, "pool_size": 0, "pool_pre_ping": True}
    try:
        engine = sqlalchemy.create_engine(url, hide_parameters=True, connect_args=arguments, **pool)
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


_RECOVER = "restore it from a backup; sqlite3 FILE .recover may save what is left"
_KNOWN = (
    (("database is locked", "lock timeout"), "another process is writing, and did not finish in time", "try again"),
    (("disk is full", "disk full", "no space left", "disk i/o"), "the disk is full, or fails", "nothing was changed"),
    (("file is not a database",), "this is not an SQLite database", "--database names another"),
    (("utf-8", "malformed"), "the database is damaged", _RECOVER),
    (("no such table", "column", 'relation "'), "the database is damaged: a part of it is missing", "restore a backup"),
    (("read-only", "readonly"), "the database is read-only", "check who owns it; of a standby, name the primary"),
    (("password auth", "no password"), "the server refuses the user or the password", "set PGPASSWORD or ~/.pgpass"),
    (
        ('database "" does not', 'role "" does not'),
        "the server has no such database or user",
        "`createdb` makes a database",
    ),
    (("timeout expired",), "the server did not answer in time", "check that it is reachable from here"),
    (
        ("terminating connection", "closed the connection", "is lost", "starting up", "shutting down"),
        "the server was stopped or restarted meanwhile",
        "try again",
    ),
    (("connection refused", "no such file"), "no server listens there", "check that PostgreSQL runs at that address"),
)
"""Texts in the driver's message, our sentence, and advice; the first match counts."""


def translate_database_error(error: Exception, database_name: str, url: URL) -> RegistryError:
    """The RegistryError for an error of the database driver, without the password and the query of `url`."""
    text = str(getattr(error, "orig", None) or error)
    # Without names, which are not the server's words: those of a user `readonly`, a database, a host.
    words = re.sub('"[^"]*"', '""', text.lower())
    for patterns, sentence, advice in _KNOWN:
        if any(pattern in words for pattern in patterns):
            return RegistryError(f"{database_name}: {sentence}", advice)
    line = _redact_url(text.strip().partition("\n")[0], url)
    return RegistryError(f"{database_name}: the database failed: {escape_line(line)[:300] or type(error).__name__}")


def _redact_url(text: str, url: URL) -> str:
    """Redact the password and the values of the query of `url`."""
    secrets = [text for values in url.normalized_query.values() for text in values if len(text) >= _SHORTEST_SECRET]
    secrets += [str(url.password)] if url.password else []
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


METADATA = sqlalchemy.MetaData()

BROKERS = Table(
    TABLE,
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    # The broker's part of the name of the variable with its password; unique.
    Column("variable", String(100), nullable=False, unique=True),
    Column("url", Text, nullable=False),
    Column("username", Text, nullable=False),
    Column("api_version", String(20), nullable=False),
    Column("platform", String(40), nullable=False),
    Column("services", Integer, nullable=False),
    Column("plans", Integer, nullable=False),
    Column("kept_plans", Integer, nullable=False),
    Column("registered_at", String(20), nullable=False),
    Column("refreshed_at", String(20), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("catalog", LargeBinary, nullable=False),
    Column("previous", LargeBinary),  # the catalog before it
    # What the platform keeps: JSON, escaped to ASCII, since a text column refuses some characters of ids and names.
    Column("kept", Text, nullable=False),
    sqlite_autoincrement=True,  # never reuse the id of a removed broker
)

LIGHT = tuple(column for column in BROKERS.c if column.name not in ("catalog", "previous", "kept", "variable"))
"""The columns of a broker without its catalogs."""
_LOCK = 0x6F7362_63746C  # the key of PostgreSQL's advisory lock: any fixed number does; this one spells osbctl


def ensure_table(database: Database, *, create: bool = True) -> None:
    """Create the table if there is none, in one transaction that only one process at a time can have.

    Raises RegistryError: the table is missing and not to be created, or the database belongs to another program.
    """
    with database.read_transaction() as connection:
        tables = sqlalchemy.inspect(connection).get_table_names()
    if BROKERS.name in tables:
        return
    if tables and (database.is_sqlite or not create):
        text = f"{database.name}: this is not a registry of this osbctl: it has a table {escape_line(tables[0])!r}"
        raise RegistryError(text, "name another with --database")
    if not create:
        raise RegistryError(f"{database.name}: the database is empty", ADD_MAKES_ONE)
    with database.write_transaction() as connection:
        if not database.is_sqlite:
            connection.execute(sqlalchemy.select(sqlalchemy.func.pg_advisory_xact_lock(_LOCK)))
        METADATA.create_all(connection)  # unless another process was faster


def parse_broker_row(row: Row[Any]) -> BrokerRow:
    """The broker in a row with at least the columns `LIGHT`."""
    values = {column.name: getattr(row, column.name) for column in LIGHT}
    with _reject_foreign_rows(f"the row of {escape_line(str(row.name))}, which"):
        "".join(map(str, values.values())).encode()  # fails for a text of SQLite that is not UTF-8
        if not all(isinstance(values[column.name], column.type.python_type) for column in LIGHT):
            raise TypeError
        ApiVersion(row.api_version)
        return BrokerRow(**values | {"platform": Platform(row.platform), "outcome": RefreshOutcome(row.outcome)})


def check_bytes(value: Any) -> bytes:
    """Return `value`. Raises RegistryError: it is not bytes."""
    with _reject_foreign_rows():
        if not isinstance(value, bytes):  # SQLite takes any value in any column
            raise TypeError
        return value


def parse_kept_objects(text: Any) -> tuple[StoredRow, ...]:
    """Kept objects from the JSON in their column."""
    with _reject_foreign_rows():
        return tuple(
            StoredRow(one["service_id"], one["plan_id"] or None, one["data"], State(one["state"]), one["since"])
            for one in json.loads(str.encode(text))
        )


def format_kept_objects(rows: Iterable[StoredRow]) -> str:
    """Kept objects as the JSON in their column."""
    values = []
    for row in rows:
        ids = {"service_id": row.service, "plan_id": row.plan or ""}
        values.append({**ids, "state": row.state, "since": row.since, "data": row.data})
    return json.dumps(values)


def catalog_column_values(platform: Platform, catalog: BrokerCatalog, refresh: Refresh) -> dict[str, Any]:
    """Values of the columns that change with a broker's catalog; `platform` is the one that reads it."""
    services, plans = catalog_as_read(platform, catalog.data).counts
    return {
        "catalog": catalog.body,
        "services": services,
        "plans": plans,
        "refreshed_at": refresh.at,
        "outcome": refresh.outcome.value,
    }


@contextmanager
def _reject_foreign_rows(held: str = "rows that") -> Iterator[None]:
    """Raise RegistryError for rows (`held`) that osbctl did not write; the database may have other users."""
    try:
        yield
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedRowError(f"the database holds {held} osbctl did not write", "restore it from a backup") from None
