"""Credentials of a request, and the decision on them."""

from __future__ import annotations

import binascii
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

LONGEST_HEADER = 1536
"""Characters: enough for an identity and a password of 511 bytes each, in base64."""


class BasicCredentials(NamedTuple):
    """An identity and a password as a client gave them: neither is known to be right."""

    identity: str
    password: str


def parse_basic(header: str) -> BasicCredentials | None:
    """The credentials in an Authorization header; None where it is no well-formed Basic header.

    Refused here: another scheme, bad base64, no colon, text that is not UTF-8 (the challenge asks for
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
    return BasicCredentials(identity, password)


class RequestOutcome(StrEnum):
    """Decision on a request. `busy`: its password could not be checked now."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome, and the label of the record that let the request in (empty where none did)."""

    outcome: RequestOutcome
    label: str = ""


REFUSED = Decision(RequestOutcome.REFUSED)
BUSY = Decision(RequestOutcome.BUSY)

Resume: TypeAlias = "Callable[[Decision], None]"
Ask: TypeAlias = "Callable[[str | None, str, Resume], Decision | None]"
"""Function that decides on a request: see `osbctl.broker.authenticator.Gate.ask`."""
