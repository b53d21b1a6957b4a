"""Read JSON text (RFC 8259), and locate its values.

The standard library's scanner reads. `json.load` alone is not enough: it takes the last of two equal keys, reads NaN,
keeps half a surrogate pair, exceeds Python's stack on deep text, and knows no places. Hooks notice such input, and only
then a slower walk finds out where it is; the same walk gives the places of findings.
"""

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # undocumented, but public since Python 2.6
from typing import Any

from osbctl.findings import DocumentError
from osbctl.paths import JsonPath, depth
from osbctl.sources.places import DECIMAL_COMMA, FaultRecorder, Lines, Span, TextFault, is_decimal_comma
from osbctl.sources.read_bytes import DEFAULT_LIMITS, MAX_DIGITS, Limits


class _SuspectInputError(Exception):  # not an error yet: the walk decides and says where
    """A hook has found input that the walk must check."""


_ESCAPED_SURROGATE = re.compile(r"\\u[dD]")


def parse(text: str, name: str, limits: Limits, *, is_secret: bool = False) -> tuple[Any, tuple[TextFault, ...]]:
    """The value, and faults that readers interpret differently or not at all. Raises DocumentError: it is not JSON.

    `is_secret`: any part of the text may be, so that messages quote none.
    """
    if not text.strip(" \t\r\n"):
        raise DocumentError((Lines(name, text).error("empty-document", "the document is empty", 0),))
    walk = _Walk(text, name, limits.depth, is_secret=is_secret)
    try:
        value = _DECODER.decode(text)
    except (_SuspectInputError, ValueError, RecursionError):  # the latter is far beyond any limit
        walk.walk_document()
        try:
            return _LENIENT_DECODER.decode(text), tuple(walk.faults)
        except (ValueError, RecursionError):
            raise DocumentError((Lines(name, text).error("syntax", "this is not JSON", 0),)) from None
    if depth(value) > limits.depth or _ESCAPED_SURROGATE.search(text):
        walk.walk_document()
    return value, tuple(walk.faults)


def _build_object_of_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object. Raises _SuspectInputError, as the other hooks: the input must be checked."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _SuspectInputError
    return value


def _parse_finite_float(text: str) -> float:
    """Parse a number, or one of JavaScript's constants, which are not finite."""
    value = float(text)
    if value - value != 0:
        raise _SuspectInputError
    return value


def _parse_short_integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise _SuspectInputError
    return int(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_build_object_of_unique_keys,
    parse_constant=_parse_finite_float,
    parse_float=_parse_finite_float,
    parse_int=_parse_short_integer,
)
_LENIENT_DECODER = json.JSONDecoder(
    parse_constant=str, parse_int=lambda text: int(text) if len(text) <= MAX_DIGITS else text
)


def locate(text: str, name: str) -> Span:
    """The span of the value in `text`, which must be valid JSON, with the spans of all values in it."""
    return _Walk(text, name, DEFAULT_LIMITS.depth).walk_document()


