"""Passwords of commands: never from an option, nor from the database of registered brokers."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from osbctl.commands.output import print_note
from osbctl.errors import SourceError, UsageError
from osbctl.text import escape_line

if TYPE_CHECKING:
    from osbctl.registry.records import Registration

_LONGEST = 8192
"""Bytes; such a header is more than most servers accept."""


def ask_password(prompt: str) -> str:
    """Ask at the terminal, without echo. Raises UsageError: there is no terminal, no input, or an empty one.

    The prompt is escaped: it may hold an address from a database, which could write over itself.
    """
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask for the password", "use --password-stdin")
    try:
        return _not_empty(getpass.getpass(escape_line(prompt)))
    except EOFError:
        raise UsageError("no password was given") from None


def read_password_from_stdin() -> str:
    """The password on standard input, without its line end. Raises UsageError: it is too long, empty, or not UTF-8."""
    raw = sys.stdin.buffer.read(_LONGEST + 1)
    if len(raw) > _LONGEST:
        raise UsageError(f"standard input has more than {_LONGEST} bytes: this is not a password")
    try:
        return _not_empty(raw.decode("utf-8").removesuffix("\n").removesuffix("\r"))
    except UnicodeDecodeError:
        raise UsageError("the password on standard input is not UTF-8 text") from None


def several_brokers_error() -> UsageError:
    """The error of a password on standard input for more than one broker."""
    advice = "name one broker, or set OSBCTL_BROKER_<NAME>_PASSWORD"
    return UsageError("standard input has one password, for several brokers", advice)


def _not_empty(password: str) -> str:
    if not password:
        raise UsageError("the password is empty")
    return password


class PasswordFinder:
    """Finds passwords: on standard input, in a variable, in credential records, by a prompt, in this order.

    `is_only_broker`: there is only one, so its password can come from standard input or a prompt. `address_typed`: the
    operator has typed the address. Else it comes from the database, and anyone who can write there could redirect a
    password: so the variable with the address must match if it is set, and a prompt shows the address. If neither
    confirms it, a note says so, once.
    """

    def __init__(
        self, *, stdin: bool, credentials: str | None, is_only_broker: bool, address_typed: bool = False
    ) -> None:
        if stdin and not is_only_broker:
            raise several_brokers_error()
        self._read = read_password_from_stdin() if stdin else None
        self._records = _read_passwords(credentials) if credentials else {}
        self._single = is_only_broker
        self._typed = address_typed
        self._note_lock = Lock()  # the first of several threads takes it, and prints the note

    def find_password(self, broker: Registration) -> str:
        """The password of `broker`. Empty without a username. Raises SourceError: also if it is for another address."""
        if not broker.username:
            return ""
        confirmed = _is_address_confirmed(broker) or self._typed
        of_user = self._records.get(broker.username, {})
        found = self._read if self._read is not None else _find_given_password(broker, of_user)
        if found:
            if not confirmed:
                self._warn_unconfirmed_address(broker)
            return found
        if self._single and sys.stdin.isatty():
            self._read = ask_password(f"Password of {broker.username} at {broker.name} ({broker.url}): ")
            self._typed = True
            return self._read
        what = "the records of {} are labelled for other brokers" if of_user else "there is no password for {}"
        raise SourceError(what.format(broker.username), f"set {env_variable_name(broker.name)}")

    def _warn_unconfirmed_address(self, broker: Registration) -> None:
        """Note that only the database names the address. Raises SourceError: it is plain http."""
        from osbctl.client.connection_options import is_loopback_host

        name, parts = env_variable_name(broker.name, "URL"), urlsplit(broker.url)
        if parts.scheme != "https" and not is_loopback_host(parts.hostname):
            raise SourceError(f"nothing confirms {broker.url}, and it is not https", f"set {name}")
        if not self._note_lock.acquire(blocking=False):
            return
        if self._single:
            what = f"the password is sent to {broker.url}, the address in the database"
        else:
            what, name = "passwords are sent to the addresses in the database", "OSBCTL_BROKER_<NAME>_URL"
        print_note(f"{what}; set {name} to allow no other")


def _find_given_password(broker: Registration, records: Mapping[str, str]) -> str | None:
    """The password of a broker in its variable, or else in the record of its name, or in the one without a label."""
    return os.environ.get(env_variable_name(broker.name)) or records.get(broker.name) or records.get("")


def env_variable_name(broker_name: str, suffix: str = "PASSWORD") -> str:
    """The environment variable with the password, or with the address (`URL`), of a broker."""
    from osbctl.registry.store import env_variable_part

    return f"OSBCTL_BROKER_{env_variable_part(broker_name)}_{suffix}"


def _is_address_confirmed(broker: Registration) -> bool:
    """Return whether the environment confirms the address. Raises SourceError: it has another one."""
    from osbctl.client.catalog_client import parse_base_url

    name = env_variable_name(broker.name, "URL")
    given = os.environ.get(name)
    if not given:
        return False
    try:
        wanted, _ = parse_base_url(given)
    except UsageError as error:
        raise SourceError(f"{name}: {error.message}", error.advice) from None
    if _normalize_url(wanted) != _normalize_url(broker.url):
        raise SourceError(
            f"the password is for the address in {name}, not for {broker.url}: none was sent",
            f"if the broker has moved, set {name}; if not, find out who wrote to the database",
        )
    return True


def _normalize_url(url: str) -> tuple[str, str, int | None, str]:
    """Scheme, host, port and path of an address, to compare it with another."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").rstrip("."), port, parts.path.rstrip("/")


def _read_passwords(file: str) -> dict[str, dict[str, str]]:
    """Valid passwords in a credentials file by identity and label, a broker's name; empty without one."""
    from osbctl.credentials import read_credentials

    passwords: dict[str, dict[str, str]] = {}
    for record in read_credentials(Path(file)):
        if record.password is not None and not record.has_expired:
            passwords.setdefault(record.identity, {}).setdefault(record.label or "", record.password)
    if not passwords:
        advice = "make one with osbctl hash-password --include-password"
        raise UsageError(f"{file}: no valid record holds a password", advice)
    return passwords
