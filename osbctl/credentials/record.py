"""The credential record itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from osbctl.credentials.rules import check_identity, check_password, parse_expiry, parse_hash
from osbctl.errors import ConfigError

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
        """When the record expires, in seconds since 1970; infinity where it does not."""
        return float("inf") if self.expires is None else parse_expiry(self.expires)

    @property
    def name(self) -> str:
        """How messages name the record: its label, else its identity."""
        return self.label or self.identity

    @property
    def public_name(self) -> str:
        """What access log and metrics call the record: its label, else its number. Never a username."""
        return self.label or f"record {self.number}"
