"""The map of a YAML text: where each value stands, made in one pass over the events.

A value that came through an alias or a merge key is placed where it was written down: at the anchor's own text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import yaml
from yaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent

from osbctl.findings import Location
from osbctl.paths import Path
from osbctl.sources.document import Span
from osbctl.sources.text_lines import Lines


@dataclass(slots=True, eq=False)
class _Place:
    """One value: its span, where in it a report's underline ends, and the places below it.

    `foreign` are those whose text is elsewhere: entries of a merge key, or with an alias as their key. `target` is what
    an alias stands for.
    """

    span: Span
    shown_end: int
    below: dict[Any, _Place] = field(default_factory=dict)
    foreign: dict[Any, _Place] = field(default_factory=dict)
    target: _Place | None = None

    def step(self, step: str | int) -> _Place | None:
        """The place one step further down, through an alias, too."""
        holder = _meant(self)
        return holder.below.get(step) or holder.foreign.get(step)


class YamlMap:
    """The places in `text`, which must be what the reader has read without an error."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name

    def locate(self, paths: Iterable[Path]) -> dict[Path, Location]:
        """The place of each path, or of its closest ancestor that exists: an entry with its key, if it is short."""
        places = sorted(((path, _closest(self._top, path)) for path in paths), key=lambda one: _start(one[1]))
        lines = Lines(self._name, self._text)
        return {path: lines.at(_start(place), place.shown_end) for path, place in places}

    def spans(self, *, aliases: bool = False) -> dict[Path, Span]:
        """The spans of all values that stand in the text as they are, those inside of a value before its own.

        `aliases`: an entry that is an alias of a scalar has the span of that scalar.
        """
        return dict(_spans(self._top, (), aliases))

    @cached_property
    def _top(self) -> _Place:
        """The top, with all places below it."""
        loader = yaml.CSafeLoader(self._text)
        try:
            loader.get_event()
            loader.get_event()
            return _Pass(loader.get_event).value(loader.get_event(), (0, 0))
        finally:
            loader.dispose()


def _closest(place: _Place, path: Path) -> _Place:
    """The place of `path` below `place`, or of its closest ancestor that exists."""
    for step in path:
        below = place.step(step)
        if below is None:
            break
        place = below
    return place


def _meant(place: _Place) -> _Place:
    return place.target or place


def _start(place: _Place) -> int:
    return place.span.key[0] if place.span.key[1] else place.span.start


def _spans(place: _Place, path: Path, aliases: bool) -> Iterator[tuple[Path, Span]]:
    for step, below in place.below.items():
        yield from _spans(below, (*path, step), aliases)
    if place.target is None:
        yield path, place.span
    elif aliases and place.span.key[1] and not place.target.below and place.target.span.is_scalar:
        yield path, place.target.span._replace(key=place.span.key)


class _Pass:
    """One pass. Recursive: the reader has held the depth to its limit already."""

    def __init__(self, get: Any) -> None:
        self._get = get
        self._anchors: dict[str, _Place] = {}
        self._texts: dict[str, str] = {}  # of anchored scalars: an alias may be a key

    def value(self, event: Any, key: tuple[int, int]) -> _Place:
        """The place of the value that begins with `event`; `key` is from where to where its key stands."""
        kind = type(event)
        start, end = event.start_mark.index, event.end_mark.index
        if kind is AliasEvent:
            return _Place(Span(start, end, key), end, target=self._anchors[event.anchor])
        anchored = event.anchor is not None
        style = (event.style or "").strip("\0") if kind is ScalarEvent else ""
        place = _Place(Span(start, end, key, style=style, anchored=anchored, is_scalar=kind is ScalarEvent), end)
        if anchored:
            self._anchors[event.anchor] = place
        if kind is not ScalarEvent:
            last = self._mapping(place) if kind is MappingStartEvent else self._sequence(place)
            place.span = place.span._replace(end=last.end_mark.index, flow=bool(event.flow_style))
            # A collection is underlined by its key alone; one without brackets has no end of its own.
            place.shown_end = key[1] or (place.span.end if event.flow_style else start)
        elif anchored:
            self._texts[event.anchor] = event.value
        return place

    def _mapping(self, place: _Place) -> Any:
        """Fill `place` with the entries of a mapping; returns the event that ends it."""
        merged: list[list[_Place]] = []
        while type(event := self._get()) is not MappingEndEvent:
            name, keys = self._key(event), (event.start_mark.index, event.end_mark.index)
            if type(event) is ScalarEvent and event.value == "<<" and event.implicit[0]:
                base = _meant(self.value(self._get(), keys))
                # A list of bases is a sequence: its entries are the mappings.
                is_list = not base.foreign and all(isinstance(step, int) for step in base.below)
                merged.append([*base.below.values()] if is_list else [base])
                continue
            value = self.value(self._get(), keys)
            (place.below if type(event) is ScalarEvent else place.foreign).setdefault(name, value)
        for base in (_meant(base) for group in reversed(merged) for base in group):  # the later << wins
            for step, inherited in (*base.below.items(), *base.foreign.items()):
                if step not in place.below:
                    place.foreign.setdefault(step, inherited)
        return event

    def _key(self, event: Any) -> str | None:
        if type(event) is AliasEvent:
            return self._texts.get(str(event.anchor))
        if event.anchor is not None:
            span = Span(event.start_mark.index, event.end_mark.index, anchored=True, is_scalar=True)
            self._anchors[event.anchor] = _Place(span, span.end)
            self._texts[event.anchor] = event.value
        return str(event.value)

    def _sequence(self, place: _Place) -> Any:
        """Fill `place` with the items of a sequence; returns the event that ends it."""
        while type(event := self._get()) is not SequenceEndEvent:
            place.below[len(place.below)] = self.value(event, (0, 0))
        return event
