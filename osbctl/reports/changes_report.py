"""Changes between two catalogs, as text for people, as JSON, or as the lines of an allow file."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from osbctl.changes import Level
from osbctl.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from osbctl.changes import Change
    from osbctl.findings import Location

VERSION = 1
"""The version of the JSON's shape; a field may be added without a new one, nothing else."""


class DiffFormat(StrEnum):
    """The formats of `osbctl diff`."""

    TEXT = "text"
    JSON = "json"
    ALLOW = "allow"


def render(changes: Sequence[Change], format: DiffFormat) -> str:
    """The whole report; empty text where nothing changed."""
    ordered = sorted(changes, key=lambda change: -change.level.rank)
    if format is DiffFormat.JSON:
        return json.dumps(_json(ordered), indent=2, ensure_ascii=False) + "\n"
    if not changes:
        return ""
    lines = _allow(ordered) if format is DiffFormat.ALLOW else _text(ordered)
    return "\n".join(lines) + "\n"


def _text(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        where = f"{safe(change.object)}: " if change.object else ""
        yield f"{change.level.value}: {where}{safe(change.message)} [{change.rule}]"
        yield f"    {_place(change.old_location)} -> {_place(change.new_location)}"
        if change.level is not Level.SAFE:
            for effect in change.effects:
                yield f"    {effect.platform.label}: {safe(effect.does)}"
        if change.advice:
            yield f"    instead: {safe(change.advice)}"
        yield ""
    counts = {level: sum(change.level is level for change in changes) for level in Level}
    yield ", ".join(f"{number} {level.value}" for level, number in counts.items() if number)
    if not counts[Level.REFUSED] and not counts[Level.BREAKING]:
        yield "no breaking changes, but the catalogs differ"


def _place(place: Location | None) -> str:
    return f"{safe(place.source)}:{place.line}:{place.column}" if place else "-"


def _allow(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        if change.level is not Level.SAFE:
            yield "[[allow]]"
            for key, value in (("rule", change.rule), ("object", change.object), ("field", change.field)):
                if value or key != "field":
                    yield f"{key} = {json.dumps(value)}"
            yield 'reason = ""\n'


def _json(changes: Sequence[Change]) -> dict[str, Any]:
    return {
        "version": VERSION,
        "changes": [_change(change) for change in changes],
        "summary": {level.value: sum(change.level is level for change in changes) for level in Level},
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "rule": change.rule,
        "level": change.level.value,
        "message": change.message,
        "object": change.object,
        "field": change.field,
        "old": change.old,
        "new": change.new,
        "old_location": _location(change.old_location),
        "new_location": _location(change.new_location),
        "effects": [
            {"platform": effect.platform.value, "level": effect.level.value, "does": effect.does}
            for effect in change.effects
        ],
        "advice": change.advice,
        "fingerprint": change.fingerprint,
    }


def _location(place: Location | None) -> dict[str, Any] | None:
    return {"source": place.source, "line": place.line, "column": place.column} if place else None
