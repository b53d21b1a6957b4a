"""The places of paths in YAML text: one pass over the events that keeps only what may be asked for.

A value that came through an alias or a merge key is placed where it was written down: at the anchor's own text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent

from osbctl.findings import Location
from osbctl.paths import Path, tree_of
from osbctl.sources.text_lines import Lines

_ENDS = (MappingEndEvent, SequenceEndEvent)


@dataclass(slots=True, eq=False)
class _Place:
    """Where a value begins and ends, and the places below it that are kept.

    An entry begins at its key. It ends with its value, or with the key where the value is a mapping or a sequence; one
    of these without brackets ends where it begins, since it has no end of its own.
    """

    start: int
    end: int
    below: dict[Any, _Place] = field(default_factory=dict)


def locate(text: str, name: str, paths: Iterable[Path]) -> dict[Path, Location]:
    """The places of `paths` in `text`, which must be what the reader has read without an error."""
    wanted = list(paths)
    loader = yaml.CSafeLoader(text)
    try:
        loader.get_event()
        loader.get_event()
        top = _Pass(loader.get_event).value(loader.get_event(), tree_of(wanted), False)
    finally:
        loader.dispose()
    shown = sorted(((path, _closest(top, path)) for path in wanted), key=lambda one: one[1].start)
    lines = Lines(name, text)
    return {path: lines.at(place.start, place.end) for path, place in shown}


def _closest(place: _Place, path: Path) -> _Place:
    """The place of `path` below `place`, or of its closest ancestor that exists."""
    for step in path:
        if step not in place.below:
            break
        place = place.below[step]
    return place


def _span(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index


class _Pass:
    """One pass. Recursive: the reader has held the depth to its limit already."""

    def __init__(self, get: Any) -> None:
        self._get = get
        self._anchors: dict[str, _Place] = {}
        self._texts: dict[str, str] = {}  # of anchored scalars: an alias may be a key

    def value(self, event: Any, tree: dict[Any, Any] | None, keep: bool) -> _Place:
        """The place of the value that begins with `event`, and those below it that are in `tree` or to `keep`."""
        kind = type(event)
        if kind is AliasEvent:
            return _Place(*_span(event), self._anchors[event.anchor].below)
        keep = keep or event.anchor is not None
        place = _Place(*_span(event))
        if event.anchor is not None:
            self._anchors[event.anchor] = place
        if kind is ScalarEvent and event.anchor is not None:
            self._texts[event.anchor] = event.value
        if kind is not ScalarEvent:
            inside = self._mapping if kind is MappingStartEvent else self._sequence
            last = inside(place, tree, keep) if tree or keep else self._past(event)
            place.end = last.end_mark.index if event.flow_style else place.start
        return place

    def _past(self, event: Any) -> Any:
        """Past a value that nobody asks for, whose anchors alone are noted; from its first event to its last."""
        depth = 0
        while True:
            kind = type(event)
            if kind in _ENDS:
                depth -= 1
            elif kind is not AliasEvent and event.anchor is not None:
                self.value(event, None, True)
            elif kind is not ScalarEvent and kind is not AliasEvent:
                depth += 1
            if not depth:
                return event
            event = self._get()

    def _mapping(self, place: _Place, tree: dict[Any, Any] | None, keep: bool) -> Any:
        """Fills `place`, and returns the event that ends the mapping."""
        merged: list[list[_Place]] = []
        while type(event := self._get()) is not MappingEndEvent:
            if type(event) is ScalarEvent and event.value == "<<" and event.implicit[0]:
                self._key(event)  # which may be anchored
                base = self.value(self._get(), None, True)
                # A list of bases is a sequence: its entries are the mappings.
                merged.append([base] if not all(isinstance(k, int) for k in base.below) else [*base.below.values()])
                continue
            key = self._key(event)
            value = self._get()
            if keep or (tree and key in tree):
                below = self.value(value, tree.get(key) if tree else None, keep)
                end = below.end if type(value) in (ScalarEvent, AliasEvent) else event.end_mark.index
                place.below.setdefault(key, _Place(event.start_mark.index, end, below.below))
            else:
                self._past(value)
        for group in reversed(merged):  # as the reader does: the later << wins
            for base in group:
                for key, inherited in base.below.items():
                    place.below.setdefault(key, inherited)
        return event

    def _key(self, event: Any) -> str | None:
        if type(event) is AliasEvent:
            return self._texts.get(str(event.anchor))
        if event.anchor is not None:
            self._anchors[event.anchor] = _Place(*_span(event))
            self._texts[event.anchor] = event.value
        return str(event.value)

    def _sequence(self, place: _Place, tree: dict[Any, Any] | None, keep: bool) -> Any:
        index = 0
        while type(event := self._get()) is not SequenceEndEvent:
            if keep or (tree and index in tree):
                place.below[index] = self.value(event, tree.get(index) if tree else None, keep)
            else:
                self._past(event)
            index += 1
        return event
