"""Whether all texts that fit one pattern fit another, for patterns that are a row of characters with repetitions.

Each pattern becomes an automaton with a state between its steps. The search (a subset construction, with the old side
kept to single states) goes through texts that the old automaton takes, shortest first, until the new one is in no
state that accepts. Steps look at a character alone, and whether one fits changes only at characters that the patterns
spell out: of those between that fit the same steps, one stands for all.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_ATOM = re.compile(
    r"(?P<one>\[\^?(?:\\[dw]|\\[^a-zA-Z0-9]|[^\]\\\[&|~])+\]|\\[dw]|\\[^a-zA-Z0-9]|[^\\\[\](){}|.^$*+?])"
    r"(?:(?P<sign>[*+?])|\{(?P<low>\d{1,3})(?:(?P<comma>,)(?P<high>\d{0,3}))?\})?(?![*+?{])"
)
_MOST_STEPS, _MOST_WORK = 300, 50_000
"""Steps of a pattern; steps looked at, a character each, in all: some 20 ms."""
_SPELLED = "09AZ_az"
"""The ends of what the escapes `d` and `w` stand for."""


class _Step(NamedTuple):
    """A character that fits `one` (any where it is None); it may be left out, or come again."""

    one: str | None
    optional: bool
    again: bool


@lru_cache(maxsize=1024)
def difference(old: str, new: str) -> str | bool | None:
    """A text that fits `old` and not `new`; False where there is none, None where that cannot be decided."""
    before, after = _steps(old), _steps(new)
    if before is None or after is None:
        return None
    alphabet = _alphabet(old + new, {step.one for step in (*before, *after)})
    work = 0
    todo = [(state, _reached(after, {0}), "") for state in sorted(_reached(before, {0}))]
    seen = {(state, states) for state, states, _ in todo}
    for state, states, text in todo:  # which grows as it goes
        if state == len(before) and len(after) not in states:
            return text
        work += len(alphabet) * (1 + len(states))
        if work > _MOST_WORK:
            return None
        for char in alphabet:
            following = _moved(before, {state}, char)
            if not following:
                continue
            reached = _moved(after, states, char)
            for pair in ((one, reached) for one in sorted(following)):
                if pair not in seen:
                    seen.add(pair)
                    todo.append((*pair, text + char))
    return False


def _alphabet(source: str, ones: set[str | None]) -> list[str]:
    points = {0, *(ord(char) + more for char in source + _SPELLED for more in (0, 1))}
    chars = [chr(point) for point in sorted(points) if not 0xD800 <= point < 0xE000 and point < 0x110000]
    chars.sort(key=lambda char: (not char.isalnum(), not char.isprintable()))
    # One character for each way in which characters fit the steps: the readable ones come first, and the first stays.
    fitting = {tuple(_fits(one, char) for one in ones): char for char in reversed(chars)}
    return list(fitting.values())[::-1]


def _steps(pattern: str) -> list[_Step] | None:
    body = pattern.removeprefix("^")
    starts, ends = body != pattern, body.endswith("$") and not body.endswith("\\$")
    body = body[:-1] if ends else body
    anything = _Step(None, True, True)
    steps = [] if starts else [anything]
    at = 0
    while at < len(body):
        found = _ATOM.match(body, at)
        if not found or not _is_class(found["one"]):
            return None
        at = found.end()
        steps += _repeated(found)
        if len(steps) > _MOST_STEPS:
            return None
    return steps if ends else [*steps, anything]


def _is_class(source: str) -> bool:
    try:
        re.compile(source)
    except re.error:
        return False
    return "--" not in source  # which Python means to read otherwise


def _repeated(found: re.Match[str]) -> list[_Step]:
    sign, one = found["sign"], found["one"]
    low = int(found["low"] or 0) if found["low"] else int(sign not in ("*", "?"))
    endless = sign in ("*", "+") or bool(found["comma"] and not found["high"])
    high = max(low, int(found["high"])) if found["high"] else 1 if sign == "?" else low
    return [
        *[_Step(one, False, False)] * low,
        *([_Step(one, True, True)] if endless else [_Step(one, True, False)] * (high - low)),
    ]


def _moved(steps: list[_Step], states: set[int] | frozenset[int], char: str) -> frozenset[int]:
    after = set()
    for state in states:
        if state < len(steps) and _fits(steps[state].one, char):
            after.add(state + 1)
            if steps[state].again:
                after.add(state)
    return _reached(steps, after)


def _reached(steps: list[_Step], states: set[int]) -> frozenset[int]:
    """The states, and those behind what may be left out."""
    found = set(states)
    for state in range(len(steps)):
        if state in found and steps[state].optional:
            found.add(state + 1)
    return frozenset(found)


@lru_cache(maxsize=65_536)
def _fits(one: str | None, char: str) -> bool:
    return one is None or re.compile(one, re.ASCII | re.DOTALL).fullmatch(char) is not None
