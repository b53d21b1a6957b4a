"""Errors of broker names and of the database."""

from collections.abc import Iterable

from osbctl.errors import RegistryError, UsageError
from osbctl.extras import command_to_install
from osbctl.text import escape_line


def missing_extra_error() -> RegistryError:
    """The error for a library that is not installed."""
    return RegistryError("the registry of brokers needs SQLAlchemy and platformdirs", command_to_install("registry"))


class UnknownBrokerError(UsageError):
    """No broker of that name is registered."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        from difflib import get_close_matches

        known = list(known)
        close = [one for one in known if len(name) > 2 and one.startswith(name)] or get_close_matches(name, known)
        advice = f"did you mean {' or '.join(close[:3])}?" if close else "osbctl brokers list shows all"
        advice = f"{advice if known else 'none is registered yet'}; osbctl brokers add registers one"
        super().__init__(f"no broker {name!r} is registered", advice.replace("?;", "?"))


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


class DamagedRowError(RegistryError):
    """The row of one broker holds something that osbctl did not write."""


ADD_MAKES_ONE = "restore it from a backup, or name another with --database; osbctl brokers add makes a new one"
"""Advice if there is no registry."""

_RECOVER = "restore it from a backup; sqlite3 FILE .recover may save what is left"
_KNOWN = (
    (("database is locked", "lock timeout"), "another process is writing, and did not finish in time", "try again"),
    (("disk is full", "disk full", "no space left", "disk i/o"), "the disk is full, or fails", "nothing was changed"),
    (("file is not a database",), "this is not an SQLite database", "--database names another"),
    (("utf-8", "malformed"), "the database is damaged", _RECOVER),
    (("no such table", "column", 'relation "'), "the database is damaged: a part of it is missing", "restore a backup"),
    (("read-only", "readonly"), "the database is read-only", "check who owns it; of a standby, name the primary"),
    (("password auth", "no password"), "the server refuses the user or the password", "set PGPASSWORD or ~/.pgpass"),
    (("does not exist",), "the server has no such database or user", "`createdb` makes a database"),
    (("timeout expired",), "the server did not answer in time", "check that it is reachable from here"),
    (
        ("terminating connection", "closed the connection", "is lost", "starting up", "shutting down"),
        "the server was stopped or restarted meanwhile",
        "try again",
    ),
    (("connection refused", "no such file"), "no server listens there", "check that PostgreSQL runs at that address"),
)
"""Texts in the driver's message, our sentence, and advice; the first match counts."""


def translate_database_error(error: Exception, database_name: str, password: object = None) -> RegistryError:
    """The RegistryError for an error of the database driver, without `password`."""
    text = str(getattr(error, "orig", None) or error)
    for patterns, sentence, advice in _KNOWN:
        if any(pattern in text.lower() for pattern in patterns):
            return RegistryError(f"{database_name}: {sentence}", advice)
    line = text.strip().partition("\n")[0]
    if password:
        line = line.replace(str(password), "***")
    return RegistryError(f"{database_name}: the database failed: {escape_line(line)[:300] or type(error).__name__}")
