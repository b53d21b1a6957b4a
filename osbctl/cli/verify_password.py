"""osbctl verify-password: does a password fit a credentials file?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verify_password(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A credentials file: one record, a list, or htpasswd.")],
    identity: Annotated[str, typer.Argument(metavar="IDENTITY", help="The username.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
) -> None:
    """Say whether a password fits one of the records of an identity, as the broker would.

    Exit code 0: it fits; 1: it does not, or only a record that has expired; 3: FILE cannot be read.

    \b
    osbctl verify-password credentials.json admin
    pass show broker | osbctl verify-password c.json admin --password-stdin
    """
    import time

    from osbctl.cli.passwords import ask_password, few_rounds, read_password
    from osbctl.credentials import fits, read_credentials

    records = [record for record in read_credentials(file) if record.identity == identity]
    if not records:
        _fail(f"{file} has no record of {identity!a}")
    password = read_password() if password_stdin else ask_password(f"Password of {identity}: ")
    fitting = [record for record in records if fits(record, password)]
    if not fitting:
        _fail(f"the password does not fit any record of {identity!a} ({len(records)} tried)")
    current = [record for record in fitting if record.ends > time.time()]
    if not current:
        _fail(f"the password fits {fitting[0].name!a}, which expired at {fitting[0].expires}")
    typer.echo(f"the password fits {current[0].name!a}")
    few_rounds(current[0])


def _fail(sentence: str) -> None:
    typer.echo(sentence, err=True)
    raise typer.Exit(1)
