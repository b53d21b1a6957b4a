"""One file as it is written at this moment: its text, what it holds, and where in it every value stands."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from osbctl.editor.pieces import read_pieces
from osbctl.editor.texts import Text
from osbctl.errors import DocumentError
from osbctl.sources.parse import decoded, parse_text
from osbctl.sources.spans import Span, spans

if TYPE_CHECKING:
    from osbctl.findings import Finding, Location
    from osbctl.paths import Path
    from osbctl.sources.document import Document


class Written(Text):
    """A file with what can be known of it. `faults` say why it cannot be read, once that was tried."""

    def __init__(self, name: str, text: str, encoding: str) -> None:
        super().__init__(text, encoding)
        self.name = name
        self.faults: tuple[Finding, ...] = ()
        self._text = text

    @cached_property
    def document(self) -> Document | None:
        """What the file holds, whatever value it is; None where it cannot be read, and `faults` say why."""
        try:
            text = decoded(self._text.encode("utf-8", "surrogatepass"), self.name)
            return read_pieces(text, self.name) or parse_text(text, self.name)
        except DocumentError as error:
            self.faults = error.findings
            return None

    @cached_property
    def spans(self) -> dict[Path, Span]:
        """Where each value stands; empty where the file cannot be read."""
        return spans(self.document) if self.document else {}

    def value(self, path: Path) -> Any:
        """The value at `path`, which must be there."""
        value: Any = self.document.data if self.document else None
        for step in path:
            value = value[step]
        return value

    def extent(self, place: Location) -> tuple[int, int]:
        """What is underlined for a finding: the same as in a report; at the end of a line, its last character."""
        start = self.offset_of(place.line, place.column)
        line = self.line_of(start)
        end = start + place.end - place.column if place.end else self.line_end(line)
        return (start, end) if start < end else (max(self.lines[line], start - 1), start)


@lru_cache(maxsize=16)
def written(name: str, text: str, encoding: str) -> Written:
    """The file of that name with that text; what is known of the last few is kept."""
    return Written(name, text, encoding)
