"""Formats for people: changes by level, each with its locations, its effects on platforms, and advice.

`text` is for a terminal, `markdown`, of GitHub's flavour, for a comment on a pull request. Catalogs' text is escaped.
"""

import json
import re
from collections.abc import Iterator

from osbctl.changes import Change, Level, format_objects, platforms_and_effects
from osbctl.findings import Finding
from osbctl.messages import text_of
from osbctl.reports import format_position, short_source
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


def render_text(report: DiffReport) -> str:
    """The report for a terminal. Empty if there are no changes."""
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
        text = escape_line(json.dumps(value, ensure_ascii=False))
        lines.append("" if value is None else f"{sign} {escape_line(key)}: {text}")
    return lines if lines and lines[0][1:] != lines[1][1:] and max(map(len, lines)) <= _EXCERPT else []


def _headline(equal: list[Change], message: str) -> str:
    return escape_line(f"{format_objects(equal)}: {message}")


def _format_places(equal: list[Change]) -> str:
    """The places of equal changes with their sources, as terminals and editors open them; of several, with names."""
    places = [(name, f"{old or '–'} → {new or '–'}") for name, old, new in format_places(equal)]
    return join_places([f"{name} {place}" for name, place in places]) if len(places) > 1 else places[0][1]


MAX_CHARACTERS = 60_000
"""GitHub's limit for comments is 65,536 characters."""


def render_markdown(report: DiffReport) -> str:
    """The report as Markdown, truncated to the length of a comment. Empty without changes."""
    if report.same:
        return ""
    sides = " → ".join(_code_span(short_source(side)) for side in (report.old, report.new))
    head = f"### {report.names.heading}\n\n{sides}: **{report.summary()}**\n"
    if report.errors:
        head = "\n".join([head, *(line for finding in report.errors for line in _format_error(finding)), ""])
    new = [f"\n{_code_span(name)} is new: there is nothing to compare it with.\n" for name in report.new_catalogs]
    parts, length, hidden = [head, *new], len(head) + sum(map(len, new)), len(report.changes)
    for level, changes in report.changes_by_level():
        summary = f"<details><summary>{len(changes):,} safe</summary>"
        parts.append(f"\n{summary}\n\n" if level is Level.SAFE else f"\n#### {level.value.capitalize()}\n\n")
        for group in group_changes(changes):
            for entry, number in _format_group(group, report):
                length += len(entry)
                if length <= MAX_CHARACTERS:
                    parts.append(entry)
                    hidden -= number
        parts += ["\n</details>\n"] if level is Level.SAFE else []
    parts += [f"\n{hidden:,} more changes are not shown.\n"] if hidden else []
    parts += _format_accepted(report, MAX_CHARACTERS - length)
    parts += [f"\n{_escape(note)}\n" for note in report.notes]
    return "".join(parts)


def _format_group(group: list[list[Change]], report: DiffReport) -> Iterator[tuple[str, int]]:
    """Entries of a group, each with its number of changes; the common effects come last."""
    first, many = group[0][0], len(group) > 1
    rule = _code_span(first.rule)
    if many:
        yield f"- {sum(map(len, group)):,} changes ({rule})\n", 0
    for equal in group:
        head, places = f"**{_escape(format_objects(equal))}**: {_escape(equal[0].message)}", _places(equal, report)
        yield (f"  - {head}; {places}\n" if many else f"- {head} ({rule})\n  - {places}\n"), len(equal)
    yield "".join(f"  - {platforms}: {_escape(reaction)}\n" for platforms, reaction in platforms_and_effects(first)), 0
    if first.advice and first.level is not Level.SAFE:
        yield f"  - **Instead:** {_escape(first.advice)}\n", 0


def _places(equal: list[Change], report: DiffReport) -> str:
    """The old and the new place of each change; of several, after its object."""
    names = report.names
    places = [
        (name, f"{names.old} {_code_span(old) if old else '–'}, {names.new} {_code_span(new) if new else '–'}")
        for name, old, new in format_places(equal)
    ]
    return join_places([f"{_escape(name)} ({place})" for name, place in places]) if len(places) > 1 else places[0][1]


def _format_error(finding: Finding) -> Iterator[str]:
    where = finding.location
    place = f"{_code_span(f'{short_source(where.source)}:{format_position(where, ())}')}: " if where else ""
    yield f"- {place}{_escape(finding.message)} ({_code_span(finding.rule)})"
    if finding.advice:
        yield f"  - **Hint:** {_escape(finding.advice)}"


def _format_accepted(report: DiffReport, max_length: int) -> Iterator[str]:
    if not report.accepted:
        return
    yield "\n#### Accepted\n\n"
    for number, (change, reason) in enumerate(report.accepted):
        entry = f"- **{_escape(change.object or 'catalog')}**: {_escape(change.message)} — {_escape(reason)}\n"
        max_length -= len(entry)
        if max_length < 0:
            yield f"\n{len(report.accepted) - number:,} more accepted changes are not shown.\n"
            return
        yield entry


def _escape(text: str) -> str:
    text = re.sub(r"[&<>@]", lambda m: f"&#{ord(m.group())};", escape_line(text))
    # A `#` begins a heading or an issue number, except in a character reference written by the line above.
    text = re.sub(r"([\\`*_{}\[\]()!|~$:]|#(?!\d+;)|(?<!&)#)", r"\\\1", text)
    # GitHub finds mentions after rendering, and links a bare www.: a zero-width space prevents both.
    return text.replace("&#64;", "&#64;&#8203;").replace("www.", "www&#8203;.")


def _code_span(text: str) -> str:
    return "`" + escape_line(text).replace("`", "'") + "`"
