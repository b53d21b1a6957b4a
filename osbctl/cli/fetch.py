"""`osbctl fetch`: the catalog of a running broker."""

from __future__ import annotations

from typing import Annotated

import typer

from osbctl.cli import options as common
from osbctl.cli.connection import BrokerConnection
from osbctl.cli.output import put

User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="The username; else that of the URL.")]
PasswordStdin = Annotated[
    bool,
    typer.Option("--password-stdin", help="Password from standard input; else OSBCTL_PASSWORD or a prompt."),
]


def _version(word: str) -> str:
    import re

    from osbctl.errors import UsageError

    if not re.fullmatch(r"[0-9]{1,4}\.[0-9]{1,4}", word):
        raise UsageError(f"--api-version {word!r} is no version of the API", "write MAJOR.MINOR, for example 2.14")
    return word


def _seconds(value: float) -> float:
    from osbctl.errors import UsageError

    if not 0.1 <= value <= 86_400:  # a day; neither inf nor nan is between
        raise UsageError(f"--timeout {value} is no time to wait", "write seconds, from 0.1 to 86400")
    return value


Version = Annotated[str, typer.Option("--api-version", help="The version header to send.", callback=_version)]
CaFile = Annotated[str | None, typer.Option(metavar="FILE", help="Certificate authorities to trust, PEM.")]
ClientCert = Annotated[str | None, typer.Option(metavar="FILE", help="Client certificate and key, PEM.")]
Insecure = Annotated[bool, typer.Option("--insecure", help="Take any certificate. For trying out only.")]
Timeout = Annotated[float, typer.Option(callback=_seconds, help="Seconds for the whole answer.")]


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
    from osbctl.sources.broker import no_catalog, read_json

    connection = BrokerConnection(user, password_stdin, api_version, ca_file, client_cert, insecure, timeout, max_bytes)
    answer = connection.fetch(url)
    if why := read_json(answer.body)[1]:
        raise no_catalog(answer.name, why)
    put(answer.body.decode().rstrip("\n") + "\n", output)
    return 0
