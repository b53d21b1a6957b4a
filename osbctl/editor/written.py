"""One file as it is written at this moment: its text, what it holds, and where in it every value stands."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from osbctl.editor.texts import Text
from osbctl.errors import DocumentError
from osbctl.sources.parse import decoded, parse_text
from osbctl.sources.spans import spans

if TYPE_CHECKING:
    from osbctl.findings import Finding, Location
    from osbctl.paths import Path
    from osbctl.sources.document import Document
    from osbctl.sources.spans import Span


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
            return parse_text(decoded(self._text.encode("utf-8", "surrogatepass"), self.name), self.name)
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
        """What is underlined for a finding: the value, with its key, where it stands on one line; else its key."""
        start = self.offset_of(place.line, place.column)
        line_end = self.line_end(self.line_of(start))
        span = self.starts.get(start)
        if span is None:
            return (start, line_end) if start < line_end else (max(self.lines[self.line_of(start)], start - 1), start)
        whole = span.end if span.end <= line_end else span.key[1] or line_end
        return start, max(whole, start + 1)

    @cached_property
    def starts(self) -> dict[int, Span]:
        """The value that each finding's place stands for: an entry at its key, an item at itself."""
        found = {span.start: span for span in reversed(self.spans.values())}
        return found | {span.key[0]: span for span in self.spans.values() if span.key[1]}


@lru_cache(maxsize=16)
def written(name: str, text: str, encoding: str) -> Written:
    """The file of that name with that text; what is known of the last few is kept."""
    return Written(name, text, encoding)
