"""JSON text (RFC 8259) to plain values.

The standard library's scanner reads; what it would let pass (duplicate keys, NaN, numbers out of range, lone
surrogates, depth) is noticed by its hooks, and only then a second, slower walk finds out where.
"""

from __future__ import annotations

import contextlib
import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # undocumented, but public since Python 2.6
from typing import Any, NoReturn

from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.paths import depth
from osbctl.sources.limits import MAX_DIGITS, MAX_PROBLEMS, TOO_DEEP_HINT, Limits
from osbctl.sources.text_lines import DECIMAL_COMMA, Lines, is_decimal_comma


class _SuspectInputError(Exception):  # not an error yet: the walk decides and says where
    """A hook has seen something that the walk must look at."""


def parse(text: str, name: str, limits: Limits) -> Any:
    """The value that `text` holds. Raises DocumentError: the text is no JSON, or JSON that readers disagree about."""
    if not text.strip(" \t\r\n"):
        raise DocumentError((_finding("empty-document", "the document is empty", Lines(name, text).at(0)),))
    try:
        value = _DECODER.decode(text)
    except (_SuspectInputError, ValueError, RecursionError):  # the latter is far beyond any limit
        unclear = _finding("syntax", "this is not JSON", Lines(name, text).at(0))
        raise DocumentError(_Walk(text, name, limits).problems() or (unclear,)) from None
    # Most texts have no backslash at all, and to look for one character is many times faster than for three.
    halves = "\\" in text and ("\\ud" in text or "\\uD" in text)
    suspect = depth(value) > limits.depth or (halves and not _encodable(value))
    if suspect and (problems := _Walk(text, name, limits).problems()):
        raise DocumentError(problems)
    return value


def _finding(rule: str, message: str, place: Location, hint: str = "") -> Finding:
    return Finding(rule, Severity.ERROR, message, (), place, hint=hint)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _SuspectInputError
    return value


def _refused(_: str) -> NoReturn:
    raise _SuspectInputError


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise _SuspectInputError
    return value


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise _SuspectInputError
    return int(text)


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refused, parse_float=_finite, parse_int=_whole)


