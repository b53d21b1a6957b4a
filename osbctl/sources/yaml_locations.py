"""Locate the values of a YAML text in one pass over libyaml's events (why: `yaml_reader`).

The location of a value that comes from an alias or a merge key is the text of its anchor.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from typing import Any

import yaml
from yaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent

from osbctl.findings import Location
from osbctl.paths import JsonPath
from osbctl.sources.document import SourceMap, Span
from osbctl.sources.text_lines import Lines
from osbctl.sources.yaml_text import PlaceholderLoader


class _Place:
    """The location of one value: its span, the end of the underlined part, and the locations of the values in it.

    `foreign` values are written elsewhere: entries of a merge key, or with an alias as key. `target` is the value of an
    alias.
    """

    __slots__ = ("below", "foreign", "shown_end", "span", "target")

    def __init__(self, span: Span, shown_end: int, target: "_Place | None" = None) -> None:
        self.span = span  # no dataclass: to load these takes as long as the pass over an ordinary catalog
        self.shown_end = shown_end
        self.below: dict[Any, _Place] = {}
        self.foreign: dict[Any, _Place] = {}
        self.target = target

    def child(self, key: str | int) -> "_Place | None":
        """The location of the value at a key or index, also through an alias."""
        return self.target_or_self.below.get(key) or self.target_or_self.foreign.get(key)

    @property
    def target_or_self(self) -> "_Place":
        """The place of the value, also of an alias."""
        return self.target or self


class YamlMap(SourceMap):
    """The locations of the values in `text`, which must be valid YAML."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        places: dict[JsonPath, _Place] = {}
        for path in paths:
            place = self._top_place
            for step in path:
                below = place.child(step)
                if below is None:
                    break
                place = below
            places[path] = place
        lines = Lines(self._name, self._text)
        return {path: lines.at(place.span.entry_start, place.shown_end) for path, place in places.items()}

    def spans(self, *, aliases: bool = False) -> dict[JsonPath, Span]:
        count = _copies_counter(self._top_place) if aliases else None
        return dict(_collect_spans(self._top_place, (), count))

    def text_of(self, path: JsonPath) -> tuple[list[tuple[int, int]], set[int]]:
        place, keys = self._top_place, set[int]()
        for step in path:
            if (below := place.child(step)) is None:  # a collection is its key: take all that is around it
                break
            place = below
            if place.span.key[1]:
                keys.add(place.span.key[0])
        ranges: list[tuple[int, int]] = []
        for start, end in sorted(_collect_ranges(place), key=lambda each: (each[0], -each[1])):
            if not ranges or start >= ranges[-1][1]:  # not in the one before
                ranges.append((start, end))
        return ranges, keys

    @cached_property
    def _top_place(self) -> "_Place":
        try:
            return self._locate_top(yaml.CSafeLoader(self._text))
        except yaml.YAMLError:
            return self._locate_top(PlaceholderLoader(self._text))

    def _locate_top(self, loader: Any) -> "_Place":
        try:
            loader.get_event()
            loader.get_event()
            return _Pass(loader.get_event).locate_value(loader.get_event(), (0, 0))
        finally:
            loader.dispose()


def _collect_ranges(place: _Place) -> Iterator[tuple[int, int]]:
    """The ranges of a value, of the values that its aliases stand for, and of the entries that are merged into it."""
    yield place.span.start, place.span.end
    pending, seen = [place], {id(place)}
    while pending:
        each = pending.pop()
        elsewhere = [*each.foreign.values(), *filter(None, [each.target])]
        yield from ((one.span.entry_start, one.span.end) for one in elsewhere)
        new = [one for one in (*each.below.values(), *elsewhere) if id(one) not in seen]
        seen.update(map(id, new))
        pending += new


def _collect_spans(
    place: "_Place", path: JsonPath, count: "Callable[[_Place], int] | None"
) -> Iterator[tuple[JsonPath, Span]]:
    """The spans of `SourceMap.spans`; `count` counts copies, None without aliases."""
    for step, below in place.below.items():
        yield from _collect_spans(below, (*path, step), count)
    if place.target is None:
        yield path, place.span._replace(copies=count(place)) if count else place.span
    elif count and place.span.key[1] and not place.target.below and place.target.span.is_scalar:
        yield path, place.target.span._replace(key=place.span.key, copies=count(place.target))


