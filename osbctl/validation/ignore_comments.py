"""Comments in YAML that ignore findings: `# osbctl: ignore[rule] reason`.

At the end of a line it applies to that line; on a line of its own, to the entry or item that begins on the next line.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple, TypeAlias

from osbctl.findings import Finding, Location, Severity
from osbctl.rule import RULES, Category, matching_rules
from osbctl.sources.document import Document, Span
from osbctl.text import did_you_mean
from osbctl.validation.options import Selection

_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#[ \t]*osbctl:[ \t]*ignore\b(?:\[([^\]\n]*)\])?", re.MULTILINE)


_Lines: TypeAlias = tuple[str, range]
_Ignored: TypeAlias = set[tuple[_Lines, str]]
"""Lines of a file, by its name; and a rule that is ignored there."""


class _Comment(NamedTuple):
    """One word of a comment, `inside` the catalog or beside it, its rules, and the lines that it applies to."""

    word: str
    rules: frozenset[str]
    place: Location
    lines: _Lines
    inside: bool

    def ignored(self) -> _Ignored:
        return {(self.lines, rule) for rule in self.rules}


def without_ignored(
    findings: list[Finding], document: Document, selection: Selection, sought: Callable[[frozenset[str]], bool]
) -> list[Finding]:
    """The findings that no comment ignores, and one for each unused comment whose rules were checked (`sought`)."""
    comments = [*chain.from_iterable(map(_comments, document.parts or (document,)))]
    ignored = _Ignored().union(*map(_Comment.ignored, comments))
    kept, used = _kept(findings, document, ignored) if ignored else (findings, ignored)
    checked = (c for c in comments if c.inside and sought(c.rules) and all(map(selection.reports, c.rules)))
    unused = (_unused(comment) for comment in checked if used.isdisjoint(comment.ignored()))
    return kept + selection.of(unused, document.data)


def _kept(findings: list[Finding], document: Document, ignored: _Ignored) -> tuple[list[Finding], _Ignored]:
    """The findings outside of the lines where their rule is ignored, and the lines and rules of the others."""
    around: dict[tuple[str, int], list[_Lines]] = {}
    for source, lines in {lines for lines, _ in ignored}:
        for line in lines:
            around.setdefault((source, line), []).append((source, lines))
    places = document.locate({finding.path for finding in findings if not finding.location})
    kept, used = [], _Ignored()
    for finding in findings:
        place = finding.location or places[finding.path]
        hits = ignored.intersection((one, finding.rule) for one in around.get((place.source, place.line), ()))
        used |= hits
        if not hits:
            kept.append(finding)
    return kept, used


def _unused(comment: _Comment) -> Finding:
    hint = "remove the comment"
    if not comment.word:
        message, hint = "the comment does not say which rule to ignore", "write the rule in brackets: ignore[RULE]"
    elif comment.rules:
        message = f"there is no finding of {comment.word} to ignore here"
    else:
        message = f"there is no rule {comment.word!r} to ignore"
        hint = did_you_mean(comment.word, (*RULES, *Category)) or hint
    return Finding("ignore-unused", Severity.WARNING, message, (), comment.place, hint)


def _comments(document: Document) -> Iterator[_Comment]:
    """The comments of one file, including those around a catalog that is a part of the file."""
    if document.syntax != "yaml" or "osbctl:" not in document.text:
        return
    from osbctl.sources.text_lines import LINE_END, Lines
    from osbctl.validation.rules import load_all

    places, lines, rules = Lines(document.name, document.text), LINE_END.split(document.text), load_all()
    spans = document.source_map().spans()
    catalog = spans.get(document.top)
    for match in _found(document.text, spans.values()):
        place = places.at(match.start())
        alone = not place.excerpt[: place.column - 1].strip()
        reach = _entry_below(lines, place.line) if alone else range(place.line, place.line + 1)
        inside = catalog is not None and (not document.top or catalog.start <= match.start() < catalog.end)
        for word in re.findall(r"[^\s,][^,]*(?<!\s)", match[1] or "") or [""]:
            yield _Comment(word, matching_rules(word, rules), place, (document.name, reach), inside)


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
