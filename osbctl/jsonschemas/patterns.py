"""Regular expressions out of a schema: whether a text fits one, and texts that should.

They are run by jsonschema-rs, which takes them as ECMA 262 has them and does not run away: Python's `re` takes seconds
for `^(a+)+$` on 30 characters.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import inf, prod
from typing import Any

import jsonschema_rs

from osbctl.jsonschemas.walk import UndecidableError

MAX_PATTERN = 300
_MAX_NESTING = 12
_MAX_COUNT = 4096
_POOL = "a0A-_. bz19BZ/@:+x"
_EMPTY_ESCAPES = "bBAZ"
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
"""How much more a pattern costs that looks around or back: then the engine goes back and tries again."""
ALWAYS = frozenset({"", ".*", "^"})
"""Patterns that every string matches."""


@dataclass(frozen=True, slots=True)
class PatternPart:
    """A piece of a pattern: one character of `chars`, or `parts` in a row or by choice, repeated.

    `source` is how the pattern writes what is no more than one character, or none.
    """

    parts: tuple[PatternPart, ...] = ()
    chars: str = ""
    source: str = ""
    choice: bool = False
    zero_width: bool = False
    low: int = 1
    high: int | None = 1

    def size(self) -> int:
        """The single characters in it, repeated as often as they are counted out."""
        once = 1 + sum(part.size() for part in self.parts)
        return once * max(self.low, self.high or 0, 1)

    def most(self) -> float:
        """How often it may come."""
        return inf if self.high is None else self.high

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
    for engine in ENGINES:
        with suppress(ValueError):
            return jsonschema_rs.Draft7Validator({"pattern": pattern}, pattern_options=engine)
    return None


@lru_cache(maxsize=128)  # each may be 80 kB
def texts(pattern: str) -> tuple[str, ...]:
    """A few texts that probably match the pattern, the shortest first; none where it is not understood."""
    read = _read(pattern)
    if read is None:
        return ()
    return tuple(dict.fromkeys(read.text(v, n) for n, v in product((0, 1, 2, 4, 9), (0, 1))))


def edge_texts(pattern: str) -> list[str]:
    """Those of `texts`, and such as match by other characters, by many, or with one more around them."""
    read, found = _read(pattern), texts(pattern)
    if read is None:
        return []
    return [
        *found,
        *(read.text(variant, 0) for variant in range(2, 20)),
        f"{found[0]}-",
        f"-{found[0]}",
        read.text(0, 64),
    ]


_SIMPLE = re.compile(r"\[\^?(?:\\[dw]|\\[^a-zA-Z0-9]|[^\]\\\[&|~])+\]|\\[dw]|\\[^a-zA-Z0-9]|[^\\\[\](){}|.^$*+?]")
"""A class or character that Python and the engine take alike."""
_BRANCHES_A_STEP = 4
"""Pairs of branches that are held against each other in one step of the prover."""
_UNLIKE = re.compile(r"[*+?}]\+|\{,")
"""What may be a possessive quantifier, which other patterns take for none."""
_SPELLED = "09AZ_az"
"""The ends of what the escapes `d` and `w` stand for."""


def steps_within(old: str, new: str) -> int:
    """What `is_within` costs, in steps of the prover: each branch of one may be held against each of the other."""
    is_read = max(len(old), len(new)) <= MAX_PATTERN
    return 1 + is_read * old.count("|") * new.count("|") // _BRANCHES_A_STEP


def is_within(old: str, new: str) -> bool:
    """Whether every text that fits `old` is shown to fit `new`: piece by piece, for patterns that are built alike."""
    before, after = _read(old), _read(new)
    return bool(before and after and not _UNLIKE.search(old + new) and _is_found(before, after))


def _is_found(old: PatternPart, new: PatternPart) -> bool:
    """Whether `new` is found wherever `old` is: in a part of it, too, since nothing is asked of what stands around."""
    if old.choice or new.choice:
        rows = old.parts if old.choice else (old,)
        return all(any(_is_found(a, b) for b in (new.parts if new.choice else (new,))) for a in rows)
    length = len(new.parts)
    starts = range(len(old.parts) - length + 1)
    return any(all(map(_is_within, old.parts[start : start + length], new.parts)) for start in starts)


def _is_within(old: PatternPart, new: PatternPart) -> bool:
    """Whether `new` fits wherever `old` does, with as many characters."""
    if old == new:
        return True
    if old.zero_width or new.zero_width or old.low < new.low or old.most() > new.most():
        return False
    if old.source or new.source:
        return _is_subset(old.source, new.source)
    if new.choice:
        return all(any(_is_within(a, b) for b in new.parts) for a in (old.parts if old.choice else [old]))
    return len(old.parts) == len(new.parts) and all(map(_is_within, old.parts, new.parts))


@lru_cache(maxsize=4096)
def _is_subset(old: str, new: str) -> bool:
    """Whether each character of the one class is in the other: membership changes only where they spell something."""
    if not (_SIMPLE.fullmatch(old) and _SIMPLE.fullmatch(new)):
        return False
    points = {0, *(ord(char) + more for char in old + new + _SPELLED for more in (0, 1))} - {sys.maxunicode + 1}
    before, after = (re.compile(source, re.ASCII).fullmatch for source in (old, new))
    return all(after(char) for char in map(chr, points) if before(char))


_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d*)(,?)(\d*)\})[?+]?")
_OPENING = re.compile(r"\((?:\?(?::|=|!|<=|<!|P<\w+>))?(?!\?)")
_ONE = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^1-9pPkxucN])|\.|[^*+?\\\[(]")
"""A class, an escape, a dot or a plain character."""


def _read(pattern: str) -> PatternPart | None:
    """The part of the syntax that ECMA 262 and Python share; None for everything else."""
    if len(pattern) > MAX_PATTERN:
        return None
    try:
        part, at = _choice(pattern, 0, 0)
    except (UndecidableError, re.error, ValueError, OverflowError):
        return None
    return part if at == len(pattern) else None


def _choice(pattern: str, at: int, nesting: int) -> tuple[PatternPart, int]:
    """The branches from `at` on, and where they end."""
    if nesting > _MAX_NESTING:
        raise UndecidableError
    branches: list[list[PatternPart]] = [[]]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            branches.append([])
            at += 1
            continue
        atom, at = _atom(pattern, at, nesting)
        low, high, at = _repeated(pattern, at)
        branches[-1].append(PatternPart((atom,), low=low, high=high))
    rows = [PatternPart(tuple(branch)) for branch in branches]
    return rows[0] if len(rows) == 1 else PatternPart(tuple(rows), choice=True), at


def _repeated(pattern: str, at: int) -> tuple[int, int | None, int]:
    """How often the atom before `at` comes, and where the next one begins."""
    found = _QUANTIFIER.match(pattern, at)
    if not found or found.group().startswith(("{}", "{,}")):
        return 1, 1, at
    sign, low, comma, high = found.groups()
    if sign:
        return int(sign == "+"), 1 if sign == "?" else None, found.end()
    least = int(low or 0)
    return least, (int(high) if high else None) if comma else least, found.end()


def _atom(pattern: str, at: int, nesting: int) -> tuple[PatternPart, int]:
    if opening := _OPENING.match(pattern, at):
        inner, end = _choice(pattern, opening.end(), nesting + 1)
        if not pattern.startswith(")", end):
            raise UndecidableError
        looks = opening.group()[-1] in "=!"
        return PatternPart((inner,), source=opening.group() if looks else "", zero_width=looks), end + 1
    found = _ONE.match(pattern, at)
    text = found.group() if found else ""
    if not found or (text[0] == "[" and any(trap in text[1:] for trap in _CLASS_TRAPS)):
        raise UndecidableError
    if text in ("^", "$") or (text[0] == "\\" and text[1] in _EMPTY_ESCAPES):
        return PatternPart(source=text, zero_width=True), found.end()
    return PatternPart(chars=text, source=text) if len(text) == 1 and text != "." else _one(text), found.end()


def _one(source: str) -> PatternPart:
    """One character of those that a class, an escape or a dot stands for."""
    fits = re.compile(source).fullmatch
    # The class may name characters outside the pool itself.
    chars = "".join(char for char in dict.fromkeys(_POOL + source) if fits(char)) or "a"
    return PatternPart(chars=chars, source=source)
