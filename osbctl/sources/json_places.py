"""The places of values in JSON text, which the reader has read without an error.

One pass that skips whatever nobody asks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]  # undocumented, but public since Python 2.6
from typing import Any, TypeAlias

from osbctl.findings import Location
from osbctl.paths import Path, tree_of
from osbctl.sources.json_reader import past_space
from osbctl.sources.text_lines import Lines

Place: TypeAlias = "tuple[int, int, tuple[int, int]]"
"""Where a value begins and ends in the text, and from where to where its key, (0, 0) for an item of an array."""
_COLON, _COMMA = re.compile(r"[ \t\r\n]*:[ \t\r\n]*"), re.compile(r"[ \t\r\n]*,?[ \t\r\n]*")
_EVERYTHING: dict[Any, Any] = {}
"""A tree of wanted paths that has them all."""


def locate(text: str, name: str, paths: Iterable[Path]) -> dict[Path, Location]:
    """The places of `paths` in `text`."""
    lines = Lines(name, text)
    asked = list(paths)
    found = places(text, wanted=tree_of(asked))
    located = {}
    for path in asked:
        nearest = path
        while nearest not in found:
            nearest = nearest[:-1]
        located[path] = lines.at(*_shown_of(text, nearest, found))
    return located


def places(text: str, at: int = 0, wanted: dict[Any, Any] = _EVERYTHING) -> dict[Path, Place]:
    """The places of the values from offset `at` on, those inside of a value before its own.

    `wanted` has a tree for each step that leads to a value that is asked for; the rest is skipped by the C scanner.
    """
    finder = _Finder(text)
    finder.value(past_space(text, at), wanted, (), (0, 0))
    return finder.found


def _shown_of(text: str, path: Path, found: Mapping[Path, Place]) -> tuple[int, int]:
    """What reports underline: an entry with its key, or the key alone where an object or array follows."""
    start, end, key = found[path]
    if not path:
        return start, start
    return (key[0], key[1] if text[start] in "{[" else end) if key[1] else (start, end)


class _Finder:
    def __init__(self, text: str) -> None:
        self._text = text
        self._skip = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # undocumented, as scanstring
        self.found: dict[Path, Place] = {}

    def value(self, start: int, tree: dict[Any, Any], path: Path, key: tuple[int, int]) -> int:
        inside = self._text[start] in "{[" and (tree or tree is _EVERYTHING)
        end = self._entries(start, tree, path) if inside else int(self._skip(self._text, start)[1])
        self.found[path] = (start, end, key)
        return end

    def _entries(self, at: int, tree: dict[Any, Any], path: Path) -> int:
        is_object = self._text[at] == "{"
        at, index = past_space(self._text, at + 1), 0
        while self._text[at] not in "}]":
            step: str | int = index
            start, end = 0, 0
            if is_object:
                start = at
                step, end = scanstring(self._text, at + 1, True)
                at = _COLON.match(self._text, end).end()  # type: ignore[union-attr]  # the reader has met it
            below = tree if tree is _EVERYTHING else tree.get(step)
            if below is None:
                at = int(self._skip(self._text, at)[1])
            else:
                at = self.value(at, below, (*path, step), (start, end))
            at = _COMMA.match(self._text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
            index += 1
        return at + 1
