"""The text of one file, with its places in the units that an editor counts in."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

_BOM = "\ufeff"
_LINE_END = re.compile(r"\r\n?|\n")
_WIDE = {
    "utf-8": re.compile(r"[^\x00-\x7f]"),
    "utf-16": re.compile("[\U00010000-\U0010ffff]"),
    "utf-32": re.compile(r"(?!)"),
}
"""The characters that take more than one unit of each encoding."""


class Place(NamedTuple):
    """A position as the protocol has it: both count from 0, `character` in units of the encoding agreed upon."""

    line: int
    character: int


class Text:
    """A text as an editor holds it. Offsets count characters (code points) of `body`.

    `body` is the text without the byte order mark that it may begin with, as the readers see it. LF, CRLF and a lone
    CR end a line (LSP 3.17, "Text Documents").
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.body = text.removeprefix(_BOM)
        self._encoding = encoding
        self._mark = _units(_BOM, encoding) if text.startswith(_BOM) else 0

    def place(self, offset: int) -> Place:
        """The position of the character at `offset`; what lies beyond the end is the end."""
        offset = min(max(offset, 0), len(self.body))
        line = bisect_right(self.lines, offset) - 1
        return Place(line, self._between(self.lines[line], offset) + (self._mark if line == 0 else 0))

    def offset(self, place: Place) -> int:
        """The offset of a position; what lies beyond a line's end is its end."""
        if place.line >= len(self.lines):
            return len(self.body)
        start, end = self.lines[place.line], self.line_end(place.line)
        units = max(0, place.character - (self._mark if place.line == 0 else 0))
        return bisect_right(range(start, end + 1), units, key=lambda at: self._between(start, at)) - 1 + start

    def offset_of(self, line: int, column: int) -> int:
        """The offset of a line and column as a `Location` has them: both from 1, columns in characters."""
        index = min(line, len(self.lines)) - 1
        return min(self.lines[index] + column - 1, len(self.body))

    def line_of(self, offset: int) -> int:
        """The line, from 0, that the character at `offset` stands in."""
        return bisect_right(self.lines, offset) - 1

    def line_end(self, line: int) -> int:
        """The offset where the line's text ends, before what ends the line."""
        end = self.lines[line + 1] if line + 1 < len(self.lines) else len(self.body)
        if self.body[end - 1 : end] == "\n" and end > self.lines[line]:
            end -= 1
        return end - 1 if self.body[end - 1 : end] == "\r" and end > self.lines[line] else end

    @cached_property
    def lines(self) -> list[int]:
        """Where each line begins."""
        return [0, *(found.end() for found in _LINE_END.finditer(self.body))]

    @cached_property
    def _wide(self) -> list[int]:
        return [found.start() for found in _WIDE[self._encoding].finditer(self.body)]

    @cached_property
    def _more(self) -> list[int]:
        """How many units more than one all wide characters up to each take together."""
        widths = (_units(self.body[at], self._encoding) - 1 for at in self._wide)
        return [0, *accumulate(widths)]

    def _between(self, start: int, end: int) -> int:
        if not self._wide:
            return end - start
        wide = self._more[bisect_left(self._wide, end)] - self._more[bisect_left(self._wide, start)]
        return end - start + wide


def _units(character: str, encoding: str) -> int:
    size = len(character.encode(f"{encoding}-le" if encoding != "utf-8" else encoding, "surrogatepass"))
    return size // {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
