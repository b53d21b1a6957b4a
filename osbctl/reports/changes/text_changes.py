"""For people: level by level, each change with both places, what each platform does, and what to do instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.changes import Level, grouped_effects
from osbctl.reports.changes import grouped
from osbctl.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.changes import Change
    from osbctl.findings import Location
    from osbctl.reports.changes import DiffReport

_CODES = {Level.REFUSED: "1;31", Level.BREAKING: "31", Level.RISKY: "33", Level.SAFE: "32"}
_MEANINGS = {
    Level.REFUSED: "a platform refuses the update",
    Level.BREAKING: "the platform accepts it, but existing users break",
    Level.RISKY: "the catalogs alone cannot tell",
    Level.SAFE: "no impact",
}


def render(report: DiffReport) -> str:
    """The changes as text; empty where there is none."""
    if report.same:
        return ""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: DiffReport) -> Iterator[str]:
    for level, changes in report.by_level():
        yield f"{_paint(level.value, _CODES[level], report.color)}: {_MEANINGS[level]}"
        for group in grouped(changes):
            yield from _change(group[0], report) if len(group) == 1 else _group(group, report)
        yield ""
    if report.accepted:
        yield "accepted:"
        for change, reason in report.accepted:
            yield f"  {_head(change)} ({safe(reason)})"
        yield ""
    yield f"{safe(report.old)} -> {safe(report.new)}: {report.summary()}"


def _change(change: Change, report: DiffReport) -> Iterator[str]:
    yield f"  {_paint(_head(change), '1', report.color)} {_paint(f'[{change.rule}]', '2', report.color)}"
    yield f"    {report.words.old} {_place(change.old_location)}"
    yield f"    {report.words.new} {_place(change.new_location)}"
    yield from _told(change)


def _group(group: list[Change], report: DiffReport) -> Iterator[str]:
    """Several changes of which the platforms make the same: a line each, then what they make of it, once."""
    yield f"  {_paint(f'{len(group):,} changes', '1', report.color)} {_paint(f'[{group[0].rule}]', '2', report.color)}"
    for change in group:
        places = f"{report.words.old} {_place(change.old_location)}, {report.words.new} {_place(change.new_location)}"
        yield f"    {_paint(_head(change), '1', report.color)} ({places})"
    yield from _told(group[0])


def _told(change: Change) -> Iterator[str]:
    for platforms, does in grouped_effects(change):
        yield f"    {platforms}: {safe(does)}"
    if change.advice and change.level is not Level.SAFE:
        yield f"    hint: {safe(change.advice)}"


def _head(change: Change) -> str:
    return safe(f"{change.object or 'catalog'}: {change.message}")


def _place(place: Location | None) -> str:
    return f"{safe(place.source)}:{place.line}:{place.column}" if place else "-"


def _paint(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text
