"""For a comment on a pull request: GitHub-flavoured Markdown in which text of a catalog is text, never markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from osbctl.changes import Level
from osbctl.reports.changes import told
from osbctl.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.changes import Change
    from osbctl.findings import Finding, Location
    from osbctl.reports.changes import DiffReport

MAX_CHARACTERS = 60_000
"""GitHub takes comments of 65,536 characters."""


def render(report: DiffReport) -> str:
    """The changes as Markdown, cut where a comment would grow too long; empty where there is none."""
    if report.same:
        return ""
    head = f"### {report.words.heading}\n\n{_code(report.old)} → {_code(report.new)}: **{report.summary()}**\n"
    if report.errors:
        return "\n".join([head, *(line for finding in report.errors for line in _error(finding)), ""])
    parts, length, left = [head], len(head), len(report.changes)
    for level, changes in report.by_level():
        before, after = _frame(level, len(changes))
        parts.append(before)
        for change in changes:
            entry = "\n".join(_entry(change, report)) + "\n"
            length += len(entry)
            if length > MAX_CHARACTERS:
                break
            parts.append(entry)
            left -= 1
        parts.append(after)
    parts += [f"\n{left:,} more are left out here.\n"] if left else []
    parts += _accepted(report, MAX_CHARACTERS - length)
    parts += [f"\n{_text(note)}\n" for note in report.notes]
    return "".join(parts)


def _frame(level: Level, number: int) -> tuple[str, str]:
    if level is Level.SAFE:
        return f"\n<details><summary>{number:,} safe</summary>\n\n", "\n</details>\n"
    return f"\n#### {level.value.capitalize()}\n\n", ""


def _entry(change: Change, report: DiffReport) -> Iterator[str]:
    yield f"- **{_text(change.object or 'catalog')}**: {_text(change.message)} ({_code(change.rule)})"
    old, new = _place(change.old_location), _place(change.new_location)
    yield f"  - {report.words.old} {old}, {report.words.new} {new}"
    for platforms, does in told(change):
        yield f"  - {platforms}: {_text(does)}"
    if change.advice and change.level is not Level.SAFE:
        yield f"  - **Instead:** {_text(change.advice)}"


def _error(finding: Finding) -> Iterator[str]:
    place = f"{_place(finding.location)}: " if finding.location else ""
    yield f"- {place}{_text(finding.message)} ({_code(finding.rule)})"
    if finding.hint:
        yield f"  - **Hint:** {_text(finding.hint)}"


def _accepted(report: DiffReport, room: int) -> Iterator[str]:
    if not report.accepted:
        return
    yield "\n#### Accepted\n\n"
    for change, reason in report.accepted:
        entry = f"- **{_text(change.object or 'catalog')}**: {_text(change.message)} — {_text(reason)}\n"
        room -= len(entry)
        if room < 0:
            return
        yield entry


def _place(place: Location | None) -> str:
    return _code(f"{place.source}:{place.line}:{place.column}") if place else "–"


def _text(text: str) -> str:
    text = re.sub(r"[&<>@]", lambda m: f"&#{ord(m.group())};", safe(text))
    text = re.sub(r"([\\`*_{}\[\]()!|~$:]|#(?!\d+;)|(?<!&)#)", r"\\\1", text)
    # Mentions are found after rendering, and bare www. is made a link: an invisible space stops both.
    return text.replace("&#64;", "&#64;&#8203;").replace("www.", "www&#8203;.")


def _code(text: str) -> str:
    return "`" + safe(text).replace("`", "'") + "`"
