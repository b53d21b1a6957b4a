"""The places of values in JSON text, which the reader has read without an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]  # undocumented, but public since Python 2.6
from operator import itemgetter
from typing import TypeAlias

from osbctl.findings import Location
from osbctl.paths import Path
from osbctl.sources.document import Span
from osbctl.sources.json_reader import past_space
from osbctl.sources.text_lines import Lines

Place: TypeAlias = "tuple[int, int, tuple[int, int]]"
"""Start and end of a value, and the range of its key, (0, 0) for an item of an array."""
_SPACE = r"[ \t\r\n]*+"
_COLON, _COMMA = re.compile(f"{_SPACE}:{_SPACE}"), re.compile(f"{_SPACE},?{_SPACE}")


class JsonMap:
    """The places in `text`, found in one pass."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name

    def locate(self, paths: Iterable[Path]) -> dict[Path, Location]:
        """The place of each path, or of its closest ancestor that exists: an entry with its key, if it is short."""
        shown = sorted(((path, _shown_of(self._text, path, self._places)) for path in paths), key=itemgetter(1))
        lines = Lines(self._name, self._text)
        return {path: lines.at(*span) for path, span in shown}

    def spans(self, *, aliases: bool = False) -> dict[Path, Span]:  # noqa: ARG002  # JSON has none
        """The spans of all values, those inside of a value before its own."""
        text = self._text
        return {
            path: Span(start, end, key, style='"' * (text[start] == '"'))
            for path, (start, end, key) in self._places.items()
        }

    @cached_property
    def _places(self) -> dict[Path, Place]:
        finder = _Finder(self._text)
        finder.value(past_space(self._text, 1 if self._text[:1] == "\ufeff" else 0), (), (0, 0))
        return finder.found


def _shown_of(text: str, path: Path, found: Mapping[Path, Place]) -> tuple[int, int]:
    """Range that reports underline: an entry with its key, or only the key of an object or array.

    Of a path that does not exist it is the closest ancestor that does.
    """
    while path not in found:
        path = path[:-1]
    start, end, key = found[path]
    if not path:
        return start, start
    return (key[0], key[1] if text[start] in "{[" else end) if key[1] else (start, end)


class _Finder:
    def __init__(self, text: str) -> None:
        self._text = text
        self._scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # undocumented, as scanstring
        self.found: dict[Path, Place] = {}

    def value(self, start: int, path: Path, key: tuple[int, int]) -> int:
        """Note the place of the value that begins at `start`, and those in it; returns its end."""
        first = self._text[start]
        if first in "{[":
            inside = self._entries if first == "{" else self._items
            end = inside(past_space(self._text, start + 1), path)
        else:
            end = int(self._scan(self._text, start)[1])
        self.found[path] = (start, end, key)
        return end

    def _entries(self, at: int, path: Path) -> int:
        text = self._text
        while text[at] != "}":
            start = at
            step, end = scanstring(text, at + 1, True)
            at = _COLON.match(text, end).end()  # type: ignore[union-attr]  # the reader has met it
            at = self.value(at, (*path, step), (start, end))
            at = _COMMA.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        return at + 1

    def _items(self, at: int, path: Path) -> int:
        text, index = self._text, 0
        while text[at] != "]":
            at = self.value(at, (*path, index), (0, 0))
            at = _COMMA.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
            index += 1
        return at + 1
