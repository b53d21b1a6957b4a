"""Location of the cursor in a document, found in the text alone, so incomplete documents work.

JSON, and YAML in brackets, are read token by token up to the cursor; block YAML is read by its indentation.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
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
    return _in_block(text, offset)


@dataclass(slots=True)
class _Container:
    """An open object or list: the keys so far, and the one whose value is next; in block YAML, its column."""

    is_list: bool
    column: int = 0
    keys: list[str] = field(default_factory=list)
    key: str | None = None

    def begin_value(self, key: str) -> None:
        self.keys.append(key)
        self.key = key


def _path(containers: Iterable[_Container]) -> Path:
    return tuple(0 if each.is_list else each.key or "" for each in containers)


def _unquoted(word: str) -> str:
    """A key without its quotes; escapes stay, because no field has any."""
    return word.strip("\"'")


# Brackets.

_TOKEN = re.compile(r"""(?P<word>"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[^\s{}\[\],:"']+)|[{}\[\],:]""")


def _in_brackets(text: str, start: int, offset: int, path: Path) -> Cursor | None:
    containers: list[_Container] = []
    touched, word = (offset, offset), ""
    for token in _TOKEN.finditer(text, start):
        if token["word"] is not None and token.start() <= offset <= token.end():
            touched = token.span()
            break
        if token.start() >= offset:
            break
        if token["word"] is not None:
            word = _unquoted(token[0])
        else:
            _mark(containers, token[0], word)
    if not containers:
        return None
    top = containers[-1]
    others = set() if top.is_list else {*top.keys, *_later_keys(text, touched[1])}
    path = (*path, *_path(containers if top.is_list else containers[:-1]))
    return Cursor(path, top.key, *touched, frozenset(others - {top.key}), flow=True, item=top.is_list)


def _mark(containers: list[_Container], mark: str, word: str) -> None:
    """Update the open containers for a bracket, a comma, or the colon behind `word`."""
    if mark in "{[":
        containers.append(_Container(mark == "["))
    elif not containers:
        return
    elif mark in "}]":
        containers.pop()
    elif mark == ",":
        containers[-1].key = None
    elif containers[-1].key is None and not containers[-1].is_list:
        containers[-1].begin_value(word)


def _later_keys(text: str, start: int) -> Iterator[str]:
    depth, word = 0, None
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        depth += (mark in "{[") - (mark in "}]")
        if depth < 0:
            return
        if depth == 0 and mark == ":" and word is not None:
            yield _unquoted(word)
        word = mark if mark not in "{}[],:" else None


# Block YAML.

_VALUE_BELOW = re.compile(r"(?:[&!][^\s]*[ \t]*)*(?:#.*)?$")
"""Text allowed after the colon of a key whose value is on the lines below."""

_HYPHEN = re.compile(r"-(?![^ \t])[ \t]*")
_COLON = re.compile(r":(?=[ \t]|$)|[ \t]#")
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'""")


class _Line(NamedTuple):
    """A line of block YAML: columns of its hyphens, of the text after them, and of the value of its key, if any.

    `colon` is the column after the colon, `column` that of the first hyphen or else of the text.
    """

    text: str
    dashes: list[int]
    column: int
    at: int
    key: str | None = None
    colon: int = 0
    value: int = 0


def _line(text: str) -> _Line:
    text = text.rstrip("\r")
    at = column = len(text) - len(text.lstrip(" "))
    dashes = []
    while hyphen := _HYPHEN.match(text, at):
        dashes.append(at)
        at = hyphen.end()
    quoted = _QUOTED.match(text, at)
    colon = _COLON.search(text, quoted.end() if quoted else at)
    if not colon or colon[0] != ":" or text[at : at + 1] in ("#", "{", "["):
        return _Line(text, dashes, column, at)
    value = colon.end() + len(text[colon.end() :]) - len(text[colon.end() :].lstrip(" \t"))
    return _Line(text, dashes, column, at, _unquoted(text[at : colon.start()].strip()), colon.end(), value)


def _is_blank(line: _Line) -> bool:
    return not line.dashes and line.text[line.at : line.at + 1] in ("", "#")


class _Block:
    """The open containers behind some lines of block YAML.

    On lines further right than the column `continued`, the last value goes on: a scalar, or brackets that begin at
    the offset `flow`.
    """

    def __init__(self, lines: list[str]) -> None:
        self.containers: list[_Container] = []
        self.continued: float = inf
        self.flow: int | None = None
        start = 0
        for text in lines:
            if text.startswith(("---", "...")):
                self.containers, self.continued = [], inf
            line = _line(text)
            if not _is_blank(line) and line.column <= self.continued:
                self.take(line, start)
            start += len(text) + 1

    def take(self, line: _Line, start: int) -> None:
        for dash in line.dashes:
            self.enter(dash, is_list=True)
        value, column = line.at, line.dashes[-1] if line.dashes else line.at
        if line.key is not None:
            value, column = line.value, line.at
            self.enter(column, is_list=False).begin_value(line.key)
        self.flow = start + value if line.text[value : value + 1] in ("{", "[") else None
        is_open = _VALUE_BELOW.match(line.text, value) or (line.dashes and line.key is None)
        self.continued = inf if is_open and self.flow is None else column

    def enter(self, column: int, *, is_list: bool) -> _Container:
        """The object or list whose keys or hyphens are in a column; what is further right ends."""
        while self.containers:
            top = self.containers[-1]
            if top.column == column and top.is_list == is_list:
                return top
            if top.column < column or (top.column == column and is_list):
                break  # a list may begin in the column of its key
            self.containers.pop()
        self.containers.append(_Container(is_list, column))
        return self.containers[-1]


def _in_block(text: str, offset: int) -> Cursor | None:
    *above, begun = text[:offset].split("\n")
    rest, *below = text[offset:].split("\n")
    line, column, start = _line(begun + rest), len(begun), offset - len(begun)
    if _in_comment(line.text, column):
        return None
    block = _Block(above)
    level = line.at if line.text[line.at :] else max(column, line.at)
    is_continued = (line.column if line.dashes else level) > block.continued
    if not is_continued:
        block.take(line, start)
    if block.flow is not None and block.flow < offset:
        return _in_brackets(text, block.flow, offset, _path(block.containers))
    if is_continued:
        return None
    others = {*block.enter(level, is_list=False).keys, *_keys_below(below, level)} - {line.key}
    key, at, word = _touched(line, column)
    at = min(start + at, offset)
    end = max(offset, at + len(word.rstrip()))
    item = bool(line.dashes) and line.key is None
    return Cursor(_path(block.containers[:-1]), key, at, end, frozenset(others), item=item)


def _touched(line: _Line, column: int) -> tuple[str | None, int, str]:
    """The key whose value has the column, and the column and text of the word or value there."""
    if line.key is None:
        return None, line.at, line.text[line.at :]
    if column < line.colon:
        return None, line.at, line.text[line.at : line.colon - 1]
    return line.key, line.value, line.text[line.value :].partition(" #")[0]


def _keys_below(lines: list[str], level: int) -> Iterator[str]:
    for line in map(_line, lines):
        if line.column < level and not _is_blank(line):
            return
        if line.key is not None and line.at == level and not line.dashes:
            yield line.key


def _in_comment(line: str, column: int) -> bool:
    found = re.search(r"(?:^|[ \t])#", line)
    return found is not None and found.end() <= column and not any(quote in line[: found.start()] for quote in "\"'")
