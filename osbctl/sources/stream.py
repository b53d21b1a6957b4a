"""A text that holds several documents, one after the other: a stream of YAML, or of JSON values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from osbctl.findings import DocumentError
from osbctl.sources.document import Document
from osbctl.sources.limits import DEFAULT_LIMITS, Limits
from osbctl.sources.parse import parse_text

_YAML_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_CONTENT = re.compile(r"^(?![ \t]*(?:#.*)?$|%|(?:---|\.\.\.)[ \t]*(?:#.*)?$)", re.MULTILINE)
"""The beginning of a line that is more than a comment, a directive or a mark between documents."""


def parse_stream(text: str, name: str, limits: Limits = DEFAULT_LIMITS, *, json_values: bool = False) -> list[Document]:
    """The documents in `text`, at least one; those of YAML that are empty are left out, where there are others.

    `json_values`: several values of JSON are documents, too, as tools print them page by page.

    Raises DocumentError: one of them cannot be read.
    """
    try:
        return [parse_text(text, name, limits)]
    except DocumentError:
        is_json = text.lstrip()[:1] in ("{", "[")
        pieces = [*_pieces(text, _json_spans(text) if is_json else _yaml_spans(text))]
        if not pieces or (is_json and not json_values):
            raise
    return [parse_text(piece, name, limits)._replace(embedded=True) for piece in pieces]


def _pieces(text: str, spans: Iterator[tuple[int, int]]) -> Iterator[str]:
    """The documents of a text, each moved by empty lines and blanks to where it stood, so that its places are right."""
    line = line_start = done = 0
    for start, end in spans:
        line += text.count("\n", done, start)
        line_start = text.rfind("\n", line_start, start) + 1 or line_start
        done = start
        yield "\n" * line + " " * (start - line_start) + text[start:end]


def _yaml_spans(text: str) -> Iterator[tuple[int, int]]:
    starts = [0, *(found.start() for found in _YAML_START.finditer(text))]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        if _CONTENT.search(text, start, end):
            yield start, end


def _json_spans(text: str) -> Iterator[tuple[int, int]]:
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
