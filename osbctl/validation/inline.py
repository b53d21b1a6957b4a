"""Findings silenced beside what they are about: `# osbctl: ignore[rule] reason`, a comment in YAML.

Behind something it holds for its line; on a line of its own, for the entry or item that begins on the next line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from osbctl.findings import Finding, Location, Severity
from osbctl.rule import chosen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.sources.document import Document
    from osbctl.validation.selection import Selection

_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#[ \t]*osbctl:[ \t]*ignore\[([^\]\n]*)\]", re.MULTILINE)
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass
class _Comment:
    """One word of a comment, the rules that it stands for, the lines it holds for, and whether it silenced anything."""

    word: str
    rules: frozenset[str]
    place: Location
    lines: range
    used: bool = field(default=False)


def without_ignored(findings: list[Finding], document: Document, selection: Selection) -> list[Finding]:
    """The findings that no comment of the document silences, and one for each comment that silences nothing."""
    if document.syntax != "yaml" or "osbctl:" not in document.text:
        return findings
    comments = list(_comments(document))
    named = {rule for comment in comments for rule in comment.rules}
    places = document.locate({f.path for f in findings if f.rule in named and not f.location}) if named else {}
    kept = []
    for finding in findings:
        place = finding.location or places.get(finding.path)
        hits = [c for c in comments if finding.rule in c.rules and place and place.line in c.lines]
        for comment in hits:
            comment.used = True
        if not hits:
            kept.append(finding)
    return kept + selection.of(_unused(comments, selection), document.data)


def _unused(comments: list[_Comment], selection: Selection) -> Iterator[Finding]:
    for comment in comments:
        if not comment.rules:
            message = f"there is no rule {comment.word!r} to ignore"
        elif comment.used or not all(selection.reports(rule) for rule in comment.rules):
            continue
        else:
            message = f"nothing of {comment.word} to ignore here"
        yield Finding("ignore-unused", Severity.WARNING, message, (), comment.place, hint="remove the comment")


def _comments(document: Document) -> Iterator[_Comment]:
    from osbctl.sources.spans import spans
    from osbctl.validation.rules import load_all

    text, rules = document.text, load_all()
    found = list(_COMMENT.finditer(text))
    # In a plain scalar no `#` follows a blank; a quoted one, or a block of lines, may hold anything.
    texts = [span for span in spans(document).values() if span.style] if found else []
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    lines = _LINE_END.split(text)
    for match in found:
        if any(span.start <= match.start() < span.end for span in texts):
            continue
        number = next(n for n in range(len(starts), 0, -1) if starts[n - 1] <= match.start())
        column = match.start() - starts[number - 1] + 1
        place = Location(document.name, number, column, lines[number - 1])
        alone = not lines[number - 1][: column - 1].strip()
        held = _entry_below(lines, number) if alone else range(number, number + 1)
        for word in filter(None, map(str.strip, match[1].split(","))):
            yield _Comment(word, chosen(word, rules), place, held)


def _entry_below(lines: list[str], number: int) -> range:
    """The lines of the entry or item that begins below line `number`: those after it that are indented further."""
    content = [n for n in range(number + 1, len(lines) + 1) if lines[n - 1].strip() and lines[n - 1].strip()[0] != "#"]
    if not content:
        return range(0)
    first = lines[content[0] - 1]
    indent, is_item = _indent(first), first.lstrip().startswith("- ")
    for n in content[1:]:
        line = lines[n - 1]
        # The items of a list may stand in the column of its key.
        below = _indent(line) > indent or (_indent(line) == indent and not is_item and line.lstrip().startswith("- "))
        if not below:
            return range(content[0], n)
    return range(content[0], len(lines) + 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
