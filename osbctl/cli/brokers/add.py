"""`osbctl brokers add`: register a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from osbctl.cli.brokers import options as common
from osbctl.cli.connection import Conditions, User
from osbctl.cli.options import ApiVersion
from osbctl.cli.output import note, put
from osbctl.cli.spread import spread
from osbctl.platforms import DEFAULT_PLATFORM, Platform
from osbctl.registry import location

if TYPE_CHECKING:
    pass


@spread
def add(
    name: common.Name,
    url: Annotated[str, typer.Argument(metavar="URL", help="The broker's base address.", show_default=False)],
    platform: Annotated[Platform, typer.Option("--as", help="Whose rules a refresh follows.")] = DEFAULT_PLATFORM,
    user: User = None,
    password_stdin: common.PasswordStdin = False,
    credentials: common.Credentials = None,
    save_to_keyring: Annotated[
        bool, typer.Option("--save-to-keyring", help="Keep the password in the system's keyring.")
    ] = False,
    api_version: Annotated[ApiVersion, typer.Option(help="The version header to send.")] = ApiVersion.V2_14,
    database: common.Database = None,
    *,
    how: Conditions,
) -> int:
    """Register a broker with its catalog.

    It is fetched, validated and stored; one that the platform would refuse is not, and the exit code is 1.

    The password is never stored. It comes from standard input, OSBCTL_BROKER_<NAME>_PASSWORD (the name in capitals,
    other signs as _), credential records, the system's keyring, or a prompt.

    \b
    osbctl brokers add data https://broker.example.com --user platform
    osbctl brokers add data https://broker.example.com --as korifi --user platform
    """
    from osbctl.cli.brokers.passwords import Passwords, check_keyring
    from osbctl.cli.brokers.passwords import save_to_keyring as save
    from osbctl.credentials import check_identity
    from osbctl.registry.records import RefreshOutcome
    from osbctl.tasks.reach import Reach, base_url

    base, named = base_url(url)
    if user or named:
        check_identity(user or named)
    if save_to_keyring:
        check_keyring()
    with location.open_registry(database, make=True) as registry:
        from osbctl.registry.records import Registration
        from osbctl.registry.text import refresh_lines
        from osbctl.tasks.refresh import register_broker

        new = Registration(name, base, user or named, api_version.value, platform)
        registry.check_free(name)
        passwords = Passwords(stdin=password_stdin, credentials=credentials, single=True, typed=True)
        reach = Reach(how.access(), passwords.of, note)
        done = register_broker(registry, new, reach)
    put("\n".join(refresh_lines(new.name, done)) + "\n", None)
    if done.outcome is RefreshOutcome.ADDED and save_to_keyring and new.username:
        save(new, passwords.of(new))
    return int(done.outcome is RefreshOutcome.REFUSED)
