"""Regular expressions out of a schema: whether a text fits one, and texts that should.

They are run by jsonschema-rs, which takes them as ECMA 262 has them and does not run away: Python's `re` takes seconds
for `^(a+)+$` on 30 characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import jsonschema_rs

from osbctl.jsonschemas.undecidable import UndecidableError

MAX_PATTERN = 300
_MAX_NESTING = 12
_MAX_COUNT = 4096
_POOL = "a0A-_. bz19BZ/@:+x"
_EMPTY_ESCAPES = "bBAZ"
_CLASS_TRAPS = ("[", "--", "&&", "||", "~~")
"""`re` warns that these may change their meaning."""
PATIENCE = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
"""Steps of a pattern that looks around. All others take time in proportion to the text and to their `weight`."""
_MAX_TEXT = 1_500
_MAX_WORK = 500_000
"""Characters times `weight`: a few milliseconds."""
_LOOKING = 100
"""How much more a pattern costs that looks around or back: then the engine goes back and tries again."""
ALWAYS = frozenset({"", ".*", "^"})
"""Patterns that every string matches."""


@dataclass(frozen=True, slots=True)
class PatternPart:
    """A piece of a pattern: one character of `chars`, or `parts` in a row or by choice, repeated."""

    parts: tuple[PatternPart, ...] = ()
    chars: str = ""
    choice: bool = False
    zero_width: bool = False
    low: int = 1
    high: int | None = 1

    def size(self) -> int:
        """The single characters in it, repeated as often as they are counted out."""
        once = 1 + sum(part.size() for part in self.parts)
        return once * max(self.low, self.high or 0, 1)

    def text(self, variant: int, longer: int) -> str:
        """A text that should match: `variant` picks characters and branches, `longer` adds repetitions."""
        if self.zero_width:
            return ""
        count = self.low + longer
        count = count if self.high is None else min(count, self.high)
        return self._text_once(variant, longer) * min(count, _MAX_COUNT)

    def _text_once(self, variant: int, longer: int) -> str:
        if self.choice:
            return self.parts[variant % len(self.parts)].text(variant, longer)
        one = self.chars[variant % len(self.chars)] if self.chars else ""
        return one + "".join(part.text(variant, longer) for part in self.parts)[:_MAX_COUNT]


def matches(pattern: str, text: str) -> bool | None:
    """Whether the pattern is found in the text; None where it is not understood, or takes too long."""
    engine = _engine(pattern)
    if engine is None or not affordable(len(text), weight(pattern)):
        return None
    try:
        if engine.is_valid(text):
            return True
        return None if any(gave_up(error) for error in engine.iter_errors(text)) else False
    except ValueError:  # half of a surrogate pair
        return None


@lru_cache(maxsize=4096)
def weight(pattern: str) -> int:
    """What the pattern costs, a character of a text: roughly the states that an engine has for it."""
    read = _read(pattern)
    counts = [min(int(count), 9_999) for count in re.findall(r"\d{1,9}(?=\})", pattern)]
    size = read.size() if read else len(pattern) * prod(count or 1 for count in counts)
    return size * (_LOOKING if re.search(r"\(\?<?[=!]|\\[1-9k]", pattern) else 1)


def affordable(length: int, weight: int) -> bool:
    """Whether a pattern of this weight may be run on a text of so many characters."""
    return length <= _MAX_TEXT and length * weight <= _MAX_WORK


def gave_up(error: jsonschema_rs.ValidationError) -> bool:
    """Whether a pattern took too long; wherever it stands, this is what becomes of the whole value."""
    kinds = jsonschema_rs.ValidationErrorKind
    return isinstance(error.kind, kinds.BacktrackLimitExceeded | kinds.RegexEngineFailure)


@lru_cache(maxsize=4096)
def _engine(pattern: str) -> Any:
    try:
        return jsonschema_rs.Draft7Validator({"pattern": pattern}, pattern_options=PATIENCE)
    except ValueError:
        return None


def texts(pattern: str) -> list[str]:
    """A few texts that probably match the pattern, the shortest first; none where it is not understood."""
    read = _read(pattern)
    if read is None:
        return []
    return list(dict.fromkeys(read.text(v, n) for n, v in product((0, 1, 2, 4, 9), (0, 1))))


def _read(pattern: str) -> PatternPart | None:
    if len(pattern) > MAX_PATTERN:
        return None
    try:
        return _Reader(pattern).read()
    except (UndecidableError, re.error, ValueError, OverflowError, RecursionError):
        return None


class _Reader:
    """Reads the part of the syntax that ECMA 262 and Python share; refuses everything else."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def read(self) -> PatternPart:
        part = self._choice(0)
        if self.at < len(self.pattern):
            raise UndecidableError
        return part

    def _choice(self, nesting: int) -> PatternPart:
        if nesting > _MAX_NESTING:
            raise UndecidableError
        branches = [self._row(nesting)]
        while self._take("|"):
            branches.append(self._row(nesting))
        return branches[0] if len(branches) == 1 else PatternPart(tuple(branches), choice=True)

    def _row(self, nesting: int) -> PatternPart:
        parts = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            low, high, atom = self._quantified(nesting)
            parts.append(PatternPart((atom,), low=low, high=high))
        return PatternPart(tuple(parts))

    def _quantified(self, nesting: int) -> tuple[int, int | None, PatternPart]:
        atom = self._atom(nesting)
        found = re.compile(r"(?:([*+?])|\{(\d*)(,?)(\d*)\})[?+]?").match(self.pattern, self.at)
        if not found or found.group().startswith(("{}", "{,}")):
            return 1, 1, atom
        self.at = found.end()
        sign, low, comma, high = found.groups()
        if sign:
            return (1 if sign == "+" else 0), (1 if sign == "?" else None), atom
        least = int(low or 0)
        most = int(high) if high else None
        return least, (most if comma else least), atom

    def _atom(self, nesting: int) -> PatternPart:
        start = self.at
        char = self.pattern[start]
        self.at += 1
        if char == "(":
            return self._group(nesting)
        if char in "^$":
            return PatternPart(zero_width=True)
        if char == "[":
            return self._one_of(start)
        if char == "\\":
            return self._escape(start)
        if char in "*+?":
            raise UndecidableError
        return _one(self.pattern[start : self.at]) if char == "." else PatternPart(chars=char)

    def _group(self, nesting: int) -> PatternPart:
        opening = re.compile(r"\?(?::|=|!|<=|<!|P<\w+>)").match(self.pattern, self.at)
        if opening:
            self.at = opening.end()
        elif self.pattern.startswith("?", self.at):
            raise UndecidableError
        inner = self._choice(nesting + 1)
        if not self._take(")"):
            raise UndecidableError
        look = opening is not None and opening.group()[-1] in "=!"
        return PatternPart((inner,), zero_width=look)

    def _one_of(self, start: int) -> PatternPart:
        found = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]").match(self.pattern, start)
        if not found or any(trap in found.group()[1:] for trap in _CLASS_TRAPS):
            raise UndecidableError
        self.at = found.end()
        return _one(found.group())

    def _escape(self, start: int) -> PatternPart:
        found = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^1-9pPkxucN])").match(self.pattern, start)
        if not found:
            raise UndecidableError
        self.at = found.end()
        return PatternPart(zero_width=True) if found.group()[1] in _EMPTY_ESCAPES else _one(found.group())

    def _take(self, char: str) -> bool:
        found = self.pattern.startswith(char, self.at)
        self.at += found
        return found


def _one(source: str) -> PatternPart:
    """One character of those that a class, an escape or a dot stands for."""
    fits = re.compile(source).fullmatch
    # The class may name characters outside the pool itself.
    return PatternPart(chars="".join(char for char in dict.fromkeys(_POOL + source) if fits(char)) or "a")
