"""Where values and their keys begin and end in a text, for whoever edits or underlines them.

Offsets count characters from 0. What came through an alias or a merge key has no span: to edit it would change
other places, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import yaml
from yaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent

from osbctl.paths import Path
from osbctl.sources.document import Document
from osbctl.sources.json_places import places


class Span(NamedTuple):
    """One value: `text[start:end]`, `key` from where to where its key, (0, 0) for an item of a list.

    `flow` says whether a mapping or list is written in brackets; `style` is the quote of a scalar, `|` or `>` for a
    block of lines, empty for a plain one; `anchored` whether an alias may stand for it elsewhere.
    """

    start: int
    end: int
    key: tuple[int, int] = (0, 0)
    flow: bool = True
    style: str = ""
    anchored: bool = False


def spans(document: Document) -> dict[Path, Span]:
    """The spans of all values that stand in the text of `document` as they are; one pass."""
    text = document.text
    if document.syntax != "json":
        return _yaml(text)
    found = places(text, 1 if text[:1] == "\ufeff" else 0)
    return {path: Span(start, end, key, style='"' * (text[start] == '"')) for path, (start, end, key) in found.items()}


def _yaml(text: str) -> dict[Path, Span]:
    found: dict[Path, Span] = {}
    loader = yaml.CSafeLoader(text)
    try:
        loader.get_event()
        loader.get_event()
        _yaml_value(loader.get_event, loader.get_event(), (), None, found)
    finally:
        loader.dispose()
    return found


def _yaml_value(get: Any, event: Any, path: Path, key: Any, found: dict[Path, Span]) -> Any:
    """Note the spans of the value that begins with `event` and of what is in it; returns the event that ends it."""
    kind, last, index = type(event), event, 0
    if kind is AliasEvent:
        return event
    while kind is not ScalarEvent and type(last := get()) not in (MappingEndEvent, SequenceEndEvent):
        if kind is MappingStartEvent:
            own = type(last) is ScalarEvent and not (last.value == "<<" and last.implicit[0])
            _yaml_value(get, get(), (*path, last.value if own else ""), last, found if own else {})
        else:
            _yaml_value(get, last, (*path, index), None, found)
            index += 1
    flow, style = (True, event.style or "") if kind is ScalarEvent else (bool(event.flow_style), "")
    keys = (key.start_mark.index, key.end_mark.index) if key is not None else (0, 0)
    span = event.start_mark.index, last.end_mark.index
    found[path] = Span(*span, keys, flow, style.strip("\0"), event.anchor is not None)
    return last
