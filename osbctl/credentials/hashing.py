"""Passwords become records, and are checked against them. libpass does the hashing.

A password is hashed as the UTF-8 bytes given: no Unicode normal form is applied, because a platform
sends the bytes that it was given too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.credentials.record import CredentialRecord, check_identity, check_password, check_rounds, parse_hash
from osbctl.errors import ConfigError

if TYPE_CHECKING:
    from typing import Any


def default_rounds() -> int:
    """The rounds that libpass holds to be right at present."""
    return int(_scheme().default_rounds)


def make_record(
    identity: str,
    password: str,
    *,
    rounds: int | None = None,
    label: str | None = None,
    expires: str | None = None,
    include_password: bool = False,
) -> CredentialRecord:
    """A record with a fresh random salt. Takes a good part of a second with the default rounds.

    Raises ConfigError where identity, password, rounds, label or expires will not do.
    """
    check_identity(identity)
    check_password(password)
    rounds = default_rounds() if rounds is None else rounds
    check_rounds(rounds)
    hashed = str(_scheme().using(rounds=rounds).hash(password))
    salt = parse_hash(hashed).salt
    return CredentialRecord(identity, salt, hashed, password if include_password else None, label, expires)


def fits(record: CredentialRecord, password: str) -> bool:
    """Whether the password is the record's. Hashes are compared in constant time; expiry is not looked at."""
    try:
        check_password(password)
    except ConfigError:
        return False
    return bool(_scheme().verify(password, record.hash))


def generate_password() -> str:
    """192 random bits as 32 characters that a URL may hold unescaped."""
    import secrets

    return secrets.token_urlsafe(24)


def _scheme() -> Any:
    from passlib.hash import sha512_crypt  # type: ignore[import-untyped]

    return sha512_crypt
