"""Regular expressions out of a schema: whether a text fits one, and texts that should.

They are run by jsonschema-rs, which takes them as ECMA 262 has them and does not run away: Python's `re` takes seconds
for `^(a+)+$` on 30 characters.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import jsonschema_rs

from osbctl.jsonschemas.walk import UndecidableError

_MAX_PATTERN, _MAX_NESTING, _MAX_COUNT = 300, 12, 4096
_POOL = "a0A-_. bz19BZ/@:+x"
_CLASS_TRAPS = ("[", "--", "&&", "||", "~~")
"""`re` warns that these may change their meaning."""
ENGINES = jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
"""The first that takes a pattern runs it: in time in proportion to the text and to the pattern's `weight`, or, where it
looks around, in at most so many steps. Only there, since the second takes `a` for what fits `^a+b?a+$` (0.60).
"""
_MAX_TEXT = 1_500
_MAX_WORK = 500_000
"""Characters times `weight`: a few milliseconds."""
_LOOKING = 100
"""Cost factor of lookaround and backreferences, which need the backtracking engine."""
ALWAYS = frozenset({"", ".*", "^"})
"""Patterns that every string matches."""


def matches(pattern: str, text: str) -> bool | None:
    """True if the pattern is found in the text; None where it is not understood, or takes too long."""
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
    """The cost of a pattern for one character of a text: roughly the states that an engine has for it."""
    read = _read(pattern)
    counts = [min(int(count), 9_999) for count in re.findall(r"\d{1,9}(?=\})", pattern)]
    size = read.size() if read else len(pattern) * prod(count or 1 for count in counts)
    return size * (_LOOKING if re.search(r"\(\?<?[=!]|\\[1-9k]", pattern) else 1)


def affordable(length: int, weight: int) -> bool:
    """Return whether a pattern of this weight may be run on a text of so many characters."""
    return length <= _MAX_TEXT and length * weight <= _MAX_WORK


def gave_up(error: jsonschema_rs.ValidationError) -> bool:
    """Return whether a pattern took too long; wherever it stands, the whole value is undecided then."""
    kinds = jsonschema_rs.ValidationErrorKind
    return isinstance(error.kind, kinds.BacktrackLimitExceeded | kinds.RegexEngineFailure)


@lru_cache(maxsize=4096)
def _engine(pattern: str) -> Any:
    for engine in ENGINES:
        with suppress(ValueError):
            return jsonschema_rs.Draft7Validator({"pattern": pattern}, pattern_options=engine)
    return None


@lru_cache(maxsize=128)  # each may be 80 kB
def texts(pattern: str) -> tuple[str, ...]:
    """A few texts that probably match the pattern, the shortest first; none where it is not understood."""
    read = _read(pattern)
    found = [read.text(v, n) for n, v in product((0, 1, 2, 4, 9), (0, 1))] if read else []
    return tuple(dict.fromkeys(found))


def edge_texts(pattern: str) -> list[str]:
    """Those of `texts`, and such as match by other characters, by many, or with one more around them."""
    read, found = _read(pattern), texts(pattern)
    if read is None:
        return []
    others = [read.text(variant, 0) for variant in range(2, 20)]
    return [*found, *others, f"{found[0]}-", f"-{found[0]}", read.text(0, 64)]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One character of `chars`, or one of the `rows` of pieces, repeated; where it has neither, an empty text."""

    rows: tuple[tuple[_Piece, ...], ...] = ()
    chars: str = ""
    low: int = 1
    high: int | None = 1

    def size(self) -> int:
        """The single characters in it, repeated as often as they are counted out."""
        once = 1 + sum(piece.size() for row in self.rows for piece in row)
        return once * max(self.low, self.high or 0, 1)

    def text(self, variant: int, longer: int) -> str:
        """A text that should match: `variant` picks characters and branches, `longer` adds repetitions."""
        row = self.rows[variant % len(self.rows)] if self.rows else ()
        one = self.chars[variant % len(self.chars)] if self.chars else ""
        once = one + "".join(piece.text(variant, longer) for piece in row)[:_MAX_COUNT]
        count = self.low + longer
        return once * min(count if self.high is None else min(count, self.high), _MAX_COUNT)


_QUANTIFIER = re.compile(r"(?:([*+?])|\{(?!,?\})(\d*)(,?)(\d*)\})[?+]?")
_OPENING = re.compile(r"\((?:\?(?::|=|!|<=|<!|P<\w+>))?(?!\?)")
_ONE = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^1-9pPkxucN])|\.|[^*+?\\\[(]")
"""A class, an escape, a dot or a plain character."""
_EMPTY = ("^", "$", "\\b", "\\B", "\\A", "\\Z")


def _read(pattern: str) -> _Piece | None:
    """The part of the syntax that ECMA 262 and Python share; None for everything else."""
    if len(pattern) > _MAX_PATTERN:
        return None
    try:
        piece, at = _choice(pattern, 0, 0)
    except (UndecidableError, re.error, ValueError, OverflowError):
        return None
    return piece if at == len(pattern) else None


def _choice(pattern: str, at: int, nesting: int) -> tuple[_Piece, int]:
    """The branches from `at` on, and where they end."""
    if nesting > _MAX_NESTING:
        raise UndecidableError
    rows: list[list[_Piece]] = [[]]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            rows.append([])
            at += 1
            continue
        piece, at = _atom(pattern, at, nesting)
        found = _QUANTIFIER.match(pattern, at)
        if found:
            piece, at = _repeated(piece, *found.groups()), found.end()
        rows[-1].append(piece)
    return _Piece(tuple(map(tuple, rows))), at


def _repeated(piece: _Piece, sign: str | None, low: str, comma: str, high: str) -> _Piece:
    if sign:
        return replace(piece, low=int(sign == "+"), high=1 if sign == "?" else None)
    least = int(low or 0)
    return replace(piece, low=least, high=(int(high) if high else None) if comma else least)


def _atom(pattern: str, at: int, nesting: int) -> tuple[_Piece, int]:
    if opening := _OPENING.match(pattern, at):
        inner, end = _choice(pattern, opening.end(), nesting + 1)
        if not pattern.startswith(")", end):
            raise UndecidableError
        return _Piece(inner.rows, high=0, low=0) if opening.group()[-1] in "=!" else inner, end + 1
    found = _ONE.match(pattern, at)
    text = found.group() if found else ""
    if not found or (text[0] == "[" and any(trap in text[1:] for trap in _CLASS_TRAPS)):
        raise UndecidableError
    return _Piece() if text in _EMPTY else _Piece(chars=_chars(text)), found.end()


def _chars(source: str) -> str:
    """Some of the characters that a class, an escape or a dot stands for, or the one that it is."""
    if len(source) == 1 and source != ".":
        return source
    fits = re.compile(source).fullmatch
    # The class may name characters outside the pool itself.
    return "".join(char for char in dict.fromkeys(_POOL + source) if fits(char)) or "a"
