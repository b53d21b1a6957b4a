"""Descriptions, links and images of a catalog, safe to show on a page.

A description keeps paragraphs, lists and a few marks of Markdown within a line. Everything else is text, HTML too. An
image is recognised by its first bytes.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes, urlsplit

from markupsafe import Markup, escape

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.text import escape_line

MAX_ADDRESS_LENGTH = 2_000
"""Longest address that becomes a link, in characters."""
_WRITTEN = re.compile(r"https?://[!#-&(-;=?-\[\]_a-z~]*", re.IGNORECASE)
"""A web address in the characters of RFC 3986."""


def safe_web_address(value: object) -> str:
    """Return `value` if it is a web address that is safe to link to, else the empty text.

    Only http and https with a host and without a user: `javascript:` and `data:` run code, and a user name before `@`
    can look like the host.
    """
    if not isinstance(value, str) or len(value) > MAX_ADDRESS_LENGTH or not _WRITTEN.fullmatch(value):
        return ""
    try:
        parts = urlsplit(value)
        is_safe = bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return ""
    return value if is_safe else ""


def fragment(*words: str) -> str:
    """Join words to a percent-encoded fragment (RFC 3986, 3.5)."""
    return "/".join(quote(word.encode("utf-8", "surrogatepass"), safe="") for word in words)


class Anchors:
    """Anchors made of ids. If two brokers offer one, both have the broker's name, whatever the order of sources."""

    def __init__(self, services: Iterable[tuple[str, ServiceOffering]]) -> None:
        self._ids = Counter(_anchor_key(service) for _, service in services)
        self._taken: Counter[str] = Counter()

    def new_service_anchor(self, broker: str, service: ServiceOffering) -> str:
        """Return the anchor of a service offering. Call once for each."""
        key = _anchor_key(service)
        return self._make_unique(fragment("service", f"{key}@{broker}" if self._ids[key] > 1 else key))

    def new_plan_anchor(self, service_anchor: str, plan: ServicePlan) -> str:
        """Return the anchor of a plan below the anchor `service_anchor`. Call once for each."""
        return self._make_unique(f"{service_anchor}/{fragment(_anchor_key(plan))}")

    def _make_unique(self, anchor: str) -> str:
        self._taken[anchor] += 1
        # Only a faulty catalog has an id twice; there, a number tells them apart.
        return anchor if self._taken[anchor] == 1 else f"{anchor}~{self._taken[anchor]}"


def _anchor_key(item: ServiceOffering | ServicePlan) -> str:
    return (item.id or f"name:{item.name}")[:300]


_ITEM = re.compile(r"\s*(?:[-*•·+]|(\d{1,3})[.)])\s+(?=\S)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.+)")
_RULE = re.compile(r"\s{0,3}(?:-\s*){3,}|\s{0,3}(?:\*\s*){3,}|\s{0,3}(?:_\s*){3,}|\s{0,3}={3,}\s*")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_MARK = re.compile(
    r"!?\[([^\[\]]{1,500})\]\(([^\s()]{1,2000})\)|\*\*(?=\S)(.{1,500}?)(?<=\S)\*\*|(?<!\w)__(?=\S)(.{1,500}?)(?<=\S)__(?!\w)|`([^`]{1,500})`"
)


class Block(NamedTuple):
    """A block of a description: `tag` is `p`, `heading`, `pre`, `ul` or `ol`, and `lines` its text, items or lines.

    `start` is the first number of an `ol`.
    """

    tag: str
    lines: list[str]
    start: int = 1


