"""Errors of broker names and of the database."""

from collections.abc import Iterable

from osbctl.errors import RegistryError, UsageError
from osbctl.extras import command_to_install
from osbctl.text import did_you_mean, escape_line


def missing_extra() -> RegistryError:
    """The error for a library that is not installed."""
    return RegistryError("the registry of brokers needs SQLAlchemy and platformdirs", command_to_install("registry"))


class UnknownBrokerError(UsageError):
    """No broker of that name is registered."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        known = list(known)
        advice = did_you_mean(name, known) or ("osbctl brokers list shows all" if known else "none is registered yet")
        super().__init__(f"no broker {name!r} is registered", advice)


class NameTakenError(UsageError):
    """The name is taken, or has the same variable for its password as another one."""

    def __init__(self, name: str, taken: str) -> None:
        if name == taken:
            super().__init__(f"a broker {name!r} is already registered", "osbctl brokers refresh fetches its catalog")
        else:
            super().__init__(
                f"{name!r} and the registered broker {taken!r} would share one variable for their passwords",
                "choose a name that differs in letters or digits, not only in case and punctuation",
            )


class OutdatedError(RegistryError):
    """The broker was changed or removed by another process since it was read."""

    def __init__(self, name: str) -> None:
        super().__init__(f"another process changed the broker {name!r} at the same time", "run it again")


ADD_MAKES_ONE = "restore it from a backup, or name another with --database; osbctl brokers add makes a new one"
"""Advice if there is no registry."""

_NO_TABLE = "the database is damaged: a table or a column of it is missing"
_BACKUP = "restore it from a backup"
_RECOVER = "restore it from a backup; sqlite3 FILE .recover may save what is left"
_KNOWN = (
    ("database is locked", "another process is writing, and did not finish in time", "try again"),
    ("lock timeout", "another process is writing, and did not finish in time", "try again"),
    ("database or disk is full", "the disk is full; nothing was changed", "free disk space, and run it again"),
    ("disk full", "the disk of the database is full; nothing was changed", "free disk space, and run it again"),
    ("no space left", "the disk of the database is full; nothing was changed", "free disk space, and run it again"),
    ("file is not a database", "this is not an SQLite database", "--database names another"),
    ("utf-8", "the database is damaged: it holds text that is not UTF-8", _RECOVER),
    ("already exists", "the version of the database does not fit its tables", _BACKUP),
    ("no such table", _NO_TABLE, _BACKUP),
    ("no such column", _NO_TABLE, _BACKUP),
    ('relation "osbctl_', _NO_TABLE, _BACKUP),
    ('column "', _NO_TABLE, _BACKUP),
    ("malformed", "the database is damaged", _RECOVER),
    ("read-only transaction", "the database is read-only", "it may be a standby: name the primary with --database"),
    ("readonly database", "the database may not be written to", "check who owns the file and its folder"),
    ("unable to open database file", "the database cannot be opened", "check who owns the file and its folder"),
    ("disk i/o error", "the disk fails, or is full; nothing was changed", "look at the disk and at quotas"),
    ("password authentication failed", "the server refuses the user or the password", "PGPASSWORD or ~/.pgpass has it"),
    ("no password supplied", "the server asks for a password", "PGPASSWORD or ~/.pgpass has it"),
    ("does not exist", "the server has no such database or user", "`createdb` makes a database"),
    ("timeout expired", "the server did not answer in time", "check that it is reachable from here"),
    ("connection refused", "no server listens there", "check that PostgreSQL runs at that address"),
    ("no such file or directory", "no server listens there", "check that PostgreSQL runs at that address"),
    ("permission denied", "the user may not do that in this database", "check who owns its tables"),
)
"""Text in the driver's message, our sentence, and advice; the first match counts."""


def as_registry_error(error: Exception, name: str, password: object = None) -> RegistryError:
    """The RegistryError for an error of the database `name`, without `password`."""
    words = str(getattr(error, "orig", None) or error)
    for piece, sentence, advice in _KNOWN:
        if piece in words.lower():
            return RegistryError(f"{name}: {sentence}", advice)
    line = words.strip().partition("\n")[0]
    if password:
        line = line.replace(str(password), "***")
    return RegistryError(f"{name}: the database failed: {escape_line(line)[:300] or type(error).__name__}")
