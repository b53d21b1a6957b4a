"""Regular expressions of schemas: what it costs to run one, and texts that should match.

jsonschema-rs runs them as ECMA 262 defines them, in bounded time: Python's `re` takes seconds for `^(a+)+$` on 30
characters.
"""

from __future__ import annotations

import re
from functools import lru_cache

import jsonschema_rs

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

_COUNTED = re.compile(r"([)}?*+]?)\{(\d{1,9}),?(\d{0,9})\}")


@lru_cache(maxsize=4096)
def weight(pattern: str) -> int:
    """The cost of a pattern for one character of a text: roughly the states that an engine has for it."""
    parts, groups = len(pattern), 1
    for before, low, high in _COUNTED.findall(pattern):
        count = min(int(high or low) or 1, 9_999)
        if before:
            groups *= count
        else:
            parts += count
    return parts * groups * (_LOOKING if re.search(r"\(\?<?[=!]|\\[1-9k]", pattern) else 1)


def affordable(length: int, weight: int) -> bool:
    """Return whether a pattern of this weight may be run on a text of so many characters."""
    return length <= _MAX_TEXT and length * weight <= _MAX_WORK


def gave_up(error: jsonschema_rs.ValidationError) -> bool:
    """Return whether a pattern took too long; wherever it stands, the whole value is undecided then."""
    kinds = jsonschema_rs.ValidationErrorKind
    return isinstance(error.kind, kinds.BacktrackLimitExceeded | kinds.RegexEngineFailure)


_MAX_PATTERN, _MAX_SAMPLE = 300, 4096
_POOL = "a0A-_. bz19BZ/@:+x"
_CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_QUANTIFIER = r"(?:([*+?])|\{(\d+(?:,\d*)?)\})?\??"
_SIGNS = {"*": "0,", "+": "1,", "?": "0,1"}
_GROUP = re.compile(rf"(?<!\\)\((\?(?::|<?[=!]|<\w+>))?((?:\\.|{_CLASS}|[^()\\\[])*)\){_QUANTIFIER}")
"""A group that holds no other."""
_OR = re.compile(r"(?<!\\)\|")
_PART = re.compile(rf"({_CLASS}|\\.|.){_QUANTIFIER}")


@lru_cache(maxsize=128)  # each may be 80 kB
def samples(pattern: str) -> tuple[str, ...]:
    """Texts that match the pattern if it is a plain one, or that only just do not; the simplest first."""
    if len(pattern) > _MAX_PATTERN:
        return ()
    variants = [(0, 0), (0, 1), *((variant, variant % 2) for variant in range(1, 20)), (0, 64)]
    found = [_sample(pattern, *variant) for variant in variants]
    return tuple(dict.fromkeys([*found, f"{found[0]}-", f"-{found[0]}"]))


def _sample(pattern: str, variant: int, longer: int) -> str:
    """A text made from a pattern; `variant` picks characters and branches, `longer` adds repetitions."""

    def repeated(text: str, sign: str, numbers: str) -> str:
        low, comma, high = (_SIGNS.get(sign, numbers) or "1").partition(",")
        most = int(high or _MAX_SAMPLE) if comma else int(low)
        return (text * min(int(low) + longer, most, _MAX_SAMPLE))[:_MAX_SAMPLE]

    def of_group(found: re.Match[str]) -> str:
        kind, body, *quantifier = found.groups(default="")
        branches = _OR.split(body)
        looks_around = kind.endswith(("=", "!"))
        return "" if looks_around else repeated(branches[variant % len(branches)], *quantifier)

    def of_part(found: re.Match[str]) -> str:
        part, *quantifier = found.groups(default="")
        chars = _chars(part)
        return repeated(chars[variant % len(chars)], *quantifier) if chars else ""

    inner, groups = f"({pattern})", 1
    while groups and len(inner) <= _MAX_SAMPLE:
        inner, groups = _GROUP.subn(of_group, inner)
    return _PART.sub(of_part, inner[:_MAX_SAMPLE])[:_MAX_SAMPLE]


@lru_cache(maxsize=1024)
def _chars(part: str) -> str:
    """Some of the characters that a class, an escape or a dot stands for, or the one that it is; none for an anchor."""
    if len(part) == 1 and part not in ".^$":
        return part
    try:
        fits = jsonschema_rs.Draft7Validator({"pattern": f"^{part}$"}).is_valid
    except ValueError:
        return ""
    # The class may name characters outside the pool itself.
    return "".join(char for char in dict.fromkeys(_POOL + part) if fits(char))
