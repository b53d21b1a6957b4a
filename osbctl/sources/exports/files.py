"""The files of an export as people have them: one object, an array, or several documents after one another."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from osbctl.errors import DocumentError
from osbctl.findings import Finding, Location, Severity
from osbctl.sources.document import Document
from osbctl.sources.parse import DEFAULT_LIMITS, decoded, parse_text
from osbctl.sources.pointer import below
from osbctl.sources.read import read_bytes, read_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.paths import Path
    from osbctl.sources.limits import Limits

_YAML_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)


def read_documents(source: str, limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """The documents in `source`, a word as `read_source` takes it: at least one, each an object.

    Raises:
        SourceError, UsageError: it cannot be opened.
        DocumentError: what it holds cannot be read.
    """
    try:
        data, name = read_bytes(source, limits=limits)
    except IsADirectoryError:
        return [read_source(source, limits=limits)]
    return parse_documents(data, name, limits)


def parse_documents(data: bytes, name: str, limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """The documents in `data`, which reports call `name`; errors as `read_documents`."""
    text = decoded(data, name)
    try:
        return _objects(parse_text(text, name, limits))
    except DocumentError:
        pieces = [*_pieces(text)]
        if len(pieces) < 2:
            raise
    return [document for piece in pieces for document in _objects(parse_text(piece, name, limits))]


def _pieces(text: str) -> Iterator[str]:
    """The documents of a text, each moved by empty lines and blanks to where it stood, so that its places are right."""
    line = line_start = done = 0
    for start, end in _spans(text):
        line += text.count("\n", done, start)
        line_start = text.rfind("\n", line_start, start) + 1 or line_start
        done = start
        yield "\n" * line + " " * (start - line_start) + text[start:end]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    if text.lstrip()[:1] not in ("{", "["):
        starts = [0, *(found.start() for found in _YAML_START.finditer(text) if text[: found.start()].strip())]
        yield from zip(starts, [*starts[1:], len(text)], strict=True)
        return
    scan, at = json.JSONDecoder().raw_decode, 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            _, end = scan(text, at)
        except (ValueError, RecursionError):  # its own reader says what is wrong there
            end = len(text)
        yield at, end
        at = end


def _objects(document: Document) -> list[Document]:
    value: Any = document.data
    if not isinstance(value, list):
        return [below(document, "")]
    if not value:
        raise DocumentError(
            (Finding("empty-document", Severity.ERROR, "the list is empty", (), Location(document.name, 1, 1)),)
        )
    if all(isinstance(entry, dict) and "spec" in entry for entry in value):
        return [_as_list(document)]
    return [below(document, f"/{index}") for index in range(len(value))]


def _as_list(document: Document) -> Document:
    """The bare array of objects that svcat prints as the list that kubectl prints of the same."""

    def locate(paths: frozenset[Path]) -> dict[Path, Location]:
        found = document.locate(path[1:] for path in paths)
        return {path: found[path[1:]] for path in paths}

    return Document(document.name, {"kind": "List", "items": document.data}, document.syntax, locate)
