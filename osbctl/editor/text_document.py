"""One file in an editor: positions as the editor counts them, the cursor, the parsed document, and diagnostics."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import yaml
from lsprotocol import types

from osbctl.commands.settings import all_rules
from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.paths import JsonPath
from osbctl.sources.document import ParsedText, decode_utf8, parse_text
from osbctl.sources.places import LINE_END, Span
from osbctl.sources.read_bytes import Limits
from osbctl.sources.yaml_reader import MERGE, Builder
from osbctl.sources.yaml_syntax import PlaceholderLoader
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
    def document(self) -> ParsedText | None:
        """The parsed file, of any JSON type. None if it cannot be parsed."""
        try:
            return parse_text(self.decode(), self.name)
        except DocumentError:
            return None

    def decode(self) -> str:
        """The text as the readers decode it. Raises DocumentError: it is no text of a catalog."""
        return decode_utf8(self._text.encode("utf-8", "surrogatepass"), self.name)

    @cached_property
    def spans(self) -> dict[JsonPath, Span]:
        """Span of each value. Empty if the file cannot be parsed."""
        return self.document.spans() if self.document else {}

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
    if finding.advice:
        lines.append(f"hint: {escape_line(finding.advice)}")
    rule = all_rules().get(finding.rule)
    return types.Diagnostic(
        code_description=types.CodeDescription(rule.documentation_url) if rule and rule.documentation_url else None,
        range=file.range(start, end),
        message="\n".join(lines),
        severity=SEVERITIES[finding.severity],
        code=finding.rule,
        source="osbctl",
    )


# The cursor in a text that may be incomplete.

MAX_CHARACTERS = 1_000_000
"""In longer texts the cursor is not located: the answer would be late."""
MAX_DEPTH = 100
"""Levels of objects and lists: libyaml's time grows with their square."""
BEFORE_COLON = re.compile(r"[ \t]*:")
_MARK = "osbctl-cursor"
_WORD = re.compile(r"""'[^'\n]*'?|"(?:[^"\\\n]|\\.)*"?|[^\s{}\[\],:"'#]+""")


@dataclass(frozen=True, slots=True)
class Cursor:
    """Location of the cursor.

    `path` leads to the value that it is in, or to the object if it is at a key; indexes are not counted, all are 0.
    `is_key` is true after a hyphen, too, because a key may follow it. `start` and `end` are the offsets of the word
    that it touches. `others` are the other keys of the object. `flow` is true in brackets.
    """

    path: JsonPath
    is_key: bool
    start: int
    end: int
    others: frozenset[str]
    flow: bool


def cursor_at(text: str, offset: int) -> Cursor | None:
    """Location of the character at `offset`; None in a comment, among several words, or if it is unknown.

    A mark replaces the word at the cursor, and libyaml's events say where the mark is; JSON is YAML in brackets. The
    text before the cursor must be correct, what follows need not be.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    start, end = _word_span_at(text, offset)
    colon = "" if BEFORE_COLON.match(text, end) else ": "
    builder = _MarkBuilder(f"{text[:start]}{_MARK}{colon}{text[end:]}".encode("utf-8", "replace").decode())
    if not builder.find_mark():
        return None
    path, flow = builder.path, bool(builder.around.flow_style)
    stands_as_key = path[-1:] == (_MARK,)
    # In `[word]`, the colon made an object of the item.
    is_key = stands_as_key and not (flow and builder.around.start_mark.index == start)
    others = frozenset(builder.keys) - {_MARK}
    return Cursor(path[:-1] if stands_as_key else path, is_key, start, end, others, flow)


def _word_span_at(text: str, offset: int) -> tuple[int, int]:
    """Start and end of the word that the cursor touches."""
    for word in _WORD.finditer(text, text.rfind("\n", 0, offset) + 1):
        if word.start() <= offset <= word.end():
            return word.span()
        if word.start() > offset:
            break
    return offset, offset


class _FoundError(Exception):  # no error: it ends the search
    """The collection around the mark has been read."""


class _MarkBuilder(Builder):
    """A builder of the values of a text that looks for the mark, and stops behind the collection around it.

    `around` is the event that begins this collection, `path` that of the mark, which ends with the mark if it is a key,
    and `keys` are the keys of the object.
    """

    around: Any = None
    path: JsonPath = ()
    keys: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, text: str) -> None:
        super().__init__(text, "", Limits(depth=MAX_DEPTH), PlaceholderLoader)
        self._open: list[Any] = []
        self._last_keys: dict[str, Any] = {}

    def find_mark(self) -> bool:
        """Return whether there is a mark in a collection, before the first mistake in the text."""
        with suppress(_FoundError, DocumentError, yaml.YAMLError):
            self._build_only_document()
        return self.around is not None

    def _build_collection(self, event: Any) -> Any:
        self._open.append(event)
        value = super()._build_collection(event)
        if self._open.pop() is self.around:
            raise _FoundError
        return value

    def _build_key(self, event: Any, key_offsets: dict[str, int]) -> Any:
        self._last_keys = key_offsets
        return super()._build_key(event, key_offsets)

    def _build_scalar(self, event: Any) -> Any:
        if event.value == _MARK and self._open:
            self.around = self._open[-1]
            self.path = tuple("<<" if one is MERGE else one if isinstance(one, str) else 0 for one in self._path)
            self.keys = self._last_keys if isinstance(self.around, yaml.MappingStartEvent) else {}
        return super()._build_scalar(event)

    def _check_end(self, get: Callable[[], Any]) -> None:
        """Look into the documents that follow, too."""
        while get() and isinstance(get(), yaml.DocumentStartEvent):
            self._build_value(get())