def _copies_counter(top: "_Place") -> Callable[["_Place"], int]:
    """Return a function that counts at how many places of the document at `top` a text of it stands."""
    users: defaultdict[_Place, list[_Place]] = defaultdict(list)
    waiting = [top]
    while waiting:
        place = waiting.pop()
        for used in (*place.below.values(), *place.foreign.values(), *filter(None, [place.target])):
            waiting += [] if used in users else [used]
            users[used].append(place)

    @cache
    def count(place: _Place) -> int:
        return 1 if place is top else sum(map(count, users[place]))

    return count


class _Pass:
    """One pass over the events. Recursive, as the reader has limited the depth."""

    def __init__(self, next_event: Callable[[], Any]) -> None:
        self._next_event = next_event
        self._anchors: dict[str, _Place] = {}
        self._open: set[_Place] = set()
        self._texts: dict[str, str] = {}  # of anchored scalars: an alias may be a key

    def locate_value(self, event: Any, key_range: tuple[int, int]) -> "_Place":
        """Locate the value that begins with `event`; `key_range` is that of its key."""
        kind = type(event)
        start, end = event.start_mark.index, event.end_mark.index
        if kind is AliasEvent:
            target = self._anchors[event.anchor]  # none if the alias stands in it: that has no end
            return _Place(Span(start, end, key_range), end, target=None if target in self._open else target)
        anchored = event.anchor is not None
        style = (event.style or "").strip("\0") if kind is ScalarEvent else ""
        place = _Place(Span(start, end, key_range, style=style, anchored=anchored, is_scalar=kind is ScalarEvent), end)
        if anchored:
            self._anchors[event.anchor] = place
        if kind is not ScalarEvent:
            self._open.add(place)
            last = self._locate_entries(place) if kind is MappingStartEvent else self._locate_items(place)
            self._open.remove(place)
            place.span = place.span._replace(end=last.end_mark.index, flow=bool(event.flow_style))
            # A collection is underlined by its key alone; one without brackets has no end of its own.
            place.shown_end = key_range[1] or (place.span.end if event.flow_style else start)
        elif anchored:
            self._texts[event.anchor] = event.value
        return place

    def _locate_entries(self, place: "_Place") -> Any:
        """Locate the entries of a mapping; return its last event."""
        merged: list[list[_Place]] = []
        while type(event := self._next_event()) is not MappingEndEvent:
            keys = (event.start_mark.index, event.end_mark.index)
            name = self._read_key(event)
            if type(event) is ScalarEvent and event.value == "<<" and event.implicit[0]:
                base = self.locate_value(self._next_event(), keys).target_or_self
                # A list of bases is a sequence: its entries are the mappings.
                is_list = not base.foreign and all(isinstance(step, int) for step in base.below)
                merged.append([*base.below.values()] if is_list else [base])
                continue
            value = self.locate_value(self._next_event(), keys)
            (place.below if type(event) is ScalarEvent else place.foreign).setdefault(name, value)
        for base in (base.target_or_self for group in reversed(merged) for base in group):  # the later << wins
            for step, inherited in (*base.below.items(), *base.foreign.items()):
                if step not in place.below:
                    place.foreign.setdefault(step, inherited)
        return event

    def _read_key(self, event: Any) -> str | None:
        """The text of a key, which may be an alias, and may have an anchor; None if it is a collection."""
        if type(event) is AliasEvent:
            return self._texts.get(str(event.anchor))
        if isinstance(event, yaml.CollectionStartEvent):
            self.locate_value(event, (0, 0))
            return None
        if event.anchor is not None:
            span = Span(event.start_mark.index, event.end_mark.index, anchored=True, is_scalar=True)
            self._anchors[event.anchor] = _Place(span, span.end)
            self._texts[event.anchor] = event.value
        return str(event.value)

    def _locate_items(self, place: "_Place") -> Any:
        while type(event := self._next_event()) is not SequenceEndEvent:
            place.below[len(place.below)] = self.locate_value(event, (0, 0))
        return event
