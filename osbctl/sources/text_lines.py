"""Offsets in a text turned into lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from osbctl.findings import Location

DECIMAL_COMMA = ("a decimal number has a point, not a comma", "write 9.5 for 9,5")
"""The message and the hint where a comma inside of a number separates two entries."""


def is_decimal_comma(text: str, at: int) -> bool:
    """Return whether the comma of a number such as 9,5 stands before `at`."""
    return bool(re.fullmatch(r"[0-9],[0-9]", text[max(0, at - 2) : at + 1]))


class Lines:
    """The lines of a text. LF, CRLF and a lone CR end a line, as in YAML 1.2 (5.4) and in editors.

    Ask in the order of the text where there is much to ask: line ends are counted from one place to the next.
    """

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._excerpts: dict[int, str] = {}
        self._last = (0, 1, 0)
        """The place that was asked for last: its offset, its line, and where that begins."""

    def at(self, offset: int, end: int = 0) -> Location:
        """The place of `text[offset:end]` within its first line (zero-based; the end of the text is allowed)."""
        line, start = self._line_and_start(offset)
        excerpt, column = self._excerpt(start), offset - start + 1
        length = len(excerpt[column - 1 : max(0, end - start)].rstrip())
        return Location(self._name, line, column, excerpt, column + length if length else 0)

    def _line_and_start(self, offset: int) -> tuple[int, int]:
        if self._starts is not None:
            line = bisect_right(self._starts, offset)
            return line, self._starts[line - 1]
        known, line, start = self._last
        if offset < known:
            line, start = line - self._text.count("\n", offset, known), self._text.rfind("\n", 0, offset) + 1
        else:
            line += self._text.count("\n", known, offset)
            start = self._text.rfind("\n", known, offset) + 1 or start
        self._last = (offset, line, start)
        return line, start

    def _excerpt(self, start: int) -> str:
        # Kept: a file of 5 MB may be one line, and a thousand findings must not hold a thousand copies of it.
        if start not in self._excerpts:
            end = self._text.find("\n", start) + 1 or len(self._text)
            self._excerpts[start] = self._text[start:end].partition("\r")[0].removesuffix("\n")
        return self._excerpts[start]

    @cached_property
    def _starts(self) -> list[int] | None:
        """Offsets of lines in a text that contains CR."""
        if "\r" not in self._text:
            return None
        return [0, *(match.end() for match in re.finditer(r"\r\n?|\n", self._text))]
