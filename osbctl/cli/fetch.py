"""`osbctl fetch`: the catalog of a running broker."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from osbctl.cli import options as common
from osbctl.cli.connection import Connection
from osbctl.cli.output import note, put

if TYPE_CHECKING:
    from osbctl.sources.broker import Access

User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="The username; else that of the URL.")]
PasswordStdin = Annotated[
    bool,
    typer.Option("--password-stdin", help="Password from standard input; else OSBCTL_PASSWORD or a prompt."),
]
Version = Annotated[str, typer.Option("--api-version", help="The version header to send.")]
CaFile = Annotated[str | None, typer.Option(metavar="FILE", help="Certificate authorities to trust, PEM.")]
ClientCert = Annotated[str | None, typer.Option(metavar="FILE", help="Client certificate and key, PEM.")]
Insecure = Annotated[bool, typer.Option("--insecure", help="Take any certificate. For trying out only.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds for the whole answer.")]


def fetch(
    url: Annotated[str, typer.Argument(metavar="URL", help="The broker's base address, or that of its catalog.")],
    output: common.Output = None,
    user: User = None,
    password_stdin: PasswordStdin = False,
    api_version: Version = "2.14",
    ca_file: CaFile = None,
    client_cert: ClientCert = None,
    insecure: Insecure = False,
    timeout: Timeout = 60.0,
    max_bytes: common.MaxBytes = common.LIMITS.bytes,
) -> int:
    """Fetch the catalog of a running broker, as a platform would.

    The password comes from the URL, OSBCTL_PASSWORD, standard input or a prompt, never from an option, and goes to
    no other host.

    \b
    osbctl fetch https://broker.example.com --user platform -o catalog.json
    osbctl fetch https://broker.example.com --user platform | osbctl validate -
    """
    from osbctl.sources.broker import no_catalog, why_no_catalog

    connection = Connection(user, password_stdin, api_version, ca_file, client_cert, insecure, timeout, max_bytes)
    answer = connection.fetch(url)
    if why := why_no_catalog(answer.body):
        raise no_catalog(answer.name, why)
    put(answer.body.decode().rstrip("\n") + "\n", output)
    return 0


def make_access(
    user: str,
    password: str,
    password_stdin: bool,
    api_version: str,
    ca_file: str | None,
    client_cert: str | None,
    insecure: bool,
    timeout: float,
    max_bytes: int,
) -> Access:
    """The access that the options describe, with the password from wherever it comes."""
    from osbctl.sources.broker import Access

    if insecure:
        note("INSECURE: the broker's certificate is not checked; anybody in between can read the password")
    return Access(
        user=user,
        password=password or _password(user, password_stdin),
        api_version=api_version,
        ca_file=ca_file,
        client_cert=client_cert,
        insecure=insecure,
        total_seconds=timeout,
        max_bytes=max_bytes,
    )


def _password(user: str, stdin: bool) -> str:
    from osbctl.cli.passwords import ask_password, read_password
    from osbctl.errors import UsageError

    if stdin:
        return read_password()
    if "OSBCTL_PASSWORD" in os.environ:
        return os.environ["OSBCTL_PASSWORD"]
    if not user:
        return ""
    if not sys.stdin.isatty():
        raise UsageError(f"there is no password for {user}", "set OSBCTL_PASSWORD, or use --password-stdin")
    return ask_password(f"Password of {user}: ")
