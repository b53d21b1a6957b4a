"""Convert offsets in a text to lines and columns, and faults there to findings."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import NamedTuple

from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.paths import JsonPath
from osbctl.redaction import SECRET, may_be_secret_name

DECIMAL_COMMA = ("a decimal number has a point, not a comma", "write 9.5 for 9,5")
"""The message and the hint where a comma inside of a number separates two entries."""


def is_decimal_comma(text: str, offset: int) -> bool:
    """Return whether there is the comma of a number such as 9,5 before `offset`."""
    return bool(re.fullmatch(r"[0-9],[0-9]", text[max(0, offset - 2) : offset + 1]))


LINE_END = re.compile(r"\r\n?|\n")
"""LF, CRLF or a lone CR, as in YAML 1.2 (5.4) and in editors (LSP 3.17, "Text Documents")."""


_KEY = re.compile(r"""[\s-]*["']?([\w.-]+)["']?\s*:""")
_NEAR = 10_000
"""Characters of a secret, such as a key in PEM, among which its name is looked for."""


class Lines:
    """The lines of a text."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._excerpts: dict[int, str] = {}

    def at(self, offset: int, end: int = 0) -> Location:
        """The location of `text[offset:end]`, as far as its first line (zero-based; the end of the text is allowed)."""
        line = bisect_right(self._line_starts, offset)
        start = self._line_starts[line - 1]
        # Cached: a file of 5 MB may be one line, and a thousand findings must not hold a thousand copies of it.
        if start not in self._excerpts:
            stop = self._text.find("\n", start) + 1 or len(self._text)
            self._excerpts[start] = self._text[start:stop].partition("\r")[0].removesuffix("\n")
        excerpt, column = self._excerpts[start], offset - start + 1
        length = len(excerpt[column - 1 : max(0, end - start)].rstrip())
        return Location(self._name, line, column, excerpt, column + length if length else 0)

    def error(self, rule: str, message: str, offset: int, hint: str = "", *, is_secret: bool = False) -> Finding:
        """The finding about an error at an offset; without its line, if that is, or may be, of a secret."""
        location = self.at(offset)
        lines = self._text[max(0, offset - _NEAR) : offset].splitlines()[:-1]
        above = next((found[1] for line in reversed(lines) if (found := _KEY.match(line))), "")
        excerpt = "" if is_secret or may_be_secret_name(above) else location.excerpt
        return Finding(rule, Severity.ERROR, message, (), location._replace(excerpt=excerpt), hint=hint)

    def offset_of(self, location: Location) -> int:
        """The offset of a location."""
        return self._line_starts[location.line - 1] + location.column - 1

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in LINE_END.finditer(self._text))]


class TextFault(NamedTuple):
    """A fault that leaves the rest of a text readable.

    `first` is the offset of the first of two equal keys. `is_secret`: it stands in a secret, whose line is not shown.
    """

    rule: str
    message: str
    offset: int
    hint: str = ""
    first: int | None = None
    is_secret: bool = False


def make_fault(
    rule: str, message: str, offset: int, hint: str, first: int | None, *, quoted: str, is_secret: bool
) -> TextFault:
    """A fault; `quoted` is the part of the message that is text of the document: a secret is left out."""
    shown = message.replace(quoted, SECRET) if quoted and is_secret else message
    return TextFault(rule, shown, offset, hint, first, is_secret)


def fault_error(faults: Iterable[TextFault], lines: Lines) -> DocumentError:
    """The error about `faults`, of which there is at least one."""
    return DocumentError(fault_findings(faults, lines))


def fault_findings(faults: Iterable[TextFault], lines: Lines) -> tuple[Finding, ...]:
    """The findings about `faults`, at most `MAX_PROBLEMS`; the last says that more are omitted."""
    from osbctl.sources.read_bytes import MAX_PROBLEMS, TOO_MANY  # most texts have no fault

    found: list[Finding] = []
    for rule, message, offset, hint, first, is_secret in sorted(faults, key=attrgetter("offset"))[:MAX_PROBLEMS]:
        if len(found) == MAX_PROBLEMS - 1:
            message, hint, first = TOO_MANY, "", None
        if first is not None:
            place = lines.at(first)
            message += f"; first at line {place.line}, column {place.column}"
        found.append(lines.error(rule, message, offset, hint, is_secret=is_secret))
    return tuple(found)


def check_faults(
    faults: Iterable[TextFault],
    lines: Lines,
    text_of: Callable[[JsonPath], tuple[list[tuple[int, int]], set[int]]],
    path: JsonPath,
) -> tuple[Finding, ...]:
    """Return warnings about keys that are there twice outside of the value at `path`; other faults there are text.

    `text_of` is as in `SourceMap`.

    Raises DocumentError: there are faults in the value, or one of two equal keys leads to it.
    """
    outside: list[TextFault] = []
    if path:
        ranges, keys = text_of(path)

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
