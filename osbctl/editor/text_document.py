"""The text of one file at this moment: places as an editor counts them, what it holds, and where that stands."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

from lsprotocol import types

from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.paths import Path, value_at
from osbctl.platforms import labels
from osbctl.sources.document import Document, Span
from osbctl.sources.parse import decoded, parse_text
from osbctl.tasks.rules import all_rules
from osbctl.text import escape_line

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_BOM = "\ufeff"
_LINE_END = re.compile(r"\r\n?|\n")
_WIDE = {
    "utf-8": re.compile(r"[^\x00-\x7f]"),
    "utf-16": re.compile("[\U00010000-\U0010ffff]"),
    "utf-32": re.compile(r"(?!)"),
}
"""The characters that take more than one unit of each encoding."""


class Text:
    """A text as an editor holds it. Offsets count characters (code points) of `body`.

    `body` is the text without the byte order mark that it may begin with, as the readers see it. LF, CRLF and a lone
    CR end a line (LSP 3.17, "Text Documents"). Positions count units of the encoding that was agreed upon.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.body = text.removeprefix(_BOM)
        self._encoding = encoding
        self._mark = _units(_BOM, encoding) if text.startswith(_BOM) else 0

    def place(self, offset: int) -> types.Position:
        """The position of the character at `offset`; what lies beyond the end is the end."""
        offset = min(max(offset, 0), len(self.body))
        line = self.line_of(offset)
        return types.Position(line, self._between(self.lines[line], offset) + (self._mark if line == 0 else 0))

    def offset(self, place: types.Position) -> int:
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
        start, *behind = self.lines[line : line + 2]
        return start + len(self.body[start : behind[0] if behind else None].rstrip("\r\n"))

    @cached_property
    def lines(self) -> list[int]:
        """Offset of each line."""
        return [0, *(found.end() for found in _LINE_END.finditer(self.body))]

    @cached_property
    def _wide(self) -> list[int]:
        return [found.start() for found in _WIDE[self._encoding].finditer(self.body)]

    @cached_property
    def _more(self) -> list[int]:
        """Cumulative extra code units of wide characters."""
        return [0, *accumulate(_units(self.body[at], self._encoding) - 1 for at in self._wide)]

    def _between(self, start: int, end: int) -> int:
        # The text in between is not gone through: a line may be a whole catalog, and hold thousands of places.
        wide = self._more[bisect_left(self._wide, end)] - self._more[bisect_left(self._wide, start)]
        return end - start + wide


def _units(text: str, encoding: str) -> int:
    """The code units of UTF-8, UTF-16 or UTF-32 that a text takes."""
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return len(text.encode(encoding if size == 1 else f"{encoding}-le", "surrogatepass")) // size


class TextDocument(Text):
    """A file with what can be known of it. `faults` say why it cannot be read, once that was tried."""

    def __init__(self, name: str, text: str, encoding: str) -> None:
        super().__init__(text, encoding)
        self.name = name
        self.faults: tuple[Finding, ...] = ()
        self._text = text

    @cached_property
    def document(self) -> Document | None:
        """Parsed file, of any type; None if it cannot be parsed, with the reasons in `faults`."""
        try:
            return parse_text(decoded(self._text.encode("utf-8", "surrogatepass"), self.name), self.name)
        except DocumentError as error:
            self.faults = error.findings
            return None

    @cached_property
    def spans(self) -> dict[Path, Span]:
        """Span of each value; empty if the file cannot be parsed."""
        return self.document.source_map().spans() if self.document else {}

    def value(self, path: Path) -> Any:
        """The value at `path`, which must be there."""
        return value_at(self.document.data, path) if self.document else None

    def extent(self, place: Location) -> tuple[int, int]:
        """Range to underline for a finding, as in a report; at the end of a line, its last character."""
        start = self.offset_of(place.line, place.column)
        line = self.line_of(start)
        end = start + place.end - place.column if place.end else self.line_end(line)
        return (start, end) if start < end else (max(self.lines[line], start - 1), start)


@lru_cache(maxsize=16)
def written(name: str, text: str, encoding: str) -> TextDocument:
    """The file of that name with that text; what is known of the last few is kept."""
    return TextDocument(name, text, encoding)


def diagnostic(
    finding: Finding, file: TextDocument, related: list[types.DiagnosticRelatedInformation] | None = None
) -> types.Diagnostic:
    """One finding in the file that it is about; one without a place stands at the file's first character."""
    start, end = file.extent(finding.location) if finding.location else (0, 0)
    said = [
        escape_line(finding.message),
        f"hint: {escape_line(finding.hint)}" if finding.hint else "",
        f"refused by {labels(finding.refused_by)}" if finding.refused_by else "",
    ]
    rule = all_rules().get(finding.rule)
    return types.Diagnostic(
        code_description=types.CodeDescription(rule.page) if rule and rule.page else None,
        related_information=related,
        range=range_of(file, start, end),
        message="\n".join(filter(None, said)),
        severity=SEVERITIES[finding.severity],
        code=finding.rule,
        source="osbctl",
    )


def range_of(text: Text, start: int, end: int) -> types.Range:
    """The range between two offsets of a text."""
    return types.Range(text.place(start), text.place(end))
