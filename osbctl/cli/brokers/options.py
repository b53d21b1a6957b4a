"""The options that several commands of `osbctl brokers` share, and the database that they name."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from osbctl.cli.brokers.passwords import Passwords
    from osbctl.registry.store import Registry
    from osbctl.tasks.reach import Reach


class View(StrEnum):
    """How registered brokers are shown."""

    TEXT = "text"
    JSON = "json"


Name = Annotated[str, typer.Argument(metavar="NAME", help="The broker's name.", show_default=False)]
Format = Annotated[View, typer.Option("--format", "-f", help="How to show it.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="FILE|URL",
        envvar="OSBCTL_DATABASE",
        help="An SQLite file, or postgresql+psycopg://USER@HOST/DATABASE.  [default: in your data folder]",
        show_default=False,
    ),
]
PasswordStdin = Annotated[
    bool,
    typer.Option("--password-stdin", help="Password from standard input; else OSBCTL_BROKER_<NAME>_PASSWORD."),
]
Credentials = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Credential records with passwords (hash-password --include-password); a label may name the broker.",
    ),
]
Instances = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="The plans that have instances: ids, one a line or as a JSON list, or an export."
    ),
]


def open_registry(database: str | None) -> Registry:
    """The registry in `database`, else in the user's data folder.

    Raises:
        UsageError, RegistryError: as `Registry.open`.
    """
    from osbctl.registry.store import Registry

    return Registry.open(database or _default())


def make_reach(
    ca_file: str | None, client_cert: str | None, insecure: bool, timeout: float, passwords: Passwords
) -> Reach:
    """What the options say of how registered brokers are reached."""
    from osbctl.cli.connection import environment_proxies
    from osbctl.cli.output import note
    from osbctl.sources.access import Access
    from osbctl.tasks.reach import Reach

    if insecure:
        note("INSECURE: no certificate is checked; anybody in between can read the password")
    access = Access(
        ca_file=ca_file,
        client_cert=client_cert,
        insecure=insecure,
        total_seconds=timeout,
        proxies=environment_proxies(),
    )
    return Reach(access, passwords.of, note)


def is_registered(name: str, database: str | None) -> bool:
    """Whether a broker of that name is registered. Where there is no database yet, none is made.

    Raises:
        UsageError, RegistryError: as `Registry.open`.
    """
    import os

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
