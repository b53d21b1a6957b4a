"""The patterns that Ruby's Onigmo does not compile, in its words. Nothing here runs a pattern.

Ruby's grammar of patterns is not worked out, only the faults that people make: an escape, a group or a class of another
language, a range the wrong way round. What is not known here passes as good.
Source: Ruby 3.3, re.c (`unescape_nonascii`); Onigmo 1d7ee878b3e4, regparse.c; measured.
"""

from __future__ import annotations

import re

from osbctl.platforms.cloudfoundry.ruby import RubyError

_QUANTIFIERS = "*+?"
_MOST = 100_000

_ESCAPES = (
    (r"\\u\Z", "too short escape sequence"),
    (r"\\u\{\s*([^0-9a-fA-F\s]|\Z)|\\u\{[^}]{0,99}\Z", "invalid Unicode list"),
    (r"\\u\{[^}]{0,99}?(?:\w{7}|1[1-9a-fA-F]\w{4}|[2-9a-fA-F]\w{5})", "invalid Unicode range"),
    (r"\\u(?:\{[^}]{0,99}?\b0{0,2})?[dD][89a-fA-F][0-9a-fA-F]{2}", "invalid Unicode range"),
    (r"\\u(?!\{)(?![0-9a-fA-F]{4})", "invalid Unicode escape"),
    (r"\\x(?![0-9a-fA-F])", "invalid hex escape"),
    (r"\\[4-7][0-7]{2}", "invalid escape code"),
    (r"\\M(?!-.)", "too short meta escape"),
    (r"\\C(?!-.)|\\c\Z", "too short control escape"),
)
"""What Ruby says of an escape before it reads the pattern; escaped backslashes are out of the way."""

_GROUPS = (
    (r"\(\?#[^)]{0,999}\Z", "end pattern in group"),
    (r"\(\?[^:=!><~'(imxaud#-]|\(\?[imxaud-]{1,9}[^imxaud:)-]", "undefined group option"),
    (r"\(\?[imxaud]{0,9}-[imx]{0,9}[aud]", "undefined group option"),
    (r"\(\?(?:<(?![=!])|')([0-9-][^>')]{0,99})[>']", "invalid group name <{}>"),
    (r"\(\?(?:<>|'')", "group name is empty"),
    (r"\(\?<=[^()]{0,99}(?:[*+?]|\{\d{0,6},\d{0,6}\})|\(\?<!\((?!\?)", "invalid pattern in look-behind"),
)
"""What Onigmo says of a group; a letter stands in the place of each escape and class."""

_CLASSES = (
    (
        r"\[:(?!\^?(?:alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit|ascii|word):)[^\]:]{0,20}:\]",
        "invalid POSIX bracket type",
    ),
    (r"\\[wWdDsShH]-(?!\]|&&)", "unmatched range specifier in char-class"),
    (r"[^\\\[^-]-\\[wWdDsShH]", "char-class value at end of range"),
)
"""What it says of a class of characters; the text looked at begins after its bracket."""

_HEADS = re.compile(r"\(\?(?:[:=!>~]|<[=!])")
_RANGE = re.compile(r"(?<![\\-])([^\\\[\]&-])-([^\\\[\]&-])")
_INTERVAL = re.compile(r"\{(\d{0,9})(?:(,)(\d{0,9}))?\}")
_PROPERTY = re.compile(r"\\[pP]\{\^?([^}=]{0,99}=[^}]{0,99})\}")
_NAME = re.compile(r"\(\?[<']([^\W\d]\w{0,99})[>']")


class BrokenPattern(RubyError):  # noqa: N818  # the platform's, not ours
    """Onigmo does not compile the pattern."""

    def __init__(self, text: str, pattern: str) -> None:
        super().__init__(f"{text}: /{pattern}/")
        self.pattern = pattern


def check_pattern(pattern: str) -> None:
    """Raises RubyError for a pattern with a fault of the known kinds; others pass as good."""
    text = _fault(pattern)
    if text:
        raise BrokenPattern(text, pattern)


def _fault(pattern: str) -> str | None:
    bare = pattern.replace("\\\\", "a")
    if "\\" in bare and (text := _first(_ESCAPES, bare)):
        return text
    if text := _fault_of_atoms(pattern):
        return text
    plain = _without_atoms(pattern)
    return (
        _first(_GROUPS, plain) or _fault_of_groups(plain) or _fault_of_intervals(plain) or _fault_of_names(bare, plain)
    )


def _first(table: tuple[tuple[str, str], ...], text: str) -> str | None:
    for expression, message in table:
        if found := re.search(expression, text, re.DOTALL):
            return message.format(*found.groups())
    return None


def _fault_of_class(text: str) -> str | None:
    if message := _first(_CLASSES, text):
        return message
    wrong = any(found[1] > found[2] for found in _RANGE.finditer(text))
    return "empty range in char class" if wrong else None


def _fault_of_intervals(plain: str) -> str | None:
    for found in _INTERVAL.finditer(plain):
        low, _, high = found.groups()
        if not low and not high:
            continue
        if any(number and int(number) > _MOST for number in (low, high)):
            return "too big number for repeat range"
        if low and high and int(high) < int(low):
            return "upper is smaller than lower in repeat range"
        if plain[: found.start()].endswith(("(", "|", "(?:")) or not found.start():
            return "target of repeat operator is not specified"
    return None


def _fault_of_names(bare: str, plain: str) -> str | None:
    """What a reference refers to is looked up."""
    if found := _PROPERTY.search(bare):
        return None if found[1].lower().startswith("age=") else f"invalid character property name {{{found[1]}}}"
    names = set(_NAME.findall(plain))
    for kind, name in re.findall(r"\\([kg])<([^\W\d]\w{0,99})>", bare):
        if name not in names:
            return f"undefined name <{name}> {'reference' if kind == 'k' else 'call'}"
    numbers = [int(number) for number in re.findall(r"\\([1-9])(?![0-9])", re.sub(r"\[[^\]]{0,999}\]", "", bare))]
    if numbers and names:
        return "numbered backref/call is not allowed. (use name)"
    if numbers and max(numbers) > len(re.findall(r"\((?!\?)", plain)):
        return "invalid backref number/name"
    return None


def _fault_of_atoms(pattern: str) -> str | None:
    """An escape or a class of characters that does not end."""
    at = 0
    while at < len(pattern):
        end = _end_of_atom(pattern, at)
        if end < 0:
            if pattern[at] == "\\":
                return "too short escape sequence"
            return "empty char-class" if pattern[at:] in ("[]", "[^]") else "premature end of char-class"
        if pattern[at] == "[" and (text := _fault_of_class(pattern[at + 1 : end])):
            return text
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
    for char in _HEADS.sub("(", plain).replace("(?", "(a"):
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