def _encodable(value: Any) -> bool:
    """Return whether all strings of a value are Unicode text. Escaped surrogate pairs are valid."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


_NUMBER = re.compile(r"(-?(?:0|[1-9]\d*))(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_WORD = re.compile("true|false|null|(NaN|Infinity|-Infinity)")


class _Walk:
    """Goes through a text that is suspect, token by token, and says what is wrong and where.

    Iterative, so that depth cannot hurt it. Stops at the first fault of syntax, since what follows
    would be guesswork; faults that leave the structure whole are gathered.
    """

    def __init__(self, text: str, name: str, limits: Limits) -> None:
        self._text, self._lines = text, Lines(name, text)
        self._depth = limits.depth
        self._problems: list[Finding] = []

    def problems(self) -> tuple[Finding, ...]:
        """Problems of the text."""
        with contextlib.suppress(_SuspectInputError):
            self._walk()
        return tuple(self._problems)

    def _problem(self, rule: str, message: str, offset: int, hint: str = "") -> None:
        self._problems.append(_finding(rule, message, self._lines.at(offset), hint))
        if len(self._problems) >= MAX_PROBLEMS:
            raise _SuspectInputError

    def _stop(self, rule: str, message: str, offset: int, hint: str = "") -> NoReturn:
        self._problem(rule, message, offset, hint)
        raise _SuspectInputError

    def _walk(self) -> None:
        stack: list[dict[str, int] | None] = []  # an object's keys with their offsets, None for an array
        at = past_space(self._text, 0)
        while True:
            character = self._text[at : at + 1]
            if character in ("{", "["):
                if len(stack) >= self._depth:
                    message = f"nested deeper than {self._depth} levels"
                    self._stop("nesting-too-deep", message, at, TOO_DEEP_HINT)
                stack.append({} if character == "{" else None)
                at = past_space(self._text, at + 1)
                if self._text[at : at + 1] != ("}" if character == "{" else "]"):
                    at = self._key(at, stack[-1])
                    continue
            else:
                at = self._scalar(at)
                at = past_space(self._text, at)
            while stack:
                closing = "]" if stack[-1] is None else "}"
                character = self._text[at : at + 1]
                if character == ",":
                    at = self._key(past_space(self._text, at + 1), stack[-1], after_comma=True)
                    break
                if character != closing:
                    self._unclosed(at, closing)
                stack.pop()
                at = past_space(self._text, at + 1)
            else:
                if self._text[at : at + 1] in ("{", "["):
                    self._stop("several-documents", "a second document begins here; a catalog is one", at)
                if at < len(self._text):
                    self._stop("syntax", f"text after the end of the document: {_shown(self._text, at)}", at)
                return

    def _key(self, at: int, keys: dict[str, int] | None, after_comma: bool = False) -> int:
        """Past the key and colon where an object's entry begins; where the value begins, either way."""
        character = self._text[at : at + 1]
        if after_comma and character in ("}", "]"):
            comma = self._text.rindex(",", 0, at)
            self._stop("syntax", "a comma before the closing bracket", comma, "JSON has none: remove the comma")
        if keys is None:
            return at
        if after_comma and is_decimal_comma(self._text, at):
            message, hint = DECIMAL_COMMA
            self._stop("syntax", message, at, hint)
        if character != '"':
            self._stop(
                "syntax",
                f"a key in double quotes is expected, not {_shown(self._text, at)}",
                at,
                _value_hint(self._text, at),
            )
        key, end = self._string(at)
        if key in keys:
            first = self._lines.at(keys[key])
            message = (
                f"the key {_short(key)} appears twice in one object; first at line {first.line}, column {first.column}"
            )
            self._problem("duplicate-key", message, at, "readers disagree about which one counts: remove one")
        keys.setdefault(key, at)
        colon = past_space(self._text, end)
        if self._text[colon : colon + 1] != ":":
            message = f"a colon is expected after the key {_short(key)}"
            self._stop("syntax", message, colon, "" if colon < len(self._text) else _CUT_SHORT)
        return past_space(self._text, colon + 1)

    def _scalar(self, at: int) -> int:
        text = self._text
        if text.startswith('"', at):
            return self._string(at)[1]
        if word := _WORD.match(text, at):
            if word[1]:
                self._problem("number-out-of-range", f"{word[1]} is not a JSON number", at, "write a number, or null")
            return word.end()
        match = _NUMBER.match(text, at)
        if not match:
            self._stop("syntax", f"a value is expected, not {_shown(text, at)}", at, _value_hint(text, at))
        self._number(match, at)
        return match.end()

    def _number(self, match: re.Match[str], at: int) -> None:
        whole, fraction, exponent = match.groups()
        following = self._text[match.end() : match.end() + 1]
        if following.isalnum() or following in (".", "_"):
            self._stop(
                "syntax",
                f"this is not a JSON number: {_shown(self._text, at)}",
                at,
                "no leading zeros, no hexadecimal, a digit after the point and in the exponent",
            )
        if fraction is None and exponent is None:
            if len(whole) > MAX_DIGITS:
                message = f"an integer of {len(whole)} digits; at most {MAX_DIGITS} are read"
                self._problem("number-out-of-range", message, at, "write it as a string")
        elif abs(float(match[0])) == float("inf"):
            message = f"{_short(match[0])} is larger than any number that readers keep"
            self._problem("number-out-of-range", message, at, "write it as a string")

    def _string(self, at: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self._text, at + 1, True)
        except ValueError as error:
            offset = getattr(error, "pos", at)
            if offset == at:
                self._stop("syntax", "a string that is never closed", at, 'close it with "')
            message = str(getattr(error, "msg", "a string is wrong")).removesuffix(" at")
            self._stop(
                "syntax", f"{message[0].lower()}{message[1:]} in a string", offset, "escape it, as \\n or \\u0000"
            )
        if any("\ud800" <= character <= "\udfff" for character in value):
            message = "half of a surrogate pair stands alone: this is not Unicode text"
            self._problem("lone-surrogate", message, at, "write the whole character")
        return value, end

    def _unclosed(self, at: int, closing: str) -> NoReturn:
        if at >= len(self._text):
            self._stop("syntax", f"the document ends before its {closing!r}", max(at - 1, 0), _CUT_SHORT)
        hint = "is a comma missing?" if self._text[at] in '"{[-0123456789tfn' else _value_hint(self._text, at)
        self._stop("syntax", f"a comma or {closing!r} is expected, not {_shown(self._text, at)}", at, hint)


_SPACE = re.compile(r"[ \t\r\n]*")


def past_space(text: str, at: int) -> int:
    """Offset of the next token."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too


def _shown(text: str, at: int) -> str:
    return _short(text[at : at + 20].split("\n")[0]) if at < len(text) else "the end of the document"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


_CUT_SHORT = "is it cut short?"


def _value_hint(text: str, at: int) -> str:
    if at >= len(text):
        return _CUT_SHORT
    if text[at : at + 2] in ("//", "/*") or text[at : at + 1] == "#":
        return "JSON has no comments; YAML has"
    for wrong, right in (("true", "true"), ("false", "false"), ("none", "null"), ("null", "null")):
        if text[at : at + len(wrong)].lower() == wrong:
            return f"write {right}"
    if text[at : at + 1] in ("+", "-", "."):
        return "a JSON number begins with a digit, or a minus and a digit"
    return "JSON knows straight double quotes only" if text[at] in "'“”‘’`" else ""
