"""One file in an editor: positions as the editor counts them, the parsed document, and findings as diagnostics."""

import re
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache

from lsprotocol import types

from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.paths import JsonPath
from osbctl.sources.document import Document, Span
from osbctl.sources.parse import decode_utf8, parse_text
from osbctl.sources.text_lines import LINE_END
from osbctl.tasks.options import all_rules
from osbctl.text import escape_line

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_BOM = "\ufeff"
_WIDE = re.compile("[\U00010000-\U0010ffff]")
"""Characters of two units in UTF-16."""


class TextDocument:
    """A file as the editor holds it. Offsets count characters (code points) of `body`.

    `body` is the text without its byte order mark, as the readers see it. LF, CRLF and a lone CR end a line (LSP 3.17,
    "Text Documents"). Positions count units of UTF-16.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.body = text.removeprefix(_BOM)
        self._text = text
        self._bom_units = len(text) - len(self.body)
        self.line_starts = [0, *(found.end() for found in LINE_END.finditer(self.body))]
        self._wide_offsets = [found.start() for found in _WIDE.finditer(self.body)]

    def position(self, offset: int) -> types.Position:
        """Position of the character at `offset`; an offset outside of the text is its start or end."""
        offset = min(max(offset, 0), len(self.body))
        line = self.line_of(offset)
        units = self._utf16_length(self.line_starts[line], offset)
        return types.Position(line, units + (self._bom_units if line == 0 else 0))

    def range(self, start: int, end: int) -> types.Range:
        """Range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """Offset of a position; one beyond the end of a line is that end."""
        if position.line >= len(self.line_starts):
            return len(self.body)
        start, end = self.line_starts[position.line], self.line_end_offset(position.line)
        units = max(0, position.character - (self._bom_units if position.line == 0 else 0))
        return bisect_right(range(start, end + 1), units, key=lambda at: self._utf16_length(start, at)) - 1 + start

    def location_offset(self, location: Location) -> int:
        """Offset of a location, whose line and column count from 1, columns in characters."""
        index = min(location.line, len(self.line_starts)) - 1
        return min(self.line_starts[index] + location.column - 1, len(self.body))

    def line_of(self, offset: int) -> int:
        """Line of the character at `offset`, from 0."""
        return bisect_right(self.line_starts, offset) - 1

    def line_end_offset(self, line: int) -> int:
        """Offset of the end of a line, before its line break."""
        start, *behind = self.line_starts[line : line + 2]
        return start + len(self.body[start : behind[0] if behind else None].rstrip("\r\n"))

    def _utf16_length(self, start: int, end: int) -> int:
        """UTF-16 units between two offsets. Does not read the text between: a line may be a whole catalog."""
        return end - start + bisect_left(self._wide_offsets, end) - bisect_left(self._wide_offsets, start)

    @cached_property
    def document(self) -> Document | None:
        """The parsed file, of any JSON type; None if it cannot be parsed."""
        try:
            return parse_text(self.decode(), self.name)
        except DocumentError:
            return None

    def decode(self) -> str:
        """The text as the readers decode it. Raises DocumentError: it is no text of a catalog."""
        return decode_utf8(self._text.encode("utf-8", "surrogatepass"), self.name)

    @cached_property
    def spans(self) -> dict[JsonPath, Span]:
        """Span of each value; empty if the file cannot be parsed."""
        return self.document.source_map().spans() if self.document else {}

    def path_at(self, offset: int) -> JsonPath | None:
        """Path of the innermost value whose text or key contains the offset."""
        return next((path for path, span in self.spans.items() if span.entry_start <= offset <= span.end), None)

    def extent(self, location: Location) -> tuple[int, int]:
        """Offsets to underline for a finding, as in a report; at the end of a line, its last character."""
        start = self.location_offset(location)
        line = self.line_of(start)
        end = start + location.end - location.column if location.end else self.line_end_offset(line)
        return (start, end) if start < end else (max(self.line_starts[line], start - 1), start)


@lru_cache(maxsize=16)
def cached_text_document(name: str, text: str) -> TextDocument:
    """The file of that name with that text; the last few are cached with their parsed documents."""
    return TextDocument(name, text)


def make_diagnostic(finding: Finding, file: TextDocument) -> types.Diagnostic:
    """A finding as an editor shows it; one without a location is at the first character of the file."""
    start, end = file.extent(finding.location) if finding.location else (0, 0)
    lines = [escape_line(finding.message)]
    if finding.refused_by_text:
        lines.append(finding.refused_by_text)
    if finding.hint:
        lines.append(f"hint: {escape_line(finding.hint)}")
    rule = all_rules().get(finding.rule)
    return types.Diagnostic(
        code_description=types.CodeDescription(rule.documentation_url) if rule and rule.documentation_url else None,
        range=file.range(start, end),
        message="\n".join(lines),
        severity=SEVERITIES[finding.severity],
        code=finding.rule,
        source="osbctl",
    )