_CLOSING = {"{": "}", "[": "]"}
_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9]\d*))(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_WORD = re.compile("true|false|null|(NaN|Infinity|-Infinity)")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Walk(FaultRecorder):
    """A walk over a text, token by token, that finds the span of each value, and the faults.

    Stops at the first fault of syntax, since what follows would be guesswork, and at the limit of depth, so that
    recursion is safe; faults that leave the structure whole are gathered.
    """

    def walk_document(self) -> Span:
        """The span of the value. Raises DocumentError, with all faults: one of syntax or of depth ends the walk."""
        span, offset = self._walk_value(self._skip_space(0), (), (0, 0))
        span.shown_end = span.start  # reports underline no whole document
        if self._text[offset : offset + 1] in ("{", "["):
            self._fail("several-documents", "a second document begins here; a catalog is one", offset)
        if offset < len(self._text):
            self._fail("syntax", f"text after the end of the document: {_quote_text_at(self._text, offset)}", offset)
        return span

    def _skip_space(self, offset: int) -> int:
        return _SPACE.match(self._text, offset).end()  # type: ignore[union-attr]  # it matches nothing, too

    def _walk_value(self, start: int, path: JsonPath, key: tuple[int, int]) -> tuple[Span, int]:
        """The span of the value at `start`, with those in it, and the offset of the next token."""
        self._path, self._last = path, start
        first = self._text[start : start + 1]
        closing = _CLOSING.get(first)
        if closing and len(path) >= self._depth:
            self._fail_too_deep(start)
        if not closing:
            span = Span(start, self._walk_scalar(start), key)
            if first == '"':
                span.style = first
        else:
            span = Span(start, start, key)
            span.below = {}
            self._open_spans.append(span)
            span.end = self._walk_collection(span, path, closing)
            self._open_spans.pop()
            span.shown_end = key[1] or span.end
        return span, self._skip_space(span.end)

    def _walk_collection(self, span: Span, path: JsonPath, closing: str) -> int:
        """Find the spans of the values in the object or array that `span` begins; return its end."""
        keys: dict[str, int] = {}
        offset, index = self._skip_space(span.start + 1), 0
        while self._text[offset : offset + 1] != closing:
            if index:
                offset = self._skip_comma(offset, closing)
            if closing == "]":
                span.below[index], offset = self._walk_value(offset, (*path, index), (0, 0))
            else:
                key, end = self._walk_key(offset, keys)
                self._path = inner = (*path, key)
                self._last = offset
                if key in span.below:
                    span.unread = span.unread or []  # the empty one is shared
                    span.unread.append((key, span.below[key]))
                span.below[key], offset = self._walk_value(self._skip_colon(key, end), inner, (offset, end))
            index += 1
        return offset + 1

    def _skip_comma(self, offset: int, closing: str) -> int:
        """The offset of the token after the comma that must stand here; `closing` is the expected bracket."""
        if offset >= len(self._text):
            self._fail("syntax", f"the document ends before its {closing!r}", max(offset - 1, 0), _CUT_SHORT)
        if self._text[offset] != ",":
            self._path = (*self._path, self._text[self._last : offset][:99].strip('" \r\n'))  # a key, before a colon
            begins_value = self._text[offset] in '"{[-0123456789tfn'
            hint = "is a comma missing?" if begins_value else _wrong_value_hint(self._text, offset)
            found = _quote_text_at(self._text, offset)
            bracket = repr(closing).replace("}", "}}")  # the message is a template
            self._fail("syntax", f"a comma or {bracket} is expected, not {{}}", offset, hint, found)
        following = self._skip_space(offset + 1)
        if self._text[following : following + 1] in ("}", "]"):
            self._fail("syntax", "a comma before the closing bracket", offset, "JSON has none: remove the comma")
        return following

    def _walk_key(self, offset: int, keys: dict[str, int]) -> tuple[str, int]:
        """The key that begins at `offset`, and its end."""
        if keys and is_decimal_comma(self._text, offset):
            message, hint = DECIMAL_COMMA
            self._fail("syntax", message, offset, hint)
        if self._text[offset : offset + 1] != '"':
            found, hint = _quote_text_at(self._text, offset), _wrong_value_hint(self._text, offset)
            self._fail("syntax", "a key in double quotes is expected, not {}", offset, hint, found)
        key, end = self._walk_string(offset)
        if key in keys:
            shown = _short_repr(key)
            message = "the key {} appears twice in one object"
            hint = "readers disagree about which one counts: remove one"
            self._report("duplicate-key", message, offset, hint, shown, keys[key])
        keys.setdefault(key, offset)
        return key, end

    def _skip_colon(self, key: str, end: int) -> int:
        colon = self._skip_space(end)
        if self._text[colon : colon + 1] != ":":
            shown, hint = _short_repr(key), "" if colon < len(self._text) else _CUT_SHORT
            self._fail("syntax", "a colon is expected after the key {}", colon, hint, shown)
        return self._skip_space(colon + 1)

    def _walk_scalar(self, offset: int) -> int:
        """Check the scalar that begins at `offset`; return its end."""
        text = self._text
        if text.startswith('"', offset):
            return self._walk_string(offset)[1]
        if word := _WORD.match(text, offset):
            if word[1]:
                message = f"{word[1]} is not a JSON number"
                self._report("number-out-of-range", message, offset, "write a number, or null")
            return word.end()
        return self._walk_number(offset)

    def _walk_number(self, offset: int) -> int:
        match = _NUMBER.match(self._text, offset)
        if not match:
            found, hint = _quote_text_at(self._text, offset), _wrong_value_hint(self._text, offset)
            self._fail("syntax", "a value is expected, not {}", offset, hint, found)
        whole, fraction, exponent = match.groups()
        following = self._text[match.end() : match.end() + 1]
        if following.isalnum() or following in (".", "_"):
            hint = "no leading zeros, no hexadecimal, a digit after the point and in the exponent"
            found = _quote_text_at(self._text, offset)
            self._fail("syntax", "this is not a JSON number: {}", offset, hint, found)
        if fraction is None and exponent is None:
            if len(whole) > MAX_DIGITS:
                message = f"an integer of {len(whole)} digits; at most {MAX_DIGITS} are read"
                self._report("number-out-of-range", message, offset, "write it as a string")
        elif abs(float(match[0])) == float("inf"):
            shown = _short_repr(match[0])
            message = "{} is larger than any number that readers keep"
            self._report("number-out-of-range", message, offset, "write it as a string", shown)
        return match.end()

    def _walk_string(self, offset: int) -> tuple[str, int]:
        """The string that begins at `offset`, and its end."""
        try:
            value, end = scanstring(self._text, offset + 1, True)
        except ValueError as error:
            fault = getattr(error, "pos", offset)
            if fault == offset:
                self._fail("syntax", "a string that is never closed", offset, 'close it with "')
            reason = str(getattr(error, "msg", "a string is wrong")).removesuffix(" at")
            message = f"{reason[0].lower()}{reason[1:]} in a string"
            self._fail("syntax", message, fault, "escape it, as \\n or \\u0000")
        if _SURROGATE.search(value):
            message = "half of a surrogate pair stands alone: this is not Unicode text"
            self._report("lone-surrogate", message, offset, "write the whole character")
        return value, end


def _quote_text_at(text: str, offset: int) -> str:
    if offset >= len(text):
        return "the end of the document"
    from osbctl.masking import mask_secrets  # only a fault needs it

    shown = re.split(r"(?<!^)\\|\n", text[offset : offset + 20])[0]  # an escape may be of a secret name
    return _short_repr(mask_secrets(shown))


def _short_repr(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


_CUT_SHORT = "is it cut short?"


def _wrong_value_hint(text: str, offset: int) -> str:
    if offset >= len(text):
        return _CUT_SHORT
    if text[offset : offset + 2] in ("//", "/*") or text[offset : offset + 1] == "#":
        return "JSON has no comments; YAML has"
    for wrong, right in (("true", "true"), ("false", "false"), ("none", "null"), ("null", "null")):
        if text[offset : offset + len(wrong)].lower() == wrong:
            return f"write {right}"
    if text[offset : offset + 1] in ("+", "-", "."):
        return "a JSON number begins with a digit, or a minus and a digit"
    return "JSON knows straight double quotes only" if text[offset] in "'“”‘’`" else ""
