"""Offsets in a text turned into lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from osbctl.findings import Location

_STEP = 1 << 12
"""Characters between two places whose line is known: to count the line ends in between takes microseconds."""


class Lines:
    """The lines of a text. LF, CRLF and a lone CR end a line, as in YAML 1.2 (5.4) and in editors."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._excerpts: dict[int, str] = {}

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
        step = offset // _STEP
        ends, start = self._steps[step]
        line = ends + self._text.count("\n", step * _STEP, offset) + 1
        return line, self._text.rfind("\n", step * _STEP, offset) + 1 or start

    def _excerpt(self, start: int) -> str:
        # Kept: a file of 5 MB may be one line, and a thousand findings must not hold a thousand copies of it.
        if start not in self._excerpts:
            end = self._text.find("\n", start) + 1 or len(self._text)
            self._excerpts[start] = self._text[start:end].partition("\r")[0].removesuffix("\n")
        return self._excerpts[start]

    @cached_property
    def _starts(self) -> list[int] | None:
        """Where lines begin, for a text with a CR in it."""
        if "\r" not in self._text:
            return None
        return [0, *(match.end() for match in re.finditer(r"\r\n?|\n", self._text))]

    @cached_property
    def _steps(self) -> list[tuple[int, int]]:
        """For each step, how many lines end before it, and where the line begins that it begins in."""
        found, ends, start = [], 0, 0
        for at in range(0, len(self._text) + 1, _STEP):
            found.append((ends, start))
            ends += self._text.count("\n", at, at + _STEP)
            start = self._text.rfind("\n", at, at + _STEP) + 1 or start
        return found
