"""Where the password of a registered broker comes from: never from the database, never from the command line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from osbctl.errors import SourceError, UsageError

if TYPE_CHECKING:
    from osbctl.registry.records import Registration

_KEYRING_EXTRA = "pip install 'osbctl[keyring]'"


class Passwords:
    """Finds passwords: standard input, a variable, credential records, the system's keyring, a prompt, in this order.

    `single` says that one broker alone is asked for: only then can a password come from standard input or a prompt.
    """

    def __init__(self, *, stdin: bool, credentials: str | None, single: bool) -> None:
        if stdin and not single:
            raise UsageError("one password on standard input, for several brokers", "refresh them one by one")
        self._read = _read() if stdin else None
        self._records = _records(credentials) if credentials else {}
        self._single = single

    def of(self, broker: Registration) -> str:
        """The password of `broker`; empty where it was registered without a username.

        Raises:
            SourceError: there is none.
        """
        if not broker.username:
            return ""
        found = self._found(broker)
        if found:
            return found
        if self._single and sys.stdin.isatty():
            from osbctl.cli.passwords import ask_password

            self._read = ask_password(f"Password of {broker.username} at {broker.name}: ")
            return self._read
        raise SourceError(f"there is no password for {broker.username}", f"set {variable(broker.name)}")

    def _found(self, broker: Registration) -> str | None:
        if self._read is not None:
            return self._read
        given = os.environ.get(variable(broker.name))
        of_user = self._records.get(broker.username, {})
        return given or of_user.get(broker.name) or of_user.get("") or _from_keyring(broker)


def variable(name: str) -> str:
    """The environment variable with the password of the broker `name`."""
    from osbctl.registry.store import variable_part

    return f"OSBCTL_BROKER_{variable_part(name)}_PASSWORD"


def check_keyring() -> None:
    """Raise SourceError where there is no keyring to save a password to."""
    if _keyring() is None:
        raise SourceError("there is no keyring to save the password to", f"{_KEYRING_EXTRA}, and a desktop session")


def save_to_keyring(broker: Registration, password: str) -> None:
    """Put the password into the system's keyring, which `check_keyring` found to be there.

    Raises:
        SourceError: it refuses.
    """
    keyring = _keyring()
    try:
        keyring.set_password(_service(broker), broker.username, password)
    except keyring.errors.KeyringError:
        raise SourceError("the keyring did not take the password; the broker is registered") from None


def _read() -> str:
    from osbctl.cli.passwords import read_password

    return read_password()


def _records(file: str) -> dict[str, dict[str, str]]:
    """The passwords in a credentials file by identity and label; under no label the first of the identity.

    A label that is the name of a broker says whose password it is. What has expired does not count.
    """
    import time
    from pathlib import Path

    from osbctl.credentials import read_credentials

    found: dict[str, dict[str, str]] = {}
    for record in read_credentials(Path(file)):
        if record.password is not None and record.ends > time.time():
            ours = found.setdefault(record.identity, {"": record.password})
            ours.setdefault(record.label or "", record.password)
    if not found:
        raise UsageError(f"{file}: no record there holds a password", "osbctl hash-password --include-password")
    return found


def _from_keyring(broker: Registration) -> str | None:
    keyring = _keyring()
    if keyring is None:
        return None
    try:
        found: str | None = keyring.get_password(_service(broker), broker.username)
    except keyring.errors.KeyringError:  # locked, or gone: as good as none
        return None
    return found


def _service(broker: Registration) -> str:
    """What a keyring calls it. By address: whoever can write to the database cannot lead a password elsewhere."""
    return f"osbctl {broker.url}"


def _keyring() -> Any:
    """The keyring library where it is installed and has a backend that can keep a password, else None."""
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return None
    return keyring if keyring.get_keyring().priority > 0 else None
