"""osbctl hash-password: make a credential record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from osbctl.errors import ConfigError, SourceError, UsageError

if TYPE_CHECKING:
    from osbctl.credentials import CredentialRecord


def hash_password(
    identity: Annotated[str, typer.Argument(metavar="IDENTITY", help="The username that the platform is given.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    generate: Annotated[
        bool, typer.Option("--generate", help="Make a password of 192 random bits and show it once.")
    ] = False,
    include_password: Annotated[
        bool,
        typer.Option("--include-password", help="Keep the password itself in the record, in clear."),
    ] = False,
    rounds: Annotated[
        int | None, typer.Option(help="Rounds of SHA-512, the cost of one check. Default: the library's own.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="What the broker's log calls this record; never a secret.")] = None,
    expires: Annotated[
        str | None, typer.Option(help="When the record ends, as 2027-01-31T00:00:00Z (RFC 3339).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write FILE, new and of mode 0600.")
    ] = None,
    append: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add to the records of FILE; it is made if missing.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="With -o: replace the records that FILE holds.")] = False,
) -> None:
    """Make a credential record: an identity and the salted SHA-512 hash of its password.

    The password is asked for twice, never taken from the command line. The record goes to standard
    output, or to a file with -o or --append. A generated password goes to standard error; with -o or
    --append to standard output, where a script can take it.

    \b
    osbctl hash-password admin > credentials.json
    osbctl hash-password admin --generate -o credentials.json
    osbctl hash-password admin --append c.json --expires 2027-01-31T00:00:00Z
    """
    from osbctl.credentials import check_identity, make_record

    if password_stdin and generate:
        raise UsageError("--password-stdin and --generate exclude each other")
    if output and append:
        raise UsageError("-o and --append exclude each other")
    output = None if output == Path("-") else output
    if output and output.is_file() and output.stat().st_size and not force:
        advice = "--append FILE adds to them, --force replaces them; a running broker takes up either at once"
        raise SourceError(f"{output} holds records already", advice)
    try:
        check_identity(identity)
        password = _password(identity, stdin=password_stdin, generate=generate)
        record = make_record(
            identity, password, rounds=rounds, label=label, expires=expires, include_password=include_password
        )
    except ConfigError as error:
        raise UsageError(error.message, error.advice) from None
    if generate and not (output or append):
        typer.echo(f"the password of {identity}, shown this once: {password}", err=True)
    _deliver(record, output, append)
    if generate and (output or append):
        typer.echo(password)
    _warn(record)


def _password(identity: str, *, stdin: bool, generate: bool) -> str:
    from osbctl.cli.passwords import ask_password, read_password
    from osbctl.credentials import check_password, generate_password

    if generate:
        return generate_password()
    if stdin:
        return read_password()
    for _ in range(3):
        password = ask_password(f"Password of {identity}: ")
        check_password(password)
        if ask_password("Once more: ") == password:
            return password
        typer.echo("the two passwords differ", err=True)
    raise UsageError("the two passwords differed three times")


def _deliver(record: CredentialRecord, output: Path | None, append: Path | None) -> None:
    from osbctl.cli.output import put
    from osbctl.credentials import append_record, as_json, write_record

    if append:
        count = append_record(append, record)
        typer.echo(f"{append} holds {count} record{'s' if count > 1 else ''}", err=True)
    elif output:
        write_record(output, record)
    else:
        put(as_json(record), None)


def _warn(record: CredentialRecord) -> None:
    from osbctl.cli.passwords import few_rounds

    if record.password is not None:
        typer.echo("warning: the record holds the password in clear: keep it in a credential store only", err=True)
    few_rounds(record)
