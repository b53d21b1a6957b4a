"""The options that several commands of `osbctl brokers` share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from osbctl.cli.brokers.passwords import Passwords
    from osbctl.tasks.reach import Reach


class BrokersFormat(StrEnum):
    """How registered brokers are shown."""

    TEXT = "text"
    JSON = "json"


Name = Annotated[str, typer.Argument(metavar="NAME", help="The broker's name.", show_default=False)]
Format = Annotated[BrokersFormat, typer.Option("--format", "-f", help="How to show it.")]
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
