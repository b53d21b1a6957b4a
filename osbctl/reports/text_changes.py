"""Format `text`: changes by level, each with its locations, its effects on platforms, and advice."""

import json
from collections.abc import Iterator

from osbctl.changes import Change, Level, format_objects, platforms_and_effects
from osbctl.messages import text_of
from osbctl.reports import short_source
from osbctl.reports.changes import DIFF, DiffReport, format_places, group_changes, join_places
from osbctl.text import AnsiStyle, escape_line, plural, wrap_line

_MEANINGS = {
    Level.REFUSED: "a platform refuses the update",
    Level.BREAKING: "the platform accepts it, but it breaks existing users",
    Level.RISKY: "it may break existing users; the catalogs alone do not show whether it does",
    Level.SAFE: "no impact",
}
_FEW = 5
_EXCERPT = 100
"""Maximum length of values shown below their change; for longer ones the message describes the difference."""


def render_changes(report: DiffReport) -> str:
    """Render changes. Empty if there are none."""
    if report.same:
        return ""
    margins = ((line, " " * (len(line) - len(line.lstrip(" ")) + 2)) for line in _report_lines(report))
    return "\n".join(wrap_line(line, report.width, margin) for line, margin in margins) + "\n"


def _report_lines(report: DiffReport) -> Iterator[str]:
    for level, changes in report.changes_by_level():
        yield f"{AnsiStyle(report.color)(level.value, level.value)}: {_MEANINGS[level]}"
        for group in group_changes(changes):
            yield from _group_lines(group, report)
        yield ""
    for name in report.new_catalogs:
        yield f"{escape_line(name)} is new: there is nothing to compare it with"
    if report.new_catalogs:
        yield ""
    if report.accepted:
        yield "accepted:"
        for change, reason in report.accepted:
            yield f"  {_headline([change], change.message)} ({escape_line(reason)})"
        yield ""
    old, new = escape_line(short_source(report.old)), escape_line(short_source(report.new))
    yield f"{old} → {new}: {report.summary()}"


def _group_lines(group: list[list[Change]], report: DiffReport) -> Iterator[str]:
    """Changes with the same effects, then the effects. In a large group, each change has one line."""
    paint = AnsiStyle(report.color)
    first = group[0][0]
    rule = paint(f"[{first.rule}]", "dim")
    if len(group) == 1:
        yield from _change_lines(group[0], report, "  ", f" {rule}")
    else:
        yield f"  {paint(plural(sum(map(len, group)), 'change'), 'bold')} {rule}"
    for equal in group if len(group) > 1 else ():
        if len(group) <= _FEW:
            yield from _change_lines(equal, report, "    ")
        else:
            yield f"    {paint(_headline(equal, equal[0].message), 'bold')} ({_format_places(equal)})"
    for platforms, reaction in platforms_and_effects(first):
        yield f"    {platforms}: {escape_line(reaction)}"
    if first.advice and first.level is not Level.SAFE:
        yield f"    {paint('hint:', 'info')} {escape_line(first.advice)}"


def _change_lines(equal: list[Change], report: DiffReport, margin: str, rule: str = "") -> Iterator[str]:
    """The lines of one change, or of equal changes of several objects."""
    paint, change = AnsiStyle(report.color), equal[0]
    excerpt = _old_and_new_lines(change) if report.names is DIFF else []  # messages of a drift name the sides
    message = text_of(change.sentence) if excerpt else change.message  # the excerpt shows the values
    yield f"{margin}{paint(_headline(equal, message), 'bold')}{rule}"
    yield f"{margin}  {paint(_format_places(equal), 'dim')}"
    for line, style in zip(excerpt, ("removed", "added"), strict=False):
        if line:
            yield f"{margin}  {paint(line, style)}"


def _old_and_new_lines(change: Change) -> list[str]:
    """Lines with the old and new value of a field; a line is empty if its side has no value.

    No lines for a whole object, for values that look the same, or for long ones.
    """
    sides = (("-", change.old, change.old_path), ("+", change.new, change.new_path)) if change.field else ()
    lines = []
    for sign, value, path in sides:
        key = next((step for step in reversed(path) if isinstance(step, str)), "")
        lines.append("" if value is None else f"{sign} {escape_line(key)}: {_json(value)}")
    return lines if lines and lines[0][1:] != lines[1][1:] and max(map(len, lines)) <= _EXCERPT else []


def _json(value: object) -> str:
    return escape_line(json.dumps(value, ensure_ascii=False))


def _headline(equal: list[Change], message: str) -> str:
    return escape_line(f"{format_objects(equal)}: {message}")


def _format_places(equal: list[Change]) -> str:
    """The places of equal changes with their sources, as terminals and editors open them; of several, with names."""
    places = [(name, f"{old or '–'} → {new or '–'}") for name, old, new in format_places(equal)]
    return join_places([f"{name} {place}" for name, place in places]) if len(places) > 1 else places[0][1]
