"""HTTP Basic credentials of a request, and the decision on them."""

import binascii
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

LONGEST_HEADER = 1536
"""Characters: enough for an identity and a password of 511 bytes each, in base64."""


def parse_basic_auth(header: str) -> tuple[str, str] | None:
    """Parse an Authorization header to identity and password; None if it is not a well-formed Basic header.

    Refused: another scheme, bad base64, no colon, text that is not UTF-8 (the challenge requires
    UTF-8, RFC 7617 §2.1) and control characters (RFC 7617 §2).
    """
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "basic" or len(header) > LONGEST_HEADER:
        return None
    try:
        text = binascii.a2b_base64(token.strip(" ").encode("ascii"), strict_mode=True).decode("utf-8")
    except ValueError:
        return None
    identity, colon, password = text.partition(":")
    if not colon or any(ord(character) < 32 or ord(character) == 127 for character in text):
        return None
    return identity, password


class RequestOutcome(StrEnum):
    """Decision on a request. `busy`: its password could not be checked now."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome, and the public name of the matching record: its label, else its number (empty if there is none)."""

    outcome: RequestOutcome
    label: str = ""


REFUSED = Decision(RequestOutcome.REFUSED)
BUSY = Decision(RequestOutcome.BUSY)


@dataclass(slots=True, eq=False)
class CredentialCheck:
    """A check of the credentials of a request. `decision` is None until it is made, once, perhaps in another thread."""

    decision: Decision | None = None


Authenticate: TypeAlias = Callable[[str | None, str, Callable[[], None]], CredentialCheck]
"""See `osbctl.broker.authenticator.Authenticator.check`."""
