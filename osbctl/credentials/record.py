"""The credential record: what its parts must look like, made of a password, checked against one.

libpass does the hashing. No message repeats a secret. A password is hashed as the UTF-8 bytes given: no Unicode normal
form is applied, because a platform sends the bytes that it was given too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from osbctl.errors import ConfigError

LONGEST = 511
"""Bytes of UTF-8: libxcrypt refuses passwords of 512 bytes or more, and identities follow suit."""

MINIMUM_ROUNDS = 1_000
"""The least that crypt(3) takes for SHA-512."""

MAXIMUM_ROUNDS = 5_000_000
"""crypt(3) takes more, but Service Manager gives up after 15 seconds, and some processors are slow."""

SECONDS_A_ROUND = 1e-6
"""On most processors it is half of that to twice as much."""

IMPLIED_ROUNDS = 5_000
"""Rounds of a `$6$` hash without `rounds=`."""


class HashParts(NamedTuple):
    """A `$6$` hash, taken apart."""

    rounds: int
    salt: str


def check_identity(identity: str) -> None:
    """Raises ConfigError where HTTP Basic credentials cannot carry the identity (RFC 7617 §2)."""
    _check_text(identity, "identity")
    if ":" in identity:
        raise ConfigError("the identity holds a colon", "HTTP Basic ends a username at the first colon")


def check_password(password: str) -> None:
    """Raises ConfigError where HTTP Basic credentials or crypt(3) cannot carry the password."""
    _check_text(password, "password")


def _check_text(text: str, name: str) -> None:
    if not text:
        raise ConfigError(f"the {name} is empty")
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text):
        raise ConfigError(f"the {name} holds a control character")
    try:
        length = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise ConfigError(f"the {name} is not text that UTF-8 can hold") from None
    if length > LONGEST:
        raise ConfigError(f"the {name} is longer than {LONGEST} bytes")


def parse_hash(text: str) -> HashParts:
    """The parts of a salted SHA-512 hash, `$6$[rounds=N$]salt$hash` (crypt(3)). Raises ConfigError."""
    form = r"\$6\$(?:rounds=([1-9][0-9]{0,9})\$)?([./0-9A-Za-z]{1,16})\$[./0-9A-Za-z]{85}[./01]"
    match = re.fullmatch(form, text)
    if match is None:
        problem = "the hash is not a salted SHA-512 hash of crypt(3), $6$[rounds=N$]salt$hash"
        raise ConfigError(problem, "make one with `osbctl hash-password`, or with `openssl passwd -6`")
    rounds = int(match[1]) if match[1] else IMPLIED_ROUNDS
    check_rounds(rounds)
    return HashParts(rounds, match[2])


def check_rounds(rounds: int) -> None:
    """Raises ConfigError for rounds out of bounds."""
    if rounds < MINIMUM_ROUNDS:
        raise ConfigError(f"{rounds} rounds: there must be {MINIMUM_ROUNDS} or more")
    if rounds > MAXIMUM_ROUNDS:
        seconds = rounds * SECONDS_A_ROUND
        raise ConfigError(f"{rounds} rounds take about {seconds:.0f} seconds: there may be {MAXIMUM_ROUNDS}")


def parse_expiry(text: str) -> float:
    """The moment of an RFC 3339 date and time with its zone, in seconds since 1970. Raises ConfigError."""
    from datetime import datetime

    form = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)"
    try:
        if re.fullmatch(form, text, re.ASCII):
            return datetime.fromisoformat(text.upper()).timestamp()
    except (ValueError, OverflowError):
        pass
    raise ConfigError("expires is not a date and time of RFC 3339", "write it as 2027-01-31T00:00:00Z")


FEW_ROUNDS = 210_000
"""Fewer deserve a warning: OWASP's Password Storage Cheat Sheet asks this much of PBKDF2-HMAC-SHA512,
the closest scheme that it gives a number for."""


@dataclass(frozen=True, slots=True)
class CredentialRecord:
    """One identity and the salted SHA-512 hash of one password for it.

    `hash` has the form of crypt(3), `$6$[rounds=N$]salt$hash`; `salt` is the same salt. `password` is
    there only where the record is kept in a platform's credential store. `label` is what the log shows
    of it, `expires` (RFC 3339) when it ends, `number` its place in the file, from 1. Raises ConfigError
    where a part is malformed or the salt is not that of the hash; the message never holds a secret, and
    neither does `repr`.
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
        if self.salt != parse_hash(self.hash).salt:
            raise ConfigError("the salt is not the salt of the hash")
        if self.password is not None:
            check_password(self.password)
        if self.label is not None and not (self.label.isprintable() and 0 < len(self.label) <= 100):
            raise ConfigError("the label must be 1 to 100 printable characters")
        if self.expires is not None:
            parse_expiry(self.expires)

    @property
    def rounds(self) -> int:
        """The rounds of the hash: its cost."""
        return parse_hash(self.hash).rounds

    @property
    def ends(self) -> float:
        """Expiry of the record in seconds since 1970; infinity without one."""
        return float("inf") if self.expires is None else parse_expiry(self.expires)

    @property
    def name(self) -> str:
        """Name of the record in messages: its label, else its identity."""
        return self.label or self.identity

    @property
    def public_name(self) -> str:
        """Name of the record in access log and metrics: its label, else its number. Never a username."""
        return self.label or f"record {self.number}"


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
    """Return whether the password matches the record, in constant time; ignores expiry."""
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
