"""Icons: pictures that came as `data:` URLs, judged by their first bytes; and monograms."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import NamedTuple
from urllib.parse import unquote_to_bytes
from zlib import crc32

MAX_BYTES = 200_000
"""A larger picture is none: a page of a hundred services would take minutes to load."""

COLORS = 8
"""How many colours page.css has for monograms."""

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


class Monogram(NamedTuple):
    """One or two letters, and which of the `COLORS` they stand on."""

    letters: str
    color: int


def as_data_url(data: bytes) -> str:
    """A picture as `data:` URL; empty where it is none that browsers show, or too large.

    SVG is shown by `<img>` alone, where it runs no script and loads nothing (SVG Integration, secure static mode).
    """
    if len(data) > MAX_BYTES:
        return ""
    kind = next((name for name, begins in _KINDS if begins.match(data)), "")
    return f"data:{kind};base64,{b64encode(data).decode()}" if kind else ""


def from_data_url(url: object) -> str:
    """The picture in a `data:` URL of a catalog, written anew; empty where there is none to be shown."""
    if not isinstance(url, str) or url[:5].lower() != "data:" or len(url) > 3 * MAX_BYTES:
        return ""
    head, comma, body = url[5:].partition(",")
    if not comma or not head.lower().startswith("image/"):
        return ""
    try:
        data = unquote_to_bytes(body)
        return as_data_url(b64decode(data) if head.lower().endswith(";base64") else data)
    except (Base64Error, ValueError):
        return ""


def monogram(name: str) -> Monogram:
    """What stands for a service without a picture: the initials of its first two words."""
    words = re.findall(r"[^\W_]+", name[:200])
    letters = words[0][0] + words[1][0] if len(words) > 1 else "".join(words)[:2]
    return Monogram(letters.upper()[:2] or "?", crc32(name.encode("utf-8", "surrogatepass")) % COLORS)
