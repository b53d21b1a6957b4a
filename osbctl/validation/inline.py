"""Findings silenced beside what they are about: `# osbctl: ignore[rule] reason`, a comment in YAML.

Behind something it holds for its line; on a line of its own, for the entry or item that begins on the next line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from osbctl.findings import Finding, Location, Severity
from osbctl.rule import chosen
from osbctl.sources.document import Document
from osbctl.validation.options import Selection

_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#[ \t]*osbctl:[ \t]*ignore\b(?:\[([^\]\n]*)\])?", re.MULTILINE)
_LINE_END = re.compile(r"\r\n?|\n")


class _Held:
    """Lines of one file that comments hold for: the rules that these name, and those that had a finding there."""

    def __init__(self, source: str, lines: range) -> None:
        self.source = source
        self.lines = lines
        self.rules: set[str] = set()
        self.used: set[str] = set()


class _Comment(NamedTuple):
    """One word of a comment, and the rules that it stands for. `whole`: the catalog stands around it, not beside it."""

    word: str
    rules: frozenset[str]
    place: Location
    held: _Held
    whole: bool


def without_ignored(
    findings: list[Finding], document: Document, selection: Selection, sought: Callable[[frozenset[str]], bool]
) -> list[Finding]:
    """The findings that no comment of the document silences, and one for each comment that silences nothing.

    `sought` tells whether there would be findings of some rules, if there were any: no other comment is called unused.
    """
    comments = [comment for part in document.parts or (document,) for comment in _comments(part)]
    if not comments:
        return findings
    named = {rule for comment in comments for rule in comment.rules}
    places = document.locate({f.path for f in findings if f.rule in named and not f.location}) if named else {}
    placed = [(f.location or places[f.path], f.rule, n) for n, f in enumerate(findings) if f.rule in named]
    silenced = _silenced(placed, {comment.held for comment in comments})
    kept = [finding for n, finding in enumerate(findings) if n not in silenced]
    return kept + selection.of(_unused(comments, selection, sought), document.data)


def _silenced(placed: Iterable[tuple[Location, str, int]], held: Iterable[_Held]) -> set[int]:
    """The numbers of the findings that some of `held` silences: one walk down the lines of each file.

    `placed` are the findings: the place, the rule and the number of each.
    """
    waiting = sorted(held, key=lambda one: (one.source, one.lines.start), reverse=True)
    around: list[_Held] = []
    silenced = set()
    for place, rule, number in sorted(placed, key=lambda one: (one[0].source, one[0].line)):
        while waiting and (waiting[-1].source, waiting[-1].lines.start) <= (place.source, place.line):
            around.append(waiting.pop())
        around = [one for one in around if one.source == place.source and place.line in one.lines]
        for one in around:
            if rule in one.rules:
                one.used.add(rule)
                silenced.add(number)
    return silenced


def _unused(
    comments: list[_Comment], selection: Selection, sought: Callable[[frozenset[str]], bool]
) -> Iterator[Finding]:
    for comment in comments:
        told = comment.whole and sought(comment.rules) and all(map(selection.reports, comment.rules))
        if told and not comment.rules & comment.held.used:
            message, hint = _why_unused(comment)
            yield Finding("ignore-unused", Severity.WARNING, message, (), comment.place, hint=hint)


def _why_unused(comment: _Comment) -> tuple[str, str]:
    if not comment.word:
        return "the comment does not say which rule to ignore", "write the rule in brackets: ignore[RULE]"
    nothing = f"there is no finding of {comment.word} to ignore here"
    return nothing if comment.rules else f"there is no rule {comment.word!r} to ignore", "remove the comment"


def _comments(document: Document) -> Iterator[_Comment]:
    """The comments of one file; of a file in which the catalog is a part, those around that part, too."""
    text = document.text
    found = list(_COMMENT.finditer(text)) if document.syntax == "yaml" and "osbctl:" in text else []
    if not found:
        return
    from osbctl.sources.text_lines import Lines
    from osbctl.validation.rules import load_all

    places, lines, rules = Lines(document.name, text), _LINE_END.split(text), load_all()
    by_path = document.source_map().spans()
    # In a plain scalar no `#` follows a blank; a quoted one, or a block of lines, may hold anything.
    texts = sorted((span.start, span.end) for span in by_path.values() if span.style)
    catalog = by_path.get(document.top)
    held: dict[range, _Held] = {}
    for match in found:
        before = bisect_right(texts, (match.start(), len(text))) - 1
        if before >= 0 and match.start() < texts[before][1]:
            continue
        place = places.at(match.start())
        alone = not place.excerpt[: place.column - 1].strip()
        reach = _entry_below(lines, place.line) if alone else range(place.line, place.line + 1)
        around = held.setdefault(reach, _Held(document.name, reach))
        whole = catalog is not None and (not document.top or catalog.start <= match.start() < catalog.end)
        for word in list(filter(None, map(str.strip, (match[1] or "").split(",")))) or [""]:
            known = chosen(word, rules)
            around.rules.update(known)
            yield _Comment(word, known, place, around, whole)


def _entry_below(lines: list[str], number: int) -> range:
    """The lines of the entry or item that begins below line `number`: those after it that are indented further."""
    content = (n for n in range(number + 1, len(lines) + 1) if lines[n - 1].strip() and lines[n - 1].strip()[0] != "#")
    first = next(content, 0)
    if not first:
        return range(0)
    indent, is_item = _indent(lines[first - 1]), lines[first - 1].lstrip().startswith("- ")
    for n in content:
        line = lines[n - 1]
        # The items of a list may stand in the column of its key.
        below = _indent(line) > indent or (_indent(line) == indent and not is_item and line.lstrip().startswith("- "))
        if not below:
            return range(first, n)
    return range(first, len(lines) + 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
