"""The places of values in JSON text, which the reader has read without an error.

One pass that skips subtrees without requested locations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]  # undocumented, but public since Python 2.6
from operator import itemgetter
from typing import Any, TypeAlias

from osbctl.findings import Location
from osbctl.paths import Path, tree_of
from osbctl.sources.document import Span
from osbctl.sources.json_reader import past_space
from osbctl.sources.text_lines import Lines

Place: TypeAlias = "tuple[int, int, tuple[int, int]]"
"""Start and end of a value, and the range of its key, (0, 0) for an item of an array."""
_SPACE = r"[ \t\r\n]*+"
_COLON, _COMMA = re.compile(f"{_SPACE}:{_SPACE}"), re.compile(f"{_SPACE},?{_SPACE}")
_ENTRY = re.compile(rf'"([^"\\]*+)"{_SPACE}:{_SPACE}(?:("[^"\\]*+"|[-+.\w]++){_SPACE},?{_SPACE})?')
"""The key of an entry, where it has no escapes, and its value and what follows, where that is as plain."""
_EVERYTHING: dict[Any, Any] = {}
"""A tree of wanted paths that has them all."""


class JsonMap:
    """The places in `text`; unrequested subtrees are skipped by the C scanner."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name

    def locate(self, paths: Iterable[Path]) -> dict[Path, Location]:
        """The place of each path, or of its closest ancestor that exists: an entry with its key, if it is short."""
        asked = list(paths)
        found = _places(self._text, tree_of(asked))
        shown = sorted(((path, _shown_of(self._text, path, found)) for path in asked), key=itemgetter(1))
        lines = Lines(self._name, self._text)
        return {path: lines.at(*span) for path, span in shown}

    def spans(self, *, aliases: bool = False) -> dict[Path, Span]:  # noqa: ARG002  # JSON has none
        """The spans of all values, those inside of a value before its own."""
        text, found = self._text, _places(self._text, _EVERYTHING)
        return {
            path: Span(start, end, key, style='"' * (text[start] == '"')) for path, (start, end, key) in found.items()
        }


def _places(text: str, wanted: dict[Any, Any]) -> dict[Path, Place]:
    """The places of the values that `wanted` has a tree for, at each step that leads there."""
    finder = _Finder(text)
    finder.value(past_space(text, 1 if text[:1] == "\ufeff" else 0), wanted, (), (0, 0))
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

    def value(self, start: int, tree: dict[Any, Any], path: Path, key: tuple[int, int]) -> int:
        """Note the place of the value that begins at `start`, and those in it that are in `tree`; returns its end."""
        first = self._text[start]
        if first in "{[" and (tree or tree is _EVERYTHING):
            inside = self._entries if first == "{" else self._items
            end = inside(past_space(self._text, start + 1), tree, path)
        else:
            end = self._skip(start)
        self.found[path] = (start, end, key)
        return end

    def _entries(self, at: int, tree: dict[Any, Any], path: Path) -> int:
        text, everything = self._text, tree is _EVERYTHING
        while text[at] != "}":
            start, entry = at, _ENTRY.match(text, at)
            if entry:
                step, end, at = entry[1], entry.end(1) + 1, entry.end()
            else:
                step, end = scanstring(text, at + 1, True)
                at = _COLON.match(text, end).end()  # type: ignore[union-attr]  # the reader has met it
            below = tree if everything else tree.get(step)
            if entry and entry[2]:
                if below is not None:
                    self.found[(*path, step)] = (*entry.span(2), (start, end))
                continue
            at = self._skip(at) if below is None else self.value(at, below, (*path, step), (start, end))
            at = _COMMA.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        return at + 1

    def _items(self, at: int, tree: dict[Any, Any], path: Path) -> int:
        text, index = self._text, 0
        while text[at] != "]":
            below = tree if tree is _EVERYTHING else tree.get(index)
            at = self._skip(at) if below is None else self.value(at, below, (*path, index), (0, 0))
            at = _COMMA.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
            index += 1
        return at + 1

    def _skip(self, at: int) -> int:
        return int(self._scan(self._text, at)[1])
