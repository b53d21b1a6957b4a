"""Credential records: validation, creation, and password checks.

libpass computes the hashes. Messages never contain secrets. Passwords are hashed as UTF-8 without Unicode
normalization, because platforms do not normalize either.
"""

import re
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from osbctl.errors import ConfigError

LONGEST = 511
"""Maximum UTF-8 bytes of a password, as in libxcrypt, and of an identity."""

MINIMUM_ROUNDS = 1_000
"""Minimum of crypt(3) for SHA-512."""

MAXIMUM_ROUNDS = 5_000_000
"""crypt(3) accepts more, but Service Manager times out after 15 seconds, and some processors are slow."""

SECONDS_A_ROUND = 1e-6
"""Estimate; most processors take half of it to twice as much."""

IMPLIED_ROUNDS = 5_000
"""Rounds of a `$6$` hash without `rounds=`."""


def check_identity(identity: str) -> None:
    """Raise ConfigError if HTTP Basic credentials cannot carry the identity (RFC 7617 §2)."""
    _check_credential_text(identity, "identity")
    if ":" in identity:
        raise ConfigError("the identity contains a colon", "HTTP Basic ends a username at the first colon")


def check_password(password: str) -> None:
    """Raise ConfigError if HTTP Basic credentials or crypt(3) cannot carry the password."""
    _check_credential_text(password, "password")


def _check_credential_text(text: str, name: str) -> None:
    """Raise ConfigError for an identity or a password (`name` says which) with a fault that both can have."""
    if not text:
        raise ConfigError(f"the {name} is empty")
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text):
        raise ConfigError(f"the {name} contains a control character")
    try:
        length = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise ConfigError(f"the {name} cannot be encoded in UTF-8") from None
    if length > LONGEST:
        raise ConfigError(f"the {name} is longer than {LONGEST} bytes")


def parse_rounds_and_salt(hash_text: str) -> tuple[int, str]:
    """Parse a salted SHA-512 hash, `$6$[rounds=N$]salt$hash` (crypt(3)). Raises ConfigError, also for its rounds."""
    form = r"\$6\$(?:rounds=([1-9][0-9]{0,9})\$)?([./0-9A-Za-z]{1,16})\$[./0-9A-Za-z]{85}[./01]"
    match = re.fullmatch(form, hash_text)
    if match is None:
        problem = "the hash is not a salted SHA-512 hash of crypt(3), $6$[rounds=N$]salt$hash"
        raise ConfigError(problem, "create one with `osbctl hash-password`, or with `openssl passwd -6`")
    rounds = int(match[1]) if match[1] else IMPLIED_ROUNDS
    check_rounds(rounds)
    return rounds, match[2]


def check_rounds(rounds: int) -> None:
    """Raise ConfigError for rounds out of bounds."""
    if rounds < MINIMUM_ROUNDS:
        raise ConfigError(f"{rounds} rounds: the minimum is {MINIMUM_ROUNDS}")
    if rounds > MAXIMUM_ROUNDS:
        seconds = rounds * SECONDS_A_ROUND
        raise ConfigError(f"{rounds} rounds take about {seconds:.0f} seconds: the maximum is {MAXIMUM_ROUNDS}")


def parse_expiry(text: str) -> float:
    """Parse an RFC 3339 date and time with a zone to seconds since 1970. Raises ConfigError."""
    form = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)"
    try:
        if re.fullmatch(form, text, re.ASCII):
            return datetime.fromisoformat(text.upper()).timestamp()
    except (ValueError, OverflowError):
        pass
    raise ConfigError("expires is not a date and time of RFC 3339", "write it as 2027-01-31T00:00:00Z")


FEW_ROUNDS = 210_000
"""Warn of fewer: OWASP's Password Storage Cheat Sheet recommends this number for PBKDF2-HMAC-SHA512,
the closest scheme that it covers."""


@dataclass(frozen=True, slots=True)
class CredentialRecord:
    """One identity and the salted SHA-512 hash of one password for it.

    `hash` has the form of crypt(3), `$6$[rounds=N$]salt$hash`; `salt` repeats its salt. `password` is set only for
    records kept in a platform's credential store. `label` appears in logs, `expires` is an RFC 3339 time, `number`
    counts records of the file from 1. Raises ConfigError if a part is malformed or the salts differ; neither messages
    nor `repr` contain secrets.
    """

    identity: str
    salt: str = field(repr=False)
    hash: str = field(repr=False)
    password: str | None = field(default=None, repr=False)
    label: str | None = None
    expires: str | None = None
    number: int = field(default=1, compare=False)

    def __post_init__(self) -> None:
        check_identity(self.identity)
        _, salt = parse_rounds_and_salt(self.hash)
        if self.salt != salt:
            raise ConfigError("the salt is not the salt of the hash")
        if self.password is not None:
            check_password(self.password)
        if self.label is not None and not (self.label.isprintable() and 0 < len(self.label) <= 100):
            raise ConfigError("the label must be 1 to 100 printable characters")
        if self.expires is not None:
            parse_expiry(self.expires)

    @property
    def rounds(self) -> int:
        rounds, _ = parse_rounds_and_salt(self.hash)
        return rounds

    @property
    def expires_at(self) -> float:
        """Expiry of the record in seconds since 1970; infinity without one."""
        return float("inf") if self.expires is None else parse_expiry(self.expires)

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= time.time()

    @property
    def display_name(self) -> str:
        """Name of the record in messages: its label, else its identity."""
        return self.label or self.identity

    @property
    def public_name(self) -> str:
        """Name of the record in access log and metrics: its label, else its number. Never a username."""
        return self.label or f"record {self.number}"


def make_record(
    identity: str,
    password: str,
    *,
    rounds: int | None = None,
    label: str | None = None,
    expires: str | None = None,
    include_password: bool = False,
) -> CredentialRecord:
    """Create a record with a random salt. Takes a good part of a second with the default rounds.

    Raises ConfigError if identity, password, rounds, label or expires are invalid.
    """
    check_identity(identity)
    check_password(password)
    rounds = int(_sha512_crypt().default_rounds) if rounds is None else rounds
    check_rounds(rounds)
    hashed = str(_sha512_crypt().using(rounds=rounds).hash(password))
    _, salt = parse_rounds_and_salt(hashed)
    return CredentialRecord(identity, salt, hashed, password if include_password else None, label, expires)


def password_matches(record: CredentialRecord, password: str) -> bool:
    """Return whether the password matches the record, in constant time; ignores expiry."""
    try:
        check_password(password)
    except ConfigError:
        return False
    return bool(_sha512_crypt().verify(password, record.hash))


def generate_password() -> str:
    """Generate 192 random bits as 32 characters that need no escaping in a URL."""
    import secrets

    return secrets.token_urlsafe(24)


def _sha512_crypt() -> Any:
    from passlib.hash import sha512_crypt  # type: ignore[import-untyped]

    return sha512_crypt
