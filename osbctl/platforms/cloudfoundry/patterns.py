"""The patterns that Ruby's Onigmo does not compile, in its words. Nothing here runs a pattern."""

from __future__ import annotations

from osbctl.platforms.cloudfoundry.ruby import RubyError

_QUANTIFIERS = "*+?"


class BrokenPattern(RubyError):  # noqa: N818  # the platform's, not ours
    """Onigmo does not compile the pattern."""

    def __init__(self, told: str, pattern: str) -> None:
        super().__init__(f"{told}: /{pattern}/")
        self.pattern = pattern


def check_pattern(pattern: str) -> None:
    """Raises RubyError for a pattern with a fault of the common kinds; others pass as good."""
    told = _fault_of_atoms(pattern) or _fault_of_groups(_without_atoms(pattern))
    if told:
        raise BrokenPattern(told, pattern)


def _fault_of_atoms(pattern: str) -> str | None:
    """An escape or a class of characters that does not end."""
    at = 0
    while at < len(pattern):
        end = _end_of_atom(pattern, at)
        if end < 0:
            if pattern[at] == "\\":
                return "too short escape sequence"
            return "empty char-class" if pattern[at:] == "[]" else "premature end of char-class"
        at = end
    return None


def _without_atoms(pattern: str) -> str:
    """The pattern with a letter in the place of each escape and class."""
    parts, at = [], 0
    while at < len(pattern):
        end = _end_of_atom(pattern, at)
        parts.append("a" if pattern[at] in "\\[" else pattern[at])
        at = end
    return "".join(parts)


def _fault_of_groups(plain: str) -> str | None:
    depth = 0
    before = "("
    for char in plain.replace("(?", "(a"):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth < 0:
            return "unmatched close parenthesis"
        if char in _QUANTIFIERS and before in "(|":
            return "target of repeat operator is not specified"
        before = char
    if plain.endswith("(?"):
        return "end pattern in group"
    return "end pattern with unmatched parenthesis" if depth else None


def _end_of_atom(pattern: str, at: int) -> int:
    """The index after the escape, class or character at `at`; -1 where it does not end."""
    if pattern[at] == "\\":
        return at + 2 if at + 1 < len(pattern) else -1
    return _end_of_class(pattern, at) if pattern[at] == "[" else at + 1


def _end_of_class(pattern: str, at: int) -> int:
    """Ruby's classes nest; a bracket right after the opening one stands for itself."""
    depth = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[":
            depth += 1
            at += 1 if pattern[at + 1 : at + 2] == "^" else 0
            at += 1 if pattern[at + 1 : at + 2] == "]" else 0
        elif char == "]":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return -1
