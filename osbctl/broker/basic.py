"""The Authorization header of HTTP Basic credentials (RFC 7617)."""

from __future__ import annotations

from typing import NamedTuple

LONGEST_HEADER = 1536
"""Characters: room for an identity and a password of 511 bytes each, in base64."""


class Given(NamedTuple):
    """An identity and a password as a client gave them: neither is known to be right."""

    identity: str
    password: str


def parse_basic(header: str) -> Given | None:
    """The credentials in an Authorization header; None where it is no well-formed Basic header.

    Refused here: another scheme, bad base64, no colon, text that is not UTF-8 (the challenge asks for
    UTF-8, RFC 7617 §2.1) and control characters (RFC 7617 §2).
    """
    import binascii

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
    return Given(identity, password)