def split_blocks(text: str) -> list[Block]:
    """Split a description into blocks. Only a blank line ends a paragraph: authors break lines at any width."""
    blocks: list[Block] = []
    is_open = in_code = False
    for line in text.splitlines():
        text_of_line = " ".join(line.split())
        item, heading = _ITEM.match(line), _HEADING.fullmatch(line)
        if _FENCE.match(line):
            in_code, is_open = not in_code, False
        elif in_code or line.lstrip().startswith("|"):
            _add_line(blocks, "pre", line.rstrip())
            is_open = False
        elif not text_of_line or _RULE.fullmatch(line):
            is_open = False
        elif heading:
            blocks.append(Block("heading", [heading[1].rstrip("# ")]))
            is_open = False
        elif item and not (is_open and blocks[-1].tag == "p" and item[1] not in (None, "1")):  # a number in a sentence
            _add_line(blocks, "ol" if item[1] else "ul", " ".join(line[item.end() :].split()), int(item[1] or 1))
            is_open = True
        elif is_open:  # the paragraph or item goes on
            blocks[-1].lines[-1] += f" {text_of_line}"
        else:
            blocks.append(Block("p", [text_of_line.removeprefix("> ")]))
            is_open = True
    return blocks


def _add_line(blocks: list[Block], tag: str, line: str, start: int = 1) -> None:
    """Add a line or an item to the last block if it is of the same sort, else to a new one."""
    if not blocks or blocks[-1].tag != tag:
        blocks.append(Block(tag, [], start))
    blocks[-1].lines.append(line)


_LINK = Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}<span class="vh">, in a new tab</span></a>')
_CODE, _BOLD = Markup("<code>{}</code>"), Markup("<b>{}</b>")


def format_inline(text: str) -> Markup:
    """A line as HTML: bold text, code and links of Markdown as such, all else escaped."""
    pieces: list[Markup] = []
    at = 0
    for match in _MARK.finditer(text):
        pieces += escape(escape_line(text[at : match.start()])), _format_mark(match)
        at = match.end()
    return Markup("").join([*pieces, escape(escape_line(text[at:]))])


def _format_mark(match: re.Match[str]) -> Markup:
    label, address, *bold, code = match.groups()
    if label and match[0].startswith("!"):  # the text that replaces an image
        return escape(escape_line(label))
    if label:
        safe = safe_web_address(address)
        return _LINK.format(safe, escape_line(label)) if safe else escape(escape_line(match[0]))
    return _CODE.format(escape_line(code)) if code else _BOLD.format(escape_line(bold[0] or bold[1]))


MAX_IMAGE_BYTES = 200_000
"""Largest image in bytes: with larger ones, a page of a hundred services would take minutes to load."""

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


def image_to_data_url(data: bytes) -> str:
    """Return an image as a `data:` URL. Empty if browsers cannot show it or it is too large.

    SVG appears in `<img>` only, where it runs no script and loads nothing (SVG Integration, secure static mode). One
    with scripts or entities is not taken all the same: readers save images and open them, and entities multiply.
    """
    if len(data) > MAX_IMAGE_BYTES:
        return ""
    kind = next((name for name, begins in _KINDS if begins.match(data)), "")
    if kind == "image/svg+xml" and _ACTIVE.search(data):
        return ""
    return f"data:{kind};base64,{b64encode(data).decode()}" if kind else ""


def clean_data_url(url: object) -> str:
    """Rewrite the image in a `data:` URL of a catalog. Empty if it holds no image."""
    if not isinstance(url, str) or url[:5].lower() != "data:" or len(url) > 3 * MAX_IMAGE_BYTES:
        return ""
    head, comma, body = url[5:].partition(",")
    if not comma or not head.lower().startswith("image/"):
        return ""
    try:
        data = unquote_to_bytes(body)
        return image_to_data_url(b64decode(data) if head.lower().endswith(";base64") else data)
    except (Base64Error, ValueError):
        return ""


def monogram(name: str) -> str:
    """Replacement for a missing icon: initials of the first two words or the first two letters."""
    words = re.findall(r"[^\W_]+", name[:200]) or ["?"]
    letters: str = words[0][:2] if len(words) == 1 else words[0][0] + words[1][0]
    return letters.upper()[:2]
