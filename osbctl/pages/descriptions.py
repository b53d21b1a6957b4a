"""Descriptions with Markdown: paragraphs, lists, and a few marks within a line. Everything else is text, HTML too."""

import re
from typing import NamedTuple

from markupsafe import Markup, escape

from osbctl.pages.links import safe_web_address
from osbctl.text import escape_line

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
        words = " ".join(line.split())
        item, heading = _ITEM.match(line), _HEADING.fullmatch(line)
        if _FENCE.match(line):
            in_code, is_open = not in_code, False
        elif in_code or line.lstrip().startswith("|"):
            _add_line(blocks, "pre", line.rstrip())
            is_open = False
        elif not words or _RULE.fullmatch(line):
            is_open = False
        elif heading:
            blocks.append(Block("heading", [heading[1].rstrip("# ")]))
            is_open = False
        elif item and not (is_open and blocks[-1].tag == "p" and item[1] not in (None, "1")):  # a number in a sentence
            _add_line(blocks, "ol" if item[1] else "ul", " ".join(line[item.end() :].split()), int(item[1] or 1))
            is_open = True
        elif is_open:  # the paragraph or item goes on
            blocks[-1].lines[-1] += f" {words}"
        else:
            blocks.append(Block("p", [words.removeprefix("> ")]))
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
