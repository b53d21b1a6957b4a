"""Where values and their keys begin and end in a text, for whoever edits or underlines them.

Offsets count characters from 0. What came through an alias or a merge key has no span: to edit it would change
other places, too.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import yaml
from yaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent

from osbctl.sources.json_places import places

if TYPE_CHECKING:
    from osbctl.paths import Path
    from osbctl.sources.document import Document


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


_Found: TypeAlias = "tuple[Path, Span]"


def spans(document: Document) -> dict[Path, Span]:
    """The spans of all values that stand in the text of `document` as they are; one pass."""
    text = document.text
    if document.syntax != "json":
        return dict(_yaml(text))
    found = places(text, 1 if text[:1] == "\ufeff" else 0)
    return {path: Span(start, end, key, style='"' * (text[start] == '"')) for path, (start, end, key) in found.items()}


def _yaml(text: str) -> Iterator[_Found]:
    loader = yaml.CSafeLoader(text)
    try:
        loader.get_event()
        loader.get_event()
        yield from _yaml_value(loader.get_event, loader.get_event(), (), None)
    finally:
        loader.dispose()


def _yaml_value(get: Any, event: Any, path: Path, key: Any) -> Iterator[_Found]:
    start, end = event.start_mark.index, event.end_mark.index
    keys = (key.start_mark.index, key.end_mark.index) if key is not None else (0, 0)
    anchored = getattr(event, "anchor", None) is not None
    kind = type(event)
    if kind is ScalarEvent:
        style = event.style if event.style and event.style != "\0" else ""
        yield path, Span(start, end, keys, True, style, anchored)
    elif kind is not AliasEvent:
        inside = _yaml_mapping if kind is MappingStartEvent else _yaml_sequence
        last = yield from inside(get, path)
        yield path, Span(start, last.end_mark.index, keys, bool(event.flow_style), "", anchored)


def _yaml_mapping(get: Any, path: Path) -> Generator[_Found, None, Any]:
    while type(key := get()) is not MappingEndEvent:
        merges = type(key) is ScalarEvent and key.value == "<<" and key.implicit[0]
        found = _yaml_value(get, get(), (*path, key.value if type(key) is ScalarEvent else ""), key)
        for span in found:
            if not merges and type(key) is ScalarEvent:
                yield span
    return key


def _yaml_sequence(get: Any, path: Path) -> Generator[_Found, None, Any]:
    index = 0
    while type(event := get()) is not SequenceEndEvent:
        yield from _yaml_value(get, event, (*path, index), None)
        index += 1
    return event
