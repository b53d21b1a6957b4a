"""Where values and their keys begin and end in a text, for whoever edits or underlines them.

Offsets count characters from 0. What came through a merge key has no span, and what came through an alias only where
that is asked for: to edit it changes other places, too.
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


def spans(document: Document, aliases: bool = False) -> dict[Path, Span]:
    """The spans of all values that stand in the text of `document` as they are; one pass.

    `aliases`: an entry that is an alias of a scalar has the span of that scalar.
    """
    text = document.text
    if document.syntax != "json":
        return _yaml(text, aliases)
    found = places(text, 1 if text[:1] == "\ufeff" else 0)
    return {path: Span(start, end, key, style='"' * (text[start] == '"')) for path, (start, end, key) in found.items()}


def _yaml(text: str, aliases: bool) -> dict[Path, Span]:
    found: dict[Path, Span] = {}
    anchors: dict[str, Span] | None = {} if aliases else None
    loader = yaml.CSafeLoader(text)
    try:
        loader.get_event()
        loader.get_event()
        _yaml_value(loader.get_event, loader.get_event(), (), None, found, anchors)
    finally:
        loader.dispose()
    return found


def _yaml_value(
    get: Any, event: Any, path: Path, key: Any, found: dict[Path, Span], anchors: dict[str, Span] | None
) -> Any:
    """Note the spans of the value that begins with `event` and of what is in it; returns the event that ends it.

    `anchors` are the spans of the scalars that an alias may stand for; None where aliases are not asked for.
    """
    kind, last, index = type(event), event, 0
    keys = (key.start_mark.index, key.end_mark.index) if key is not None else (0, 0)
    if kind is AliasEvent:
        if anchors and event.anchor in anchors and key is not None:
            found[path] = anchors[event.anchor]._replace(key=keys)
        return event
    while kind is not ScalarEvent and type(last := get()) not in (MappingEndEvent, SequenceEndEvent):
        if kind is MappingStartEvent:
            own = type(last) is ScalarEvent and not (last.value == "<<" and last.implicit[0])
            _yaml_value(get, get(), (*path, last.value if own else ""), last, found if own else {}, anchors)
        else:
            _yaml_value(get, last, (*path, index), None, found, anchors)
            index += 1
    flow, style = (True, event.style or "") if kind is ScalarEvent else (bool(event.flow_style), "")
    span = event.start_mark.index, last.end_mark.index
    found[path] = Span(*span, keys, flow, style.strip("\0"), event.anchor is not None)
    if anchors is not None and event.anchor is not None:
        anchors.pop(event.anchor, None)
        if kind is ScalarEvent:
            anchors[event.anchor] = found[path]
    return last
