"""Icons of a page: images in `data:` URLs, recognised by their first bytes, and monograms."""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

MAX_BYTES = 200_000
"""Largest image in bytes: with larger ones, a page of a hundred services would take minutes to load."""

COLORS = 8
"""Number of monogram colours in page.css."""

_KINDS = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF....WEBP", re.DOTALL)),
    ("image/x-icon", re.compile(rb"\x00\x00\x01\x00")),
    (
        "image/svg+xml",
        re.compile(
            rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>|<!--.{0,2000}?-->|<!DOCTYPE[^>]{0,500}>|\s)*<svg[\s>]",
            re.DOTALL,
        ),
    ),
)


_ACTIVE = re.compile(rb"<!ENTITY|<(?:\w+:)?(?:script|iframe)\b|[\s\"'/]on\w+\s*=", re.IGNORECASE)
"""Markup of an SVG that a browser runs or expands outside of `<img>`."""


class Monogram(NamedTuple):
    """One or two letters, and the number of their background colour."""

    letters: str
    color: int


def image_to_data_url(data: bytes) -> str:
    """Return an image as a `data:` URL; empty if browsers cannot show it or it is too large.

    SVG appears in `<img>` only, where it runs no script and loads nothing (SVG Integration, secure static mode). One
    with scripts or entities is not taken all the same: readers save images and open them, and entities multiply.
    """
    if len(data) > MAX_BYTES:
        return ""
    kind = next((name for name, begins in _KINDS if begins.match(data)), "")
    if kind == "image/svg+xml" and _ACTIVE.search(data):
        return ""
    return f"data:{kind};base64,{b64encode(data).decode()}" if kind else ""


def clean_data_url(url: object) -> str:
    """Rewrite the image in a `data:` URL of a catalog; empty if there is none."""
    if not isinstance(url, str) or url[:5].lower() != "data:" or len(url) > 3 * MAX_BYTES:
        return ""
    head, comma, body = url[5:].partition(",")
    if not comma or not head.lower().startswith("image/"):
        return ""
    try:
        data = unquote_to_bytes(body)
        return image_to_data_url(b64decode(data) if head.lower().endswith(";base64") else data)
    except (Base64Error, ValueError):
        return ""


def monogram(name: str, number: int) -> Monogram:
    """Replacement for a missing icon: initials of the first two words or the first two letters, and the next colour."""
    words = re.findall(r"[^\W_]+", name[:200]) or ["?"]
    letters = words[0][:2] if len(words) == 1 else words[0][0] + words[1][0]
    return Monogram(letters.upper()[:2], number % COLORS)
