"""What an identity, a password, a hash and an expiry must look like. No message repeats a secret."""

from __future__ import annotations

import re
from typing import NamedTuple

from osbctl.errors import ConfigError

LONGEST = 511
"""Bytes of UTF-8: libxcrypt refuses passwords of 512 bytes or more, and identities follow suit."""

MINIMUM_ROUNDS = 1_000
"""The least that crypt(3) takes for SHA-512."""

MAXIMUM_ROUNDS = 10_000_000
"""About five seconds a check. crypt(3) takes more, but Service Manager gives up after 15 seconds."""

IMPLIED_ROUNDS = 5_000
"""What a `$6$` hash without `rounds=` means."""


class HashParts(NamedTuple):
    """A `$6$` hash, taken apart."""

    rounds: int
    salt: str


def check_identity(identity: str) -> None:
    """Raises ConfigError where HTTP Basic credentials cannot carry the identity (RFC 7617 §2)."""
    _check_text(identity, "identity")
    if ":" in identity:
        raise ConfigError("the identity holds a colon", "HTTP Basic credentials end it at the first colon.")


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
        raise ConfigError(problem, "Make one with `osbctl hash-password`, or with `openssl passwd -6`.")
    rounds = int(match[1]) if match[1] else IMPLIED_ROUNDS
    check_rounds(rounds)
    return HashParts(rounds, match[2])


def check_rounds(rounds: int) -> None:
    """Raises ConfigError for rounds out of bounds."""
    if not MINIMUM_ROUNDS <= rounds <= MAXIMUM_ROUNDS:
        raise ConfigError(f"{rounds} rounds: there must be {MINIMUM_ROUNDS} to {MAXIMUM_ROUNDS}")


def parse_expiry(text: str) -> float:
    """The moment of an RFC 3339 date and time with its zone, in seconds since 1970. Raises ConfigError."""
    from datetime import datetime

    form = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)"
    try:
        if re.fullmatch(form, text, re.ASCII):
            return datetime.fromisoformat(text.upper()).timestamp()
    except (ValueError, OverflowError):
        pass
    raise ConfigError("expires is not a date and time of RFC 3339", "Write it as 2027-01-31T00:00:00Z.")
