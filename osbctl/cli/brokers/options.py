"""The options that several commands of `osbctl brokers` share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    pass


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
