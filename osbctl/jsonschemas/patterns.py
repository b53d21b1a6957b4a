"""Regular expressions of schemas: what it costs to run one, and texts that should match.

jsonschema-rs runs them as ECMA 262 defines them, in bounded time: Python's `re` takes seconds for `^(a+)+$` on 30
characters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product
from math import prod

import jsonschema_rs

from osbctl.jsonschemas.walk import UndecidableError

_MAX_PATTERN, _MAX_NESTING, _MAX_COUNT = 300, 12, 4096
_POOL = "a0A-_. bz19BZ/@:+x"
_CLASS_TRAPS = ("[", "--", "&&", "||", "~~")
"""`re` warns that these may change their meaning."""
ENGINES = jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
"""The first that supports a pattern runs it: in time in proportion to the text and to the pattern's `weight`, or, with
lookaround, in a limited number of steps. The second is the fallback, since it finds `^a+b?a+$` in `a` (0.60).
"""
_MAX_TEXT = 1_500
_MAX_WORK = 500_000
"""Characters times `weight`: a few milliseconds."""
_LOOKING = 100
"""Cost factor of lookaround and backreferences, which need the backtracking engine."""
ALWAYS = frozenset({"", ".*", "^"})
"""Patterns that every string matches."""


@lru_cache(maxsize=4096)
def weight(pattern: str) -> int:
    """The cost of a pattern for one character of a text: roughly the states that an engine has for it."""
    read = _read(pattern)
    counts = [min(int(count), 9_999) for count in re.findall(r"\d{1,9}(?=\})", pattern)]
    size = read[1] if read else len(pattern) * prod(count or 1 for count in counts)
    return size * (_LOOKING if re.search(r"\(\?<?[=!]|\\[1-9k]", pattern) else 1)


def affordable(length: int, weight: int) -> bool:
    """Return whether a pattern of this weight may be run on a text of so many characters."""
    return length <= _MAX_TEXT and length * weight <= _MAX_WORK


def gave_up(error: jsonschema_rs.ValidationError) -> bool:
    """Return whether a pattern took too long; wherever it stands, the whole value is undecided then."""
    kinds = jsonschema_rs.ValidationErrorKind
    return isinstance(error.kind, kinds.BacktrackLimitExceeded | kinds.RegexEngineFailure)


@lru_cache(maxsize=128)  # each may be 80 kB
def texts(pattern: str) -> tuple[str, ...]:
    """A few texts that probably match the pattern, the shortest first; none if its syntax is not supported."""
    found = [_read(pattern, variant, longer) for variant, longer in product((0, 1, 2, 4, 9), (0, 1))]
    return tuple(dict.fromkeys(read[0] for read in found if read))


def edge_texts(pattern: str) -> list[str]:
    """Those of `texts`, and more: with other characters, with many, or with one more at an end."""
    found = texts(pattern)
    if not found:
        return []
    others = [_read(pattern, variant) for variant in range(2, 20)] + [_read(pattern, 0, 64)]
    return [*found, *(read[0] for read in others if read), f"{found[0]}-", f"-{found[0]}"]


_QUANTIFIER = re.compile(r"(?:([*+?])|\{(?!,?\})(\d*)(,?)(\d*)\})[?+]?")
_SIGNS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_OPENING = re.compile(r"\((?:\?(?::|=|!|<=|<!|P<\w+>))?(?!\?)")
_ONE = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^1-9pPkxucN])|\.|[^*+?\\\[(]")
"""A class, an escape, a dot or a plain character."""
_EMPTY = ("^", "$", "\\b", "\\B", "\\A", "\\Z")


def _read(pattern: str, variant: int = 0, longer: int = 0) -> tuple[str, int] | None:
    """A text that should match, and the number of characters in the pattern, repeated as its counts say.

    `variant` picks characters and branches, `longer` adds repetitions. None if the syntax is not shared by ECMA 262
    and Python.
    """
    if len(pattern) > _MAX_PATTERN:
        return None
    reader = _Reader(pattern, variant, longer)
    try:
        found = reader.branches(0)
    except (UndecidableError, re.error, ValueError, OverflowError):
        return None
    return found if reader.at == len(pattern) else None


class _Reader:
    """Reads a pattern from left to right; each method returns a text and a number of characters, as `_read` does."""

    def __init__(self, pattern: str, variant: int, longer: int) -> None:
        self.pattern, self.variant, self.longer = pattern, variant, longer
        self.at = 0

    def branches(self, nesting: int) -> tuple[str, int]:
        if nesting > _MAX_NESTING:
            raise UndecidableError
        rows, size = [""], 1
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                rows.append("")
                self.at += 1
                continue
            text, weight = self._repeated(*self._atom(nesting))
            rows[-1] += text
            size += weight
        return rows[self.variant % len(rows)][:_MAX_COUNT], size

    def _repeated(self, text: str, size: int) -> tuple[str, int]:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if not found:
            return text, size
        self.at = found.end()
        sign, low, comma, high = found.groups()
        if sign:
            least, most = _SIGNS[sign]
        else:
            least = int(low or 0)
            most = (int(high) if high else None) if comma else least
        count = least + self.longer if most is None else min(least + self.longer, most)
        return text * min(count, _MAX_COUNT), size * max(least, most or 0, 1)

    def _atom(self, nesting: int) -> tuple[str, int]:
        opening = _OPENING.match(self.pattern, self.at)
        if opening:
            self.at = opening.end()
            text, size = self.branches(nesting + 1)
            if not self.pattern.startswith(")", self.at):
                raise UndecidableError
            self.at += 1
            return "" if opening.group()[-1] in "=!" else text, size
        found = _ONE.match(self.pattern, self.at)
        source = found.group() if found else ""
        if not found or (source[0] == "[" and any(trap in source[1:] for trap in _CLASS_TRAPS)):
            raise UndecidableError
        self.at = found.end()
        chars = "" if source in _EMPTY else _chars(source)
        return chars and chars[self.variant % len(chars)], 1


@lru_cache(maxsize=1024)
def _chars(source: str) -> str:
    """Some of the characters that a class, an escape or a dot stands for, or the one that it is."""
    if len(source) == 1 and source != ".":
        return source
    fits = re.compile(source).fullmatch
    # The class may name characters outside the pool itself.
    return "".join(char for char in dict.fromkeys(_POOL + source) if fits(char)) or "a"
