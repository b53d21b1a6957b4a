"""Turn a fix into an edit of the text: a range, and its replacement.

A new entry goes after the id, name and description at the beginning of an object, before the next entry, or before the
last one. It is written like this neighbour: on a line of its own or not, in JSON or YAML.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from osbctl.findings import Fix
from osbctl.paths import JsonPath, entries, get_at
from osbctl.sources.document import ParsedText
from osbctl.sources.places import Span

_FIRST = ("id", "name", "description")
NO_TEXT = "there is no text that can be edited safely"
_COMMENT = "a comment stands behind it, which may be about it"
_ANCHORED = "it has an anchor, to which an alias may refer"
_ANCHOR = re.compile(r"&[^\s,\[\]{}]+[ \t]+(?=[^\s!])")


class Edit(NamedTuple):
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


def make_edit(document: ParsedText, spans: Mapping[JsonPath, Span], fix: Fix, path: JsonPath) -> Edit | str:
    """The edit for `fix` at `path` of this file, or why there is none; `spans` are those of the whole text."""
    text, span = document.text, spans.get(path)
    if span is None:
        return _make_insertion(document, spans, path, fix.value) if fix.action == "set" else NO_TEXT
    if span.style in ("|", ">"):
        return f"it is a block of lines, after `{span.style}`"
    if fix.action == "remove":
        return _ANCHORED if span.anchored else _make_removal(document, spans, path)
    if fix.action == "rename":
        quote = {"'": "'", '"': '"'}.get(text[span.key[0]], "")
        return Edit(*span.key, f"{quote}{fix.value}{quote}") if span.key[1] else NO_TEXT
    start, end = span.start, span.end
    if span.anchored:
        anchor = _ANCHOR.match(text, start, end)
        if anchor is None:
            return _ANCHORED
        start = anchor.end()
    if fix.action == "quote":
        return make_quoting_edit(text, None if span.style else (start, end))
    if fix.action == "wrap":
        return Edit(start, end, f"[{text[start:end] if span.style else _format_value(fix.value)}]")
    return Edit(start, end, _format_value(fix.value))


def _make_removal(document: ParsedText, spans: Mapping[JsonPath, Span], path: JsonPath) -> Edit | str:
    """Remove an entry, with the comma or line end between it and a neighbour."""
    text, parent = document.text, spans[path[:-1]]
    start, end = spans[path].key[0], spans[path].end
    keys = sorted(spans[place].key[0] for place in spans if place[:-1] == path[:-1])
    if len(keys) == 1:
        return Edit(parent.start, parent.end, "{}") if parent.flow else Edit(start, end, "{}")
    if start != keys[-1]:
        next_key = keys[keys.index(start) + 1]
        return _COMMENT if text[end:next_key].strip(" \t\r\n,") else Edit(start, next_key, "")
    rest_of_line = re.compile(r"[ \t]*#").match(text, end)
    before = re.compile(r",?\s*\Z").search(text, max(0, start - 1_000), start)
    return Edit(before.start(), end, "") if before and not rest_of_line else _COMMENT


def make_quoting_edit(text: str, scalar_range: tuple[int, int] | None) -> Edit | str:
    """Quote the plain scalar at this range; the reason why not, without one."""
    return Edit(*scalar_range, _format_value(text[slice(*scalar_range)])) if scalar_range else NO_TEXT


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits to a text; of two that overlap, the first."""
    pieces, offset = [], 0
    for each in _without_overlaps(edits):
        pieces += [text[offset : each.start], each.new]
        offset = each.end
    return "".join([*pieces, text[offset:]])


def offset_before(edits: Iterable[Edit], offset: int) -> int:
    """The offset in a text of what is at `offset` once the edits are applied; of new text, where that was put."""
    growth = 0
    for each in _without_overlaps(edits):
        start = each.start + growth
        if offset < start:
            break
        if offset < start + len(each.new):
            return each.start
        growth += len(each.new) - (each.end - each.start)
    return offset - growth


def _without_overlaps(edits: Iterable[Edit]) -> Iterator[Edit]:
    """The edits in the order of the text; of two that overlap, the first."""
    end = 0
    for each in sorted(set(edits)):
        if each.start >= end:
            yield each
            end = each.end


def _make_insertion(document: ParsedText, spans: Mapping[JsonPath, Span], path: JsonPath, value: Any) -> Edit | str:
    """Insert an entry before a neighbour and the comments above it, on a line of its own if that one is."""
    text = document.text
    keys = [key for key, _ in entries(get_at(document.data, path[:-1])) if (*path[:-1], key) in spans]
    known = sorted((spans[*path[:-1], key].key[0], key) for key in keys)
    if spans[path[:-1]].anchored:
        return "the object that it belongs into has an anchor, to which an alias may refer"
    if not known or not isinstance(path[-1], str):
        return NO_TEXT
    at = next((at for at, key in known if key not in _FIRST), known[-1][0])
    flow = document.syntax == "json" or spans[path[:-1]].flow
    place = at if flow else _before_comments(text, at)
    return Edit(place, place, _format_entry(path[-1], value, flow, text[at]) + _separator_before(text, place, flow))


def _before_comments(text: str, offset: int) -> int:
    """The offset of the comment lines directly above the key at `offset`, indented like it; `offset` without any."""
    line_start = text.rfind("\n", 0, offset) + 1
    indent = text[line_start:offset]
    if indent.strip(" "):
        return offset
    comments = re.compile(rf"(?:^{indent}#.*\n)+\Z", re.MULTILINE).search(text, max(0, line_start - 5_000), line_start)
    return comments.start() + len(indent) if comments else offset


def _separator_before(text: str, offset: int, flow: bool) -> str:
    """The separator of a new entry from the one that begins at an offset."""
    indent = re.compile(r"(?:\r\n|\r|\n)[ \t]*\Z").search(text, max(0, offset - 1_000), offset)
    if flow or indent:
        return f"{',' if flow else ''}{indent.group() if indent else ' '}"
    # The only entry of an item, behind its hyphen: the columns before it are its indentation.
    line_start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    line_end = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    return line_end + " " * (offset - line_start)


def _format_entry(key: str, value: Any, flow: bool, next_character: str) -> str:
    quote_key = next_character == '"' or not re.fullmatch(r"[A-Za-z_$][\w$]*", key)
    name = json.dumps(key) if quote_key else key
    return f"{name}: {_format_value(value)}" if flow or value is not None else f"{name}:"


def _format_value(value: Any) -> str:
    """The value as JSON, which is also YAML."""
    return json.dumps(value, ensure_ascii=False)
