"""Options of a validation, and the findings that they and comments of the source leave out.

A comment in YAML ignores findings: `# osbctl: ignore[rule] reason`. At the end of a line it applies to that line, and
to the line of the key of a value that ends there; on a line of its own, to the entry or item that begins on the next
line.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from osbctl.catalog import service_and_plan_names
from osbctl.findings import Finding, Location, Severity
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform, chosen_or_all
from osbctl.rule import RULES, Category, Rule, matching_rules
from osbctl.sources.document import Document, ParsedText
from osbctl.sources.places import LINE_END, Lines, Span
from osbctl.text import did_you_mean

MAX_FINDINGS = 1_000
"""Maximum number of schema errors, and of schema warnings, reported per document."""


class IgnoreAt(NamedTuple):
    """An entry that ignores a rule for the service offering and the service plan with these *names*; None is any."""

    rule: str
    service: str | None = None
    plan: str | None = None


class ValidationOptions(NamedTuple):
    """Options of the validation of a document: the settings of the call, completed by the closest configuration.

    `spoken_version` is the oldest API version of the chosen platforms, which ignore later fields. None for
    `api_version`. Refusals of `platforms` count as errors, and no other platform is judged; if it is empty, all are
    judged, and their refusals are warnings. `select` (None: all) and `ignore` hold rule ids; `ignore_at` ignores rules
    for named objects. `user_schemas` are JSON Schemas of the user, each with its name in reports, and `user_rules` the
    rules that they name, by id. `severity` has pairs of a rule and its severity. `errors_only`: only errors and
    `platforms` are checked. `literal`: platforms get the catalog unchanged, so that placeholders are plain text.
    `known` are fingerprints of identities: such findings are not reported.
    """

    api_version: ApiVersion = DEFAULT_API_VERSION
    platforms: frozenset[Platform] = frozenset()
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    ignore_at: tuple[IgnoreAt, ...] = ()
    user_schemas: tuple[tuple[str, object], ...] = ()
    user_rules: Mapping[str, Rule] = MappingProxyType({})
    severity: tuple[tuple[str, Severity], ...] = ()
    errors_only: bool = False
    literal: bool = False
    known: frozenset[str] = frozenset()
    spoken_version: ApiVersion | None = None

    @property
    def judged(self) -> tuple[Platform, ...]:
        """The platforms whose decisions are reported, in order: the chosen ones, or all."""
        return chosen_or_all(self.platforms)

    def selects(self, rule: str) -> bool:
        """Return whether findings of the rule are selected; they may still be ignored."""
        return self.select is None or rule in self.select


def select_findings(findings: Iterable[Finding], data: dict[str, Any], options: ValidationOptions) -> list[Finding]:
    """The findings on the catalog `data` that are selected and not ignored."""
    entries = (*map(IgnoreAt, options.ignore), *options.ignore_at)
    ignored = {entry.rule for entry in entries}

    def is_ignored(finding: Finding) -> bool:
        service, plan = service_and_plan_names(finding.path, data)
        at_rule = (entry for entry in entries if entry.rule == finding.rule)
        return any(entry.service in (None, service) and entry.plan in (None, plan) for entry in at_rule)

    selected = (finding for finding in findings if options.selects(finding.rule))
    return [finding for finding in selected if finding.rule not in ignored or not is_ignored(finding)]


_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#[ \t]*osbctl:[ \t]*ignore\b(?:\[([^\]\n]*)\])?", re.MULTILINE)


class Comment(NamedTuple):
    """One word of a comment, its rules, and the lines that it applies to."""

    word: str
    rules: frozenset[str]
    place: Location
    lines: tuple[range, ...]


def drop_ignored_findings(findings: list[Finding], document: Document, comments: Iterable[Comment]) -> list[Finding]:
    """The findings that no comment of the document ignores."""
    of_lines: dict[tuple[str, range], set[str]] = {}  # many comments may stand above one entry
    for comment in comments:
        for lines in comment.lines:
            of_lines.setdefault((comment.place.source, lines), set()).update(comment.rules)
    ignored: dict[tuple[str, int], list[set[str]]] = {}
    for (source, lines), rules in of_lines.items():
        for line in lines:
            ignored.setdefault((source, line), []).append(rules)
    if not ignored:
        return findings
    locations = document.locate({finding.path for finding in findings if not finding.location})
    kept = []
    for finding in findings:
        location = finding.location or locations[finding.path]
        if not any(finding.rule in rules for rules in ignored.get((location.source, location.line), ())):
            kept.append(finding)
    return kept


def check_comments(comments: Iterable[Comment], user_rules: Mapping[str, Rule]) -> Iterator[Finding]:
    """A finding for each comment that names no rule, or one that does not exist."""
    for comment in comments:
        if not comment.word:
            message, hint = "the comment does not say which rule to ignore", "write the rule in brackets: ignore[RULE]"
            yield Finding("ignore-unknown", Severity.WARNING, message, (), comment.place, hint)
        elif not comment.rules:
            message = f"there is no rule {comment.word!r} to ignore"
            hint = did_you_mean(comment.word, (*RULES, *user_rules, *Category)) or "remove the comment"
            yield Finding("ignore-unknown", Severity.WARNING, message, (), comment.place, hint)


def find_comments(document: Document, user_rules: Mapping[str, Rule]) -> list[Comment]:
    """The comments of all files and of a catalog in a string, one for each word in the brackets.

    Those around a catalog that is a part of a file count, too. They name rules of osbctl, or of the user.
    """
    found = [comment for file in document.texts for comment in _find_comments_in_text(file, user_rules)]
    if document.text_in_string:
        text, move = document.text_in_string
        for comment in _find_comments_in_text(text, user_rules):
            place = move(comment.place)
            if place.excerpt.endswith(comment.place.excerpt):  # else the lines of the text are not lines of the file
                above = place.line - comment.place.line
                lines = (range(each.start + above, each.stop + above) for each in comment.lines)
                found.append(comment._replace(place=place, lines=tuple(lines)))
    return found


def _find_comments_in_text(file: ParsedText, user_rules: Mapping[str, Rule]) -> Iterator[Comment]:
    if file.syntax != "yaml" or "osbctl:" not in file.text:
        return
    from osbctl.validation.checks import load_all

    positions, rules = file.lines, {**load_all(), **user_rules}
    entry_below = _find_entries(LINE_END.split(file.text))
    spans = file.spans().values()
    keys_of_ended = _find_ended_values(spans, positions)
    for match in _match_comments(file.text, spans):
        location = positions.at(match.start())
        if location.excerpt[: location.column - 1].strip():
            lines = {location.line, *keys_of_ended(location, match.start())}
            applies_to = tuple(range(line, line + 1) for line in lines)
        else:
            applies_to = (entry_below(location.line),)
        for word in re.findall(r"[^\s,][^,]*(?<!\s)", match[1] or "") or [""]:
            yield Comment(word, matching_rules(word, rules), location, applies_to)


_BLOCKS = ("|", ">")


def _find_ended_values(spans: Iterable[Span], positions: Lines) -> Callable[[Location, int], Iterator[int]]:
    """A function that returns the lines of the keys of values that begin above a comment and end before it in its line.

    It takes the location and the offset of the comment, which may stand in the head line of a block text.
    """
    ends = sorted((span.start if span.style in _BLOCKS else span.end, span.entry_start) for span in spans if span.flow)

    def lines_of_keys(comment: Location, offset: int) -> Iterator[int]:
        line_start = offset - comment.column + 1
        for _, start in ends[bisect_left(ends, (line_start,)) : bisect_left(ends, (offset + 1,))]:
            if start < line_start:
                key = positions.at(start)
                if not key.excerpt[: key.column - 1].strip(" -"):  # what stands before is no part of the value
                    yield key.line

    return lines_of_keys


def _match_comments(text: str, spans: Iterable[Span]) -> Iterator[re.Match[str]]:
    """Comments outside of quoted texts and of blocks below their head line; in plain texts no `#` follows a blank."""

    def start_of(span: Span) -> int:
        head_end = LINE_END.search(text, span.start) if span.style in _BLOCKS else None
        return head_end.start() if head_end else span.start

    texts = sorted((start_of(span), span.end) for span in spans if span.style)
    for match in _COMMENT.finditer(text):
        before = bisect_right(texts, (match.start(), len(text))) - 1
        if before < 0 or match.start() >= texts[before][1]:
            yield match


def _find_entries(lines: list[str]) -> Callable[[int], range]:
    """A function that returns the lines of the entry or item that begins below a line, which is a comment.

    These are its first line and those indented further; each line is looked at once for each entry that it is in.
    """
    content = [n for n, line in enumerate(lines, 1) if line.strip() and line.strip()[0] != "#"]

    @cache
    def find_entry(position: int) -> range:
        first = content[position]
        indent, is_item = _indent(lines[first - 1]), _begins_item(lines[first - 1])
        for following in range(position + 1, len(content)):
            n = content[following]
            line = lines[n - 1]
            # The items of a list may stand in the column of its key.
            below = _indent(line) > indent or (_indent(line) == indent and not is_item and _begins_item(line))
            if not below:
                return range(first, n)
        return range(first, len(lines) + 1)

    def entry_below(line_number: int) -> range:
        position = bisect_right(content, line_number)
        return find_entry(position) if position < len(content) else range(0)

    return entry_below


def _begins_item(line: str) -> bool:
    """Return whether an item of a list begins in the line; its first key may stand in the next one."""
    return f"{line.strip()} ".startswith("- ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
