"""Places in a text: lines and columns, the spans of values, and faults."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, NoReturn

from osbctl.findings import DocumentError, Finding, LineNumber, Location, Severity
from osbctl.messages import (
    PAIR_NAMES,
    SECRET,
    Message,
    Sentence,
    is_client,
    is_secret_path,
    may_be_secret_name,
    may_hide,
)
from osbctl.paths import JsonPath

MAX_PROBLEMS = 100
"""The most faults that are reported of one text; the last one says that more are omitted."""

DECIMAL_COMMA = ("a decimal number has a point, not a comma", "write 9.5 for 9,5")
"""The message and the hint where a comma inside of a number separates two entries."""


def is_decimal_comma(text: str, offset: int) -> bool:
    """Return whether there is the comma of a number such as 9,5 before `offset`."""
    return bool(re.fullmatch(r"[0-9],[0-9]", text[max(0, offset - 2) : offset + 1]))


LINE_END = re.compile(r"\r\n?|\n")
"""LF, CRLF or a lone CR, as in YAML 1.2 (5.4) and in editors (LSP 3.17, "Text Documents")."""


class Lines:
    """The lines of a text. `secrets` are the ranges of values that may be secret, in order and disjoint."""

    def __init__(self, name: str, text: str, secrets: Sequence[tuple[int, int]] = ()) -> None:
        self._name = name
        self._text = text
        self._secrets = secrets
        self._excerpts: dict[int, tuple[str, tuple[tuple[int, int], ...]]] = {}

    def at(self, offset: int, end: int = 0) -> Location:
        """The location of `text[offset:end]`, as far as its first line (zero-based; the end of the text is allowed)."""
        line = bisect_right(self._line_starts, offset)
        start = self._line_starts[line - 1]
        # Cached: a file of 5 MB may be one line, and a thousand findings must not hold a thousand copies of it.
        if start not in self._excerpts:
            stop = self._text.find("\n", start) + 1 or len(self._text)
            text = self._text[start:stop].partition("\r")[0].removesuffix("\n")
            first = bisect_right(self._secrets, start, key=itemgetter(1))
            after = bisect_left(self._secrets, start + len(text), key=itemgetter(0))
            inside = ((max(0, a - start), min(b - start, len(text))) for a, b in self._secrets[first:after])
            self._excerpts[start] = text, tuple(inside)
        (excerpt, secrets), column = self._excerpts[start], offset - start + 1
        length = len(excerpt[column - 1 : max(0, end - start)].rstrip())
        return Location(self._name, line, column, excerpt, column + length if length else 0, secrets)

    def at_entry(self, offset: int, end: int) -> Location:
        """The location of a plain scalar of YAML; what stands in its line beside its entry may be secret."""
        place = self.at(offset, end)
        begin, end = max(place.excerpt.rfind(mark, 0, place.column - 1) for mark in "[{,") + 1, place.end - 1
        is_last = place.excerpt[end:].strip()[:1] in ("", "#")
        secrets = ((0, begin), (end, end if is_last else len(place.excerpt)))
        return place._replace(secrets=tuple(each for each in secrets if each[0] < each[1]))

    def place(self, offset: int, *, with_column: bool = True) -> LineNumber:
        """The line of an offset as a sentence of the same text names it."""
        return LineNumber(self.at(offset), self._name, with_column)

    def error(self, rule: str, message: Sentence, offset: int, hint: str = "", *, is_secret: bool = False) -> Finding:
        """The finding about an error at an offset; without its line, if that is of a secret."""
        location = self.at(offset)
        location = location._replace(excerpt="" if is_secret else location.excerpt)
        return Finding(rule, Severity.ERROR, message, (), location, hint=hint)

    def offset_of(self, location: Location) -> int:
        """The offset of a location."""
        return self._line_starts[location.line - 1] + location.column - 1

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in LINE_END.finditer(self._text))]


def find_unread_secrets(text: str, start: int = 0) -> list[tuple[int, int]]:
    """The range from the first secret name in the part of a text that was not read, from `start`; empty without one."""
    from osbctl.masking import SECRET_WORD  # only a fault needs it

    name = SECRET_WORD.search(text, start)
    return [(name.start(), len(text))] if name else []


class Span:
    """Where one value is written: `text[start:end]`; `key` is the range of its key, (0, 0) for a list item.

    Offsets count characters from 0. `flow` says whether a mapping or list is written in brackets; `style` is the quote
    of a scalar, `|` or `>` for a block of lines, empty for a plain one; `anchored` whether an alias may stand for it
    elsewhere. `shown_end` is the end of what reports underline. `copies` is the number of places of the document at
    which this text stands, counted by `spans` with `aliases`.

    `below` are the spans of the values in it. `foreign` values are written elsewhere: entries of a merge key, or with
    an alias as key. `target` is the span that an alias stands for. `unread` are the spans of values that no path leads
    to, with their keys: of a merge key, and of a key that is there twice, or is no text. `is_secret`: an input of a
    brokerpak with a secret name, whose literals are secret.
    """

    __slots__ = (
        "anchored", "below", "copies", "end", "flow", "foreign", "is_secret", "key", "shown_end", "start", "style",
        "target", "unread",
    )  # fmt: skip

    def __init__(self, start: int, end: int, key: tuple[int, int] = (0, 0)) -> None:
        self.start = start  # each on a line of its own, and no dataclass: a text has hundreds of thousands of these
        self.end = end
        self.key = key
        self.shown_end = end
        self.flow = True
        self.style = ""
        self.anchored = False
        self.copies = 1
        self.below: dict[Any, Span] = _NOTHING_BELOW
        self.foreign: dict[Any, Span] = _NOTHING_BELOW
        self.target: Span | None = None
        self.unread: list[tuple[Any, Span]] = _NOTHING_UNREAD
        self.is_secret = False

    def name_input(self, name: Any) -> None:
        """Note the name of an input."""
        self.is_secret = isinstance(name, str) and may_be_secret_name(name)

    @property
    def entry_start(self) -> int:
        """Offset of the key, or of the value if it has none."""
        return self.key[0] if self.key[1] else self.start

    @property
    def meant(self) -> "Span":
        """The span of the value, also of an alias."""
        return self.target or self

    def child(self, step: str | int) -> "Span | None":
        """The span of the value at a key or index, also through an alias."""
        return self.meant.below.get(step) or self.meant.foreign.get(step)

    def find(self, path: JsonPath) -> "list[Span]":
        """The spans on the way from this one to the value at `path`, as far as it exists."""
        found = [self]
        for step in path:
            below = found[-1].child(step)
            if below is None:
                break
            found.append(below)
        return found

    def spans(self, *, aliases: bool = False) -> "dict[JsonPath, Span]":
        """The spans of all values written in the text, the values in a collection before the collection.

        Values that come from a merge key have no span. An alias of a scalar has one only with `aliases`: that of the
        scalar, whose edit changes other places as well.
        """
        return dict(_collect_spans(self, (), _copies_counter(self) if aliases else None))

    def ranges(self) -> list[tuple[int, int]]:
        """The ranges of the text that the value is read from, also through aliases; in order, and disjoint."""
        found = [(self.start, self.end)]
        pending, seen = [self], {self}
        while pending:
            each = pending.pop()
            elsewhere = [*each.foreign.values(), *filter(None, [each.target])]
            found += [(one.entry_start, one.end) for one in elsewhere]
            new = [one for one in (*each.below.values(), *elsewhere) if one not in seen]
            seen.update(new)
            pending += new
        return disjoint(found)

    def names_secret(self, text: str) -> bool:
        """Return whether the `name` or `key` in this object of `text` is that of a secret, as of a variable."""
        written = [one.meant for key, one in (*self.below.items(), *self.unread) if key in PAIR_NAMES]
        return any(may_be_secret_name(text[one.start : one.end]) for one in written)

    def secret_ranges(self, text: str, above: JsonPath = ()) -> list[tuple[int, int]]:
        """The ranges of `text` of values in this one, at `above`, that may be secret; in order, and disjoint."""
        found: list[tuple[int, int]] = []
        # Paths begin at the first step that may hide something: few values of a large text have one.
        pending: list[tuple[JsonPath, Span]] = [(above, self)]
        seen = {(above, self)}
        while pending:
            above, span = pending.pop()
            if span.is_secret:
                above = (*above, "parameters", "properties", "password")
            is_named = "value" in span.below and span.names_secret(text)
            for step, below in (*span.below.items(), *span.foreign.items(), *span.unread):
                path = (*above, step) if above or (type(step) is str and may_hide(step)) else ()
                # A part of a client may be public, as are keywords of a parameter with a secret name.
                is_secret = path and is_secret_path((*path, "") if below.below else path)
                is_secret = is_secret or (step == "value" and is_named)
                if is_secret and not (below.below and is_client(step)):
                    found += below.ranges()
                elif (below.below or below.foreign or below.unread) and (path, below) not in seen:
                    seen.add((path, below))
                    pending.append((path, below))
        return disjoint(found)


def disjoint(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start < found[-1][1]:
            start, end = found[-1][0], max(found.pop()[1], end)
        found.append((start, end))
    return found


_NOTHING_BELOW: dict[Any, Span] = {}
_NOTHING_UNREAD: list[tuple[Any, Span]] = []
"""What is in every scalar; never changed."""


def _collect_spans(span: Span, path: JsonPath, count: Callable[[Span], int] | None) -> Iterator[tuple[JsonPath, Span]]:
    """The spans of `Span.spans`; `count` counts copies, None without aliases."""
    for step, below in span.below.items():
        yield from _collect_spans(below, (*path, step), count)
    target = span.target
    if target is None:
        span.copies = count(span) if count else 1
        yield path, span
    elif count and span.key[1] and target.below is _NOTHING_BELOW:
        alias = Span(target.start, target.end, span.key)
        alias.style, alias.anchored, alias.copies = target.style, target.anchored, count(target)
        yield path, alias


def _copies_counter(top: Span) -> Callable[[Span], int]:
    """Return a function that counts at how many places of the document at `top` a text of it stands."""
    users: defaultdict[Span, list[Span]] = defaultdict(list)
    waiting = [top]
    while waiting:
        span = waiting.pop()
        for used in (*span.below.values(), *span.foreign.values(), *filter(None, [span.target])):
            waiting += [] if used in users else [used]
            users[used].append(span)

    @cache
    def count(span: Span) -> int:
        return 1 if span is top else sum(map(count, users[span]))

    return count


class TextFault(NamedTuple):
    """A fault that leaves the rest of a text readable.

    `first` is the offset of the first of two equal keys. `is_secret`: it stands in a secret, whose line is not shown.
    """

    rule: str
    sentence: Sentence
    offset: int
    hint: str = ""
    first: int | None = None
    is_secret: bool = False


def fault_error(faults: Iterable[TextFault], lines: Lines) -> DocumentError:
    """The error about `faults`, of which there is at least one."""
    return DocumentError(fault_findings(faults, lines))


def fault_findings(faults: Iterable[TextFault], lines: Lines) -> tuple[Finding, ...]:
    """The findings about `faults`, at most `MAX_PROBLEMS`; the last says that more are omitted."""
    found: list[Finding] = []
    for rule, sentence, offset, hint, first, is_secret in sorted(faults, key=attrgetter("offset"))[:MAX_PROBLEMS]:
        if len(found) == MAX_PROBLEMS - 1:
            sentence, hint, first = "the faults from here on are omitted; repair those above first", "", None
        if first is not None:
            sentence = Message("{}; first at {}", sentence, lines.place(first))
        found.append(lines.error(rule, sentence, offset, hint, is_secret=is_secret))
    return tuple(found)


def check_faults(faults: Iterable[TextFault], lines: Lines, way: Sequence[Span]) -> tuple[Finding, ...]:
    """Return warnings about keys that are there twice outside of a value of the text; other faults there are text.

    `way` are the spans that lead to the value, empty if it is the whole text's. Raises DocumentError: there are faults
    in the value, or one of two equal keys leads to it.
    """
    outside: list[TextFault] = []
    if way:
        keys = {span.key[0] for span in way if span.key[1]}
        ranges = way[-1].ranges()

        def is_inside(offset: int) -> bool:
            before = bisect_right(ranges, offset, key=itemgetter(0)) - 1
            return before >= 0 and offset < ranges[before][1]

        errors: list[TextFault] = []
        for fault in faults:
            places = {fault.offset, fault.offset if fault.first is None else fault.first}
            leads_inside = fault.first is not None and not keys.isdisjoint(places)
            (errors if leads_inside or any(map(is_inside, places)) else outside).append(fault)
        faults = errors
    if faults:
        raise fault_error(faults, lines)
    repeated = [fault for fault in outside if fault.first is not None]
    return tuple(one._replace(severity=Severity.WARNING) for one in fault_findings(repeated, lines))


class FaultRecorder:
    """What reads a text, and notes faults in it. `depth` is the limit of its levels; `is_secret`: any part may be."""

    _path: Sequence[Any] = ()
    """Path of the value that is read now; steps that are neither keys nor indexes are none of the data's."""

    def __init__(self, text: str, name: str, depth: int, *, is_secret: bool = False) -> None:
        self._text, self._name, self._lines = text, name, Lines(name, text)
        self._depth, self._is_secret = depth, is_secret
        self.faults: list[TextFault] = []
        self._open_spans: list[Span] = []  # the collections around what is read now
        self._anchor_spans: dict[str, Span] = {}
        self._last = 0  # offset of the last key or value

    def _json_path(self, levels: int | None = None) -> JsonPath:
        return tuple(step for step in self._path[:levels] if isinstance(step, str | int))

    def _mask_unread(self) -> None:
        """Mask secrets in excerpts of a text whose reading ends here: those read, and what may be one in the rest."""
        end = len(self._text)
        found = find_unread_secrets(self._text, self._last)
        if found:  # and an alias may stand there
            found += [(span.start, span.end) for span in self._anchor_spans.values()]
        found += self._find_open_secrets()
        if self._is_in_secret():
            found.append((self._last, end))
        # A line that is indented too little is read as if it stood behind its secret, which then may be null.
        for begin, stop in [*found]:
            is_null = begin == stop and not self._text[stop : self._last].strip()
            found += [(begin, end)] if is_null or begin <= self._last <= stop else []
        self._lines = Lines(self._name, self._text, disjoint(found))

    def _find_open_secrets(self) -> Iterator[tuple[int, int]]:
        """The ranges of what may be secret in the collections around what is read now."""
        starts = [*(span.start for span in self._open_spans[1:]), self._last]  # of what is open in each
        for level, (span, start) in enumerate(zip(self._open_spans, starts, strict=False)):
            path = self._json_path(level)
            if is_secret_path(path):
                yield span.start, len(self._text)
            yield from span.secret_ranges(self._text, path)
            if [*self._path[level : level + 1]] == ["value"] and span.names_secret(self._text):
                yield start, len(self._text)

    def _is_in_secret(self) -> bool:
        """Return whether what is read now, or what follows it, may be secret."""
        path = self._json_path()
        return self._is_secret or is_secret_path(path) or is_secret_path((*path[:-1], ""))

    def _report(
        self, rule: str, message: str, offset: int, hint: str = "", quoted: str = "", first: int | None = None
    ) -> None:
        """Note a fault; `quoted` is text of the document, which stands at the `{}` of the message, unless secret."""
        offset, is_secret = min(offset, len(self._text)), self._is_in_secret()
        sentence = Message(message, SECRET if is_secret else quoted) if quoted else message
        self.faults.append(TextFault(rule, sentence, offset, hint, first, is_secret))

    def _fail(self, rule: str, message: str, offset: int, hint: str = "", quoted: str = "") -> NoReturn:
        """Raise a DocumentError about a fault that ends the reading, with those that were noted before."""
        self._report(rule, message, offset, hint, quoted)
        self._mask_unread()
        raise fault_error(self.faults, self._lines)

    def _fail_too_deep(self, offset: int) -> NoReturn:
        message = f"nested deeper than {self._depth} levels"
        self._fail("nesting-too-deep", message, offset, "real catalogs have under 15 levels")
