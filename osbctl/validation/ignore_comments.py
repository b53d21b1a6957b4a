"""Comments in YAML that ignore findings: `# osbctl: ignore[rule] reason`.

At the end of a line it applies to that line; on a line of its own, to the entry or item that begins on the next line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from osbctl.findings import Finding, Location, Severity
from osbctl.rule import RULES, Category, matching_rules
from osbctl.sources.document import Document, Span
from osbctl.text import did_you_mean
from osbctl.validation.options import Selection

_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#[ \t]*osbctl:[ \t]*ignore\b(?:\[([^\]\n]*)\])?", re.MULTILINE)


class _IgnoredLines:
    """Lines of one file with comments that apply to them: the rules of these, and the rules that had a finding."""

    def __init__(self, source: str, lines: range) -> None:
        self.source = source
        self.lines = lines
        self.rules: set[str] = set()
        self.used: set[str] = set()

    def ignores(self, rule: str) -> bool:
        """Return whether a comment names `rule`, and remember that it was used."""
        if rule in self.rules:
            self.used.add(rule)
        return rule in self.rules


class _Comment(NamedTuple):
    """One word of a comment, and its rules. `whole`: the comment is inside the catalog, not beside it."""

    word: str
    rules: frozenset[str]
    place: Location
    held: _IgnoredLines
    whole: bool


def without_ignored(
    findings: list[Finding], document: Document, selection: Selection, sought: Callable[[frozenset[str]], bool]
) -> list[Finding]:
    """The findings that no comment ignores, and one for each unused comment.

    `sought` returns whether given rules were checked: only then their comments can be unused.
    """
    comments = [*chain.from_iterable(map(_comments, document.parts or (document,)))]
    return _kept(findings, document, comments) + selection.of(_unused(comments, selection, sought), document.data)


def _kept(findings: list[Finding], document: Document, comments: list[_Comment]) -> list[Finding]:
    if not comments:
        return findings
    around = _by_line({comment.held for comment in comments})
    places = document.locate({finding.path for finding in findings if not finding.location})
    kept = []
    for finding in findings:
        place = finding.location or places[finding.path]
        ignoring = [one for one in around.get((place.source, place.line), ()) if one.ignores(finding.rule)]
        if not ignoring:
            kept.append(finding)
    return kept


def _by_line(held: Iterable[_IgnoredLines]) -> dict[tuple[str, int], list[_IgnoredLines]]:
    """Ignore comments by file and line."""
    around: dict[tuple[str, int], list[_IgnoredLines]] = {}
    for one in held:
        for line in one.lines:
            around.setdefault((one.source, line), []).append(one)
    return around


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
    if comment.rules:
        return f"there is no finding of {comment.word} to ignore here", "remove the comment"
    hint = did_you_mean(comment.word, (*RULES, *Category)) or "remove the comment"
    return f"there is no rule {comment.word!r} to ignore", hint


def _comments(document: Document) -> Iterator[_Comment]:
    """The comments of one file, including those around a catalog that is a part of the file."""
    if document.syntax != "yaml" or "osbctl:" not in document.text:
        return
    from osbctl.sources.text_lines import LINE_END, Lines
    from osbctl.validation.rules import load_all

    places, lines, rules = Lines(document.name, document.text), LINE_END.split(document.text), load_all()
    spans = document.source_map().spans()
    catalog = spans.get(document.top)
    held: dict[range, _IgnoredLines] = {}
    for match in _found(document.text, spans.values()):
        place = places.at(match.start())
        alone = not place.excerpt[: place.column - 1].strip()
        reach = _entry_below(lines, place.line) if alone else range(place.line, place.line + 1)
        around = held.setdefault(reach, _IgnoredLines(document.name, reach))
        whole = catalog is not None and (not document.top or catalog.start <= match.start() < catalog.end)
        for word in re.findall(r"[^\s,][^,]*(?<!\s)", match[1] or "") or [""]:
            known = matching_rules(word, rules)
            around.rules.update(known)
            yield _Comment(word, known, place, around, whole)


def _found(text: str, spans: Iterable[Span]) -> Iterator[re.Match[str]]:
    """Comments outside of quoted and block texts; in plain texts no `#` follows a blank."""
    texts = sorted((span.start, span.end) for span in spans if span.style)
    for match in _COMMENT.finditer(text):
        before = bisect_right(texts, (match.start(), len(text))) - 1
        if before < 0 or match.start() >= texts[before][1]:
            yield match


def _entry_below(lines: list[str], number: int) -> range:
    """The lines of the entry or item that begins below line `number`: its first line and those indented further."""
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
