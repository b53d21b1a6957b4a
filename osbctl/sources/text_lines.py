"""Offsets in a text turned into lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right

from osbctl.findings import Location


class Lines:
    """The lines of a text. LF, CRLF and a lone CR end a line, as in YAML 1.2 (5.4) and in editors."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._starts = _line_starts(text)
        self._excerpts: dict[int, str] = {}

    def at(self, offset: int) -> Location:
        """The place of the character at `offset` (zero-based; the end of the text is allowed)."""
        line = bisect_right(self._starts, offset)
        return Location(self._name, line, offset - self._starts[line - 1] + 1, self._excerpt(line))

    def _excerpt(self, line: int) -> str:
        # Kept: a file of 5 MB may be one line, and a thousand findings must not hold a thousand copies of it.
        if line not in self._excerpts:
            start = self._starts[line - 1]
            end = self._starts[line] if line < len(self._starts) else len(self._text)
            self._excerpts[line] = self._text[start:end].rstrip("\r\n")
        return self._excerpts[line]


def _line_starts(text: str) -> list[int]:
    starts, at = [0], 0
    if "\r" not in text:
        while (at := text.find("\n", at) + 1) > 0:
            starts.append(at)
        return starts
    starts.extend(match.end() for match in re.finditer(r"\r\n?|\n", text))
    return starts
