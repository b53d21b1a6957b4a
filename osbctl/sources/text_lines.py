"""Offsets in a text turned into lines and columns."""

from __future__ import annotations

from bisect import bisect_right

from osbctl.findings import Location


class Lines:
    """The lines of a text. LF, CRLF and a lone CR end a line, as in YAML 1.2 (5.4) and in editors."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._starts = _line_starts(text)

    def at(self, offset: int) -> Location:
        """The place of the character at `offset` (zero-based; the end of the text is allowed)."""
        line = bisect_right(self._starts, offset)
        return self._location(line, offset - self._starts[line - 1] + 1)

    def at_line(self, line: int, column: int) -> Location:
        """The place at a line and column that both count from 1."""
        return self._location(min(line, len(self._starts)), column)

    def _location(self, line: int, column: int) -> Location:
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self._text)
        return Location(self._name, line, column, self._text[start:end].rstrip("\r\n"))


def _line_starts(text: str) -> list[int]:
    starts, at = [0], 0
    if "\r" not in text:
        while (at := text.find("\n", at) + 1) > 0:
            starts.append(at)
        return starts
    for index, character in enumerate(text):
        if character == "\n" or (character == "\r" and text[index + 1 : index + 2] != "\n"):
            starts.append(index + 1)
    return starts
