"""Location of the cursor in a document that may be incomplete.

A mark replaces the word at the cursor, and libyaml's events say where the mark is; JSON is YAML in brackets. The text
before the cursor must be correct, what follows need not be.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from osbctl.paths import JsonPath
from osbctl.sources.yaml_text import mask_placeholders

MAX_CHARACTERS = 1_000_000
"""In longer texts the cursor is not located: the answer would be late."""
MAX_DEPTH = 100
"""Levels of objects and lists: libyaml's time grows with their square."""
BEFORE_COLON = re.compile(r"[ \t]*:")
_MARK = "osbctl-cursor"
_WORD = re.compile(r"""'[^'\n]*'?|"(?:[^"\\\n]|\\.)*"?|[^\s{}\[\],:"'#]+""")


@dataclass(frozen=True, slots=True)
class Cursor:
    """Location of the cursor.

    `path` leads to the value that it is in, or to the object if it is at a key; indexes are not counted, all are 0.
    `is_key` is true after a hyphen, too, because a key may follow it. `start` and `end` are the offsets of the word
    that it touches. `others` are the other keys of the object. `flow` is true in brackets.
    """

    path: JsonPath
    is_key: bool
    start: int
    end: int
    others: frozenset[str]
    flow: bool


def cursor_at(text: str, offset: int) -> Cursor | None:
    """Location of the character at `offset`; None in a comment, among several words, or if it is unknown."""
    if len(text) > MAX_CHARACTERS:
        return None
    start, end = _word_span_at(text, offset)
    colon = "" if BEFORE_COLON.match(text, end) else ": "
    found = _find_mark(f"{text[:start]}{_MARK}{colon}{text[end:]}")
    if found is None:
        return None
    container, path = found
    others = frozenset(container.keys) - {_MARK}
    # In `[word]`, the colon made an object of the item.
    is_key = path is None and not (container.flow and container.start == start)
    return Cursor(container.path if path is None else path, is_key, start, end, others, container.flow)


def _word_span_at(text: str, offset: int) -> tuple[int, int]:
    """Start and end of the word that the cursor touches."""
    for word in _WORD.finditer(text, text.rfind("\n", 0, offset) + 1):
        if word.start() <= offset <= word.end():
            return word.span()
        if word.start() > offset:
            break
    return offset, offset


@dataclass(slots=True)
class _Container:
    """An object or list: its offset, its keys so far, and the one whose value is next."""

    path: JsonPath
    is_list: bool
    flow: bool
    start: int
    keys: list[str] = field(default_factory=list)
    key: str | None = None

    def add_word(self, word: str) -> JsonPath | None:
        """Take the next key or value; the path of the value, or None for a key."""
        if self.is_list:
            return (*self.path, 0)
        if self.key is None:
            self.key = word
            self.keys.append(word)
            return None
        path = (*self.path, self.key)
        self.key = None
        return path


def _find_mark(text: str) -> tuple[_Container, JsonPath | None] | None:
    """The container around the mark with all its keys, and the path of the mark; this is None if the mark is a key."""
    found = None
    containers: list[_Container] = []
    for event, start in _yaml_events(text):
        if isinstance(event, yaml.CollectionEndEvent):
            closed = containers.pop()
            if found and closed is found[0]:
                break
        elif isinstance(event, yaml.NodeEvent):
            word = event.value if isinstance(event, yaml.ScalarEvent) else ""
            path = containers[-1].add_word(word) if containers else ()
            if word == _MARK and containers:
                found = containers[-1], path
            if isinstance(event, yaml.CollectionStartEvent):
                is_list = isinstance(event, yaml.SequenceStartEvent)
                containers.append(_Container(path or (), is_list, bool(event.flow_style), start))
        if len(containers) > MAX_DEPTH:
            break
    return found


def _yaml_events(text: str) -> Iterator[tuple[yaml.Event, int]]:
    """The events of the text with their offsets, up to its first syntax error."""
    loader: Any = yaml.CSafeLoader(mask_placeholders(text).encode("utf-8", "replace"))
    try:
        while event := loader.get_event():
            yield event, event.start_mark.index
    except yaml.YAMLError:
        return
    finally:
        loader.dispose()
