"""The accent colour of a house, made readable: text needs a contrast of 4.5 to its ground (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

import re

from osbctl.errors import UsageError

DEFAULT_ACCENT = "#2f5fd0"
_LIGHT, _DARK = "#ffffff", "#151a21"
"""The grounds of the cards in the two themes, as in page.css."""
_READABLE = 4.6
_COLOR = re.compile(r"#[0-9a-f]{6}")
_SHORT = re.compile(r"#[0-9a-f]{3}")


def accent_rules(accent: str) -> str:
    """The custom properties of a style sheet: the accent for text in both themes, and what is readable upon each.

    Raises:
        UsageError: `accent` is no colour as `#rgb` or `#rrggbb`.
    """
    color = (accent or DEFAULT_ACCENT).lower()
    if _SHORT.fullmatch(color):
        color = "#" + "".join(digit * 2 for digit in color[1:])
    if not _COLOR.fullmatch(color):
        raise UsageError(f"{accent!r} is not a colour", "write it as --accent '#2f5fd0'")
    light, dark = _towards(color, "#000000", _LIGHT), _towards(color, "#ffffff", _DARK)
    return f":root{{--accent:light-dark({light},{dark});--on-accent:light-dark({_upon(light)},{_upon(dark)})}}"


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.2, contrast ratio)."""
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _towards(color: str, end: str, ground: str) -> str:
    """`color`, mixed with `end` in as few steps of a twentieth as make it readable on `ground`."""
    mixes = (_mixed(color, end, step / 20) for step in range(21))
    return next(mixed for mixed in mixes if contrast(mixed, ground) >= _READABLE)


def _upon(ground: str) -> str:
    return max(("#ffffff", "#10141a"), key=lambda text: contrast(text, ground))


def _mixed(one: str, other: str, share: float) -> str:
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _channels(color: str) -> tuple[int, ...]:
    return tuple(int(color[at : at + 2], 16) for at in (1, 3, 5))


def _luminance(color: str) -> float:
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (n / 255 for n in _channels(color)))
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
