"""Location of the cursor in a document, found in the text alone, so incomplete documents work.

JSON, and YAML in brackets, are read token by token up to the cursor; block YAML is read upwards by its indentation.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from osbctl.paths import Path

MAX_CHARACTERS = 2_000_000
"""In longer texts the cursor is not located: the answer would be late."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Location of the cursor. `path` leads to the object or list around it; indexes are not counted, all are 0.

    `key` is the key whose value the cursor is in, None at a key or an item. `start` and `end` are the offsets of the
    word that it touches. `others` are the other keys of the object. `flow` is true in brackets, `item` in an item of a
    list.
    """

    path: Path
    key: str | None
    start: int
    end: int
    others: frozenset[str] = frozenset()
    flow: bool = False
    item: bool = False

    @property
    def whole(self) -> Path:
        """Path of the value that the cursor is in, or of the object if it is at a key."""
        return self.path if self.key is None else (*self.path, self.key)


def cursor_at(text: str, offset: int) -> Cursor | None:
    """Location of the character at `offset`; None in a comment, in a block scalar, or if it is unknown."""
    if len(text) > MAX_CHARACTERS:
        return None
    if text[:1_000].lstrip()[:1] in ("{", "["):
        return _in_brackets(text, 0, offset, ())
    return _Block(text, offset).cursor()


def unquote_key(word: str) -> str:
    """A key without its quotes; escapes stay, because no field has any."""
    return word.strip("\"'")


# Brackets.

_TOKEN = re.compile(r"""(?P<word>"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[^\s{}\[\],:"']+)|[{}\[\],:]""")


@dataclass(slots=True)
class _Frame:
    """An open object or list: its path, its keys, and the key whose value is next."""

    path: Path
    is_object: bool
    keys: list[str] = field(default_factory=list)
    key: str | None = None

    @property
    def below(self) -> Path:
        """Path of the next value."""
        return (*self.path, (self.key or "") if self.is_object else 0)

    def separate(self, mark: str, word: str) -> None:
        """Process a comma, or a colon after a word."""
        if mark == ",":
            self.key = None
        elif self.is_object and self.key is None:
            self.key = word
            self.keys.append(word)


def _in_brackets(text: str, start: int, offset: int, path: Path) -> Cursor | None:
    frames: list[_Frame] = []
    touched, word = (offset, offset), ""
    tokens = _TOKEN.finditer(text, start)
    after: list[str] = []
    for token in tokens:
        if token["word"] is not None and token.start() <= offset <= token.end():
            touched = token.span()
            break
        if token.start() >= offset:
            after = [token[0]]
            break
        if token["word"] is not None:
            word = unquote_key(token[0])
        else:
            _mark(frames, token[0], word, path)
    if not frames:
        return None
    top = frames[-1]
    others = {*top.keys, *_later_keys(after, (token[0] for token in tokens))} if top.is_object else set()
    path = top.path if top.is_object else (*top.path, 0)
    return Cursor(path, top.key, *touched, frozenset(others - {top.key}), flow=True, item=not top.is_object)


def _mark(frames: list[_Frame], mark: str, word: str, path: Path) -> None:
    """Update the open containers for a bracket, comma or colon."""
    if mark in "{[":
        frames.append(_Frame(frames[-1].below if frames else path, mark == "{"))
    elif frames and mark in "}]":
        frames.pop()
    elif frames:
        frames[-1].separate(mark, word)


def _later_keys(first: list[str], tokens: Iterator[str]) -> Iterator[str]:
    """Keys of the object after the cursor."""
    depth, word = 0, None
    for mark in (*first, *tokens):
        depth += (mark in "{[") - (mark in "}]")
        if depth < 0:
            return
        if depth == 0 and mark == ":" and word is not None:
            yield unquote_key(word)
        word = mark if mark not in "{}[],:" else None


# Block YAML.

_VALUE_BELOW = re.compile(r"(?:[&!][^\s]*[ \t]*)*(?:#.*)?$")
"""Text allowed after the colon of a key whose value is on the lines below."""

_HYPHEN = re.compile(r"-(?![^ \t])[ \t]*")
_COLON = re.compile(r":(?=[ \t]|$)|[ \t]#")
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'""")


class _Line(NamedTuple):
    """A line of block YAML: columns of its hyphens, of the text after them, and of the value of its key, if any.

    `colon` is the column after the colon.
    """

    text: str
    dashes: list[int]
    at: int
    key: str | None = None
    colon: int = 0
    value: int = 0


def _line(text: str) -> _Line:
    at = len(text) - len(text.lstrip(" "))
    dashes = []
    while hyphen := _HYPHEN.match(text, at):
        dashes.append(at)
        at = hyphen.end()
    quoted = _QUOTED.match(text, at)
    colon = _COLON.search(text, quoted.end() if quoted else at)
    if not colon or colon[0] != ":" or text[at : at + 1] in ("#", "{", "["):
        return _Line(text, dashes, at)
    value = colon.end() + len(text[colon.end() :]) - len(text[colon.end() :].lstrip(" \t"))
    return _Line(text, dashes, at, unquote_key(text[at : colon.start()].strip()), colon.end(), value)


class _Block:
    """Finds the path of the cursor upwards, line by line."""

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset
        self.start = text.rfind("\n", 0, offset) + 1
        end = text.find("\n", offset)
        self.end = len(text) if end < 0 else end
        self.line = _line(text[self.start : self.end].rstrip("\r"))
        self.path: deque[str | int] = deque()
        self.others: set[str] = set()
        self.flow: int | None = None
        self.limit, self.in_list = 0, False

    def cursor(self) -> Cursor | None:
        """Location of the cursor."""
        line, column = self.line, self.offset - self.start
        level = line.at if line.text[line.at :] else max(column, line.at)
        if _in_comment(line.text, column) or not self._climb(level):
            return None
        in_value = line.key is not None and column >= line.colon
        if _opens(line.text, line.at) and column > line.at:
            self.flow = self.start + line.at
        elif in_value:
            self.path.append(line.key or "")
            if _opens(line.text, line.value) and column > line.value:
                self.flow = self.start + line.value
        if self.flow is not None:
            return _in_brackets(self.text, self.flow, self.offset, tuple(self.path))
        return self._in_line(level, in_value)

    def _in_line(self, level: int, in_value: bool) -> Cursor:
        line = self.line
        key = str(self.path.pop()) if in_value else None
        start, word = line.at, line.text[line.at : line.colon - 1 if line.key is not None else None]
        if in_value:
            start, word = line.value, line.text[line.value :].partition(" #")[0]
        start = min(self.start + start, self.offset)
        others = frozenset(self.others | set(self._below(level)))
        item = bool(line.dashes) and line.key is None
        return Cursor(tuple(self.path), key, start, max(self.offset, start + len(word.rstrip())), others, item=item)

    def _climb(self, level: int) -> bool:
        """Collect the path from the lines above; False if the cursor is in a scalar of several lines."""
        self.limit = level
        self._take_dashes(self.line)
        for above in self._above():
            content = above.text[above.at :]
            if content[:1] == "#" or not (content or above.dashes):
                continue
            if not self._take(above):
                return False
            if self.limit == 0 and not self.in_list and self.path:
                break
        return True

    def _take(self, line: _Line) -> bool:
        """Add what a line above says to the path; False if the cursor is in a scalar of several lines."""
        if line.key is None:
            if line.dashes and line.dashes[-1] < self.limit and _opens(line.text, line.at):
                self._begin_flow(line.at)
            elif not line.dashes and line.at < self.limit:
                return False
        elif line.at < self.limit or (self.in_list and line.at == self.limit):
            if not self._take_key(line, line.key):
                return False
        elif line.at == self.limit and not self.in_list and not self.path:
            self.others.add(line.key)
        self._take_dashes(line)
        return True

    def _take_key(self, line: _Line, key: str) -> bool:
        if _opens(line.text, line.value):
            self._begin_flow(line.value)
        elif not _VALUE_BELOW.match(line.text, line.value):
            return False
        self.path.appendleft(key)
        self.limit, self.in_list = line.at, False
        return True

    def _take_dashes(self, line: _Line) -> None:
        for dash in reversed(line.dashes):
            if dash < self.limit or (line is self.line and not self.in_list):
                self.path.appendleft(0)
                self.limit, self.in_list = dash, True

    def _begin_flow(self, column: int) -> None:
        self.flow = self._line_start + column
        self.path.clear()

    def _above(self) -> Iterator[_Line]:
        end = self.start
        while end > 0:
            self._line_start = self.text.rfind("\n", 0, end - 1) + 1
            text = self.text[self._line_start : end - 1].rstrip("\r")
            if text.startswith(("---", "...")):
                return
            yield _line(text)
            end = self._line_start

    def _below(self, level: int) -> Iterator[str]:
        """Keys of the same object on the lines below."""
        start = self.end + 1
        while start < len(self.text):
            end = self.text.find("\n", start)
            end = len(self.text) if end < 0 else end
            line = _line(self.text[start:end].rstrip("\r"))
            if line.text[line.at :] and line.text[line.at] != "#":
                if (line.dashes[0] if line.dashes else line.at) < level:
                    return
                if line.key is not None and line.at == level and not line.dashes:
                    yield line.key
            start = end + 1


def _opens(line: str, at: int) -> bool:
    return line[at : at + 1] in ("{", "[")


def _in_comment(line: str, column: int) -> bool:
    found = re.search(r"(?:^|[ \t])#", line)
    return found is not None and found.end() <= column and not any(quote in line[: found.start()] for quote in "\"'")
