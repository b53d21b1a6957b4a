"""Icons, monograms and the accent colour of a page.

Icons are images in `data:` URLs, recognised by their first bytes. The accent colour is made readable: text needs a
contrast of 4.5 to its background (WCAG 2.2, 1.4.3).
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections import Counter
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from osbctl.errors import UsageError

MAX_BYTES = 200_000
"""Largest image in bytes: with larger ones, a page of a hundred services would take minutes to load."""

COLORS = 8
"""Number of monogram colours in page.css."""

DEFAULT_ACCENT = "#2f5fd0"
_LIGHT, _DARK = "#ffffff", "#151a21"
"""Backgrounds of the cards in both themes, as in page.css."""
_READABLE = 4.6
_COLOR = re.compile(r"#([0-9a-f]{3}){1,2}")

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
    """One or two letters, and the number of their background colour."""

    letters: str
    color: int


def as_data_url(data: bytes) -> str:
    """Return an image as a `data:` URL; empty if browsers cannot show it or it is too large.

    SVG appears in `<img>` only, where it runs no script and loads nothing (SVG Integration, secure static mode).
    """
    if len(data) > MAX_BYTES:
        return ""
    kind = next((name for name, begins in _KINDS if begins.match(data)), "")
    return f"data:{kind};base64,{b64encode(data).decode()}" if kind else ""


def from_data_url(url: object) -> str:
    """Rewrite the image in a `data:` URL of a catalog; empty if there is none."""
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


def monogram(name: str, used: Counter[str]) -> Monogram:
    """Replacement for a missing icon: two letters of the name, and the next colour.

    The initials of the first two words, or the first letter with another one where `used` has them already.
    """
    words = re.findall(r"[^\W_]+", name[:200])
    text = "".join(words) or "?"
    others = (words[1][0] if len(words) > 1 else "") + text[1:]
    choices = [(text[0] + other).upper()[:2] for other in others] or [text.upper()[:2]]
    letters = min(choices, key=lambda choice: used[choice])
    used[letters] += 1
    return Monogram(letters, used.total() % COLORS)


def accent_rules(accent: str) -> str:
    """Custom properties for accent and text colour in both themes. Raises UsageError: not `#rgb` or `#rrggbb`."""
    color = (accent or DEFAULT_ACCENT).lower()
    if not _COLOR.fullmatch(color):
        raise UsageError(f"{accent!r} is not a colour", "write it as --accent '#2f5fd0'")
    if len(color) == len("#rgb"):
        color = "#" + "".join(digit * 2 for digit in color[1:])
    light, dark = _readable_on(color, "#000000", _LIGHT), _readable_on(color, "#ffffff", _DARK)
    on_light, on_dark = _text_color_on(light), _text_color_on(dark)
    return f":root{{--accent:light-dark({light},{dark});--on-accent:light-dark({on_light},{on_dark})}}"


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2, contrast ratio)."""
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _readable_on(color: str, end: str, ground: str) -> str:
    """`color` mixed with the least of `end`, in steps of 5 %, that makes it readable on `ground`."""
    mixes = (_mix(color, end, step / 20) for step in range(21))
    return next(mixed for mixed in mixes if contrast(mixed, ground) >= _READABLE)


def _text_color_on(ground: str) -> str:
    return max(("#ffffff", "#10141a"), key=lambda text: contrast(text, ground))


def _mix(one: str, other: str, share: float) -> str:
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _channels(color: str) -> tuple[int, ...]:
    return tuple(int(color[at : at + 2], 16) for at in (1, 3, 5))


def _luminance(color: str) -> float:
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (n / 255 for n in _channels(color)))
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
