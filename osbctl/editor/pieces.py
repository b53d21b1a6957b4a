"""A catalog read part by part, so that a key that was typed costs one of them: a file, or a service offering in YAML.

What is kept of a part is found again by its text. A text that begins with `services:` and a block list is cut before
each item of that list. Where every piece can be read by itself, the whole is the pieces together, since each ends
outside of all quotes and brackets, and nothing but an alias reaches from one into another. Where a piece cannot be
read, or the text looks otherwise, the whole has to be read at once, which also says what is wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from osbctl.errors import DocumentError
from osbctl.findings import Finding, Location
from osbctl.paths import Path
from osbctl.sources.document import Document, locate_in_parts
from osbctl.sources.limits import MAX_DEPTH, MAX_NODES, MAX_PROBLEMS, Limits
from osbctl.sources.parse import parse_document, parse_text

_BLANK = r"(?:[ \t]*(?:#.*)?\r?\n)*"
_BEGIN = re.compile(rf"{_BLANK}(?:---[ \t]*\r?\n)?services:(?:[ \t]*|[ \t]+#.*)\r?\n{_BLANK}( *)- ")

_LINE_ENDS = "\n\x85\u2028\u2029"
"""Those of YAML 1.1, which libyaml keeps to: a document may begin or end behind each."""

MAX_PIECES = 1_000
"""Pieces that one text may have. Together they hold no more values than one text may."""

MAX_CATALOGS = 16
"""Catalogs whose pieces are kept."""

MAX_FILES = 1_000
"""Files of source folders that are kept."""

_LIMITS = Limits(depth=MAX_DEPTH - 1, nodes=MAX_NODES // MAX_PIECES)

_pieces: dict[str, dict[str, Document]] = {}
"""The pieces of each file as it was read last, by their text. What is not in a text any more is not kept."""

_files: dict[str, tuple[bytes, Document]] = {}
"""The files of source folders as they were read last."""


def read_file(data: bytes, name: str, limits: Limits) -> Document:
    """As `parse_document`; the same document as the last time where the file still holds the same."""
    known = _files.get(name)
    if known and known[0] == data:
        return known[1]
    document = _remembering(parse_document(data, name, limits=limits))
    _keep(_files, name, (data, document), MAX_FILES)
    return document


def _keep(kept: dict[str, Any], name: str, value: Any, most: int) -> None:
    kept.pop(name, None)
    kept[name] = value
    if len(kept) > most:
        del kept[next(iter(kept))]


def _remembering(document: Document) -> Document:
    """The same document, which knows the places again that it was asked for."""
    places: dict[Path, Location] = {}

    def locate(paths: frozenset[Path]) -> dict[Path, Location]:
        if new := paths - places.keys():
            places.update(document.locate(new))
        return {path: places[path] for path in paths}

    return document._replace(locator=locate)


def _services(piece: Document) -> list[Any]:
    """The service offerings of a piece, which is the beginning of the whole or some items of the list."""
    data: Any = piece.data
    services: list[Any] = data["services"] if isinstance(data, dict) else data
    return services


def read_pieces(text: str, name: str) -> Document | None:
    """The document in `text`, the same as `parse_text` makes of it; None where it must be asked."""
    begin = _BEGIN.match(text)
    if begin is None or name.lower().endswith(".json") or _is_odd(text, begin.end()):
        return None
    items = re.compile(rf"\n{begin[1]}- ").finditer(text, begin.end())
    cuts = [0, *(item.start() + 1 for item in items), len(text)]
    if len(cuts) > MAX_PIECES:
        return None
    texts = [text[start:end] for start, end in pairwise(cuts)]
    known = _pieces.get(name, {})
    try:
        pieces = [known.get(piece) or _remembering(parse_text(piece, name, _LIMITS)) for piece in texts]
    except DocumentError:
        return None
    if pieces[0].data.keys() != {"services"}:  # the list has ended before its second item
        return None
    _keep(_pieces, name, dict(zip(texts, pieces, strict=True)), MAX_CATALOGS)
    whole = _Whole(text, cuts, pieces)
    data = {"services": [service for piece in pieces for service in _services(piece)]}
    return Document(name, data, "yaml", whole.locate, whole.notes()[:MAX_PROBLEMS], text)


def _is_odd(text: str, start: int) -> bool:
    """Whether there is another document from `start` on, or line ends that are not looked for here."""
    another = any(text.find(end + mark, start) >= 0 for end in _LINE_ENDS for mark in ("---", "..."))
    return another or ("\r" in text and text.count("\r") != text.count("\r\n"))


class _Whole:
    """Pieces with the line and the index at which each begins."""

    def __init__(self, text: str, cuts: Sequence[int], pieces: list[Document]) -> None:
        self.pieces = pieces
        self.lines = [0, *accumulate(text.count("\n", start, end) for start, end in pairwise(cuts))]
        self.first = [0, *accumulate(len(_services(piece)) for piece in pieces)]

    def notes(self) -> tuple[Finding, ...]:
        return tuple(
            note._replace(
                path=self._outside(number, note.path), location=note.location and self._moved(number, note.location)
            )
            for number, piece in enumerate(self.pieces)
            for note in piece.notes
        )

    def locate(self, paths: Iterable[Path]) -> dict[Path, Location]:
        """The places of all `paths`."""
        found = locate_in_parts(paths, self._inside, self.pieces.__getitem__)
        return {path: self._moved(number, place) for path, number, place in found}

    def _inside(self, path: Path) -> tuple[int, Path]:
        """The piece that `path` leads into, and the path in there. What is missing is looked for in the first."""
        index = path[1] if len(path) > 1 and path[0] == "services" else 0
        if not isinstance(index, int) or index not in range(self.first[1], self.first[-1]):
            return 0, path
        number = bisect_right(self.first, index) - 1
        return number, (index - self.first[number], *path[2:])

    def _outside(self, number: int, path: Path) -> Path:
        if not number or not path:
            return path
        index, *rest = path
        return ("services", self.first[number] + int(index), *rest)

    def _moved(self, number: int, place: Location) -> Location:
        return place._replace(line=place.line + self.lines[number]) if number else place
