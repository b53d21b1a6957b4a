"""JSON values in Ruby: printing, comparison, indexing.

The Cloud Controller is a Ruby program, and its messages and crashes follow Ruby's rules. Numbers with a
fraction or an exponent arrive there as `BigDecimal`, never as `Float`.
"""

from __future__ import annotations

import json
import unicodedata
from decimal import Decimal
from typing import Any

from osbctl.paths import Path

_SPACES = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000").union(map(chr, range(0x2000, 0x200B)))
"""`[[:space:]]` of a Unicode regular expression; Python's `isspace` also takes U+001C to U+001F."""

_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\f": "\\f",
    "\v": "\\v",
    "\b": "\\b",
    "\a": "\\a",
    "\x1b": "\\e",
}
_UNPRINTABLE = ("Cc", "Cs", "Cn", "Zl", "Zp")
_WORTH_COUNTING = 6
"""ActiveSupport writes `<`, `>`, `&`, U+2028 and U+2029 with 6 characters; nothing grows by more."""


class RubyCrash(Exception):  # noqa: N818  # not an error of ours: the platform's way to fail
    """An exception that nothing in the platform catches: the place that it comes from, and why."""

    def __init__(self, path: Path, reason: str = "its references go round in a circle") -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


def is_blank(text: str) -> bool:
    """No character but white space, by Unicode's definition of it."""
    return not text or (text[0] in _SPACES and all(char in _SPACES for char in text))


def inspect(value: Any) -> str:
    """`value.inspect`, as in Ruby 3.0 to 3.3."""
    if isinstance(value, str):
        return _inspect_text(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{inspect(key)}=>{inspect(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inspect, value)) + "]"
    if isinstance(value, float):
        return _scientific(value)
    return _WORDS.get(value, "") if value is None or isinstance(value, bool) else str(value)


def to_s(value: Any) -> str:
    """`value.to_s`: what string interpolation prints."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float):
        return _plain(value)
    return inspect(value)


_WORDS = {None: "nil", True: "true", False: "false"}


def _inspect_text(text: str) -> str:
    if text.isascii() and text.isprintable() and not any(char in text for char in '"\\#'):
        return f'"{text}"'
    parts = [_escaped(char, text[index + 1 : index + 2]) for index, char in enumerate(text)]
    return '"' + "".join(parts) + '"'


def _escaped(char: str, following: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char == "#" and following and following in "{$@":
        return "\\#"
    if unicodedata.category(char) not in _UNPRINTABLE:
        return char
    return f"\\u{ord(char):04X}" if ord(char) < 0x10000 else f"\\u{{{ord(char):X}}}"


def _scientific(value: float) -> str:
    """`BigDecimal#inspect`: `0.15e1`."""
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    minus = "-" if sign else ""
    return f"{minus}0.{text}e{len(digits) + int(exponent)}" if text.strip("0") else f"{minus}0.0"


def _plain(value: float) -> str:
    """`BigDecimal#to_s` under ActiveSupport: no exponent, and always a point."""
    whole, _, fraction = format(Decimal(repr(value)), "f").partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"


_CLASSES = {str: "String", dict: "Hash", list: "Array", int: "Integer", float: "BigDecimal", type(None): "NilClass"}


def ruby_class(value: Any) -> str:
    """The name of the value's class: `String`, `Integer`, `BigDecimal`, `NilClass` and so on."""
    return f"{value}Class" if isinstance(value, bool) else _CLASSES[type(value)]


def index(receiver: dict[str, Any] | str, key: str) -> Any:
    """`receiver[key]` for a string key: a Hash is looked up and a String searched."""
    if isinstance(receiver, dict):
        return receiver.get(key)
    return key if key in receiver else None


def equal_in_ruby(value: Any, *, strict: bool) -> Any:
    """A key that is equal for values that Ruby holds equal.

    `strict` follows `eql?` (a Hash key, `uniq`), where 1 and 1.0 differ; else `==`, where they do not.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        items = ((key, equal_in_ruby(item, strict=strict)) for key, item in value.items())
        return ("Hash", frozenset(items))
    if isinstance(value, list):
        return ("Array", tuple(equal_in_ruby(item, strict=strict) for item in value))
    if value is None or isinstance(value, bool):
        return ("word", value)
    kind = ruby_class(value) if strict else "number"
    number = Decimal(repr(value)) if isinstance(value, float) else value
    return (kind, number)


def json_length(value: Any, limit: int) -> int:
    """The characters of `value.to_json` under ActiveSupport; below `limit` it may be a lower bound."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if len(text) * _WORTH_COUNTING <= limit and "e+" not in text and "e-" not in text:
        return len(text)
    text = json.dumps(_decimals_as_text(value), separators=(",", ":"), ensure_ascii=False)
    return len(text) + sum(text.count(char) for char in "<>&\u2028\u2029") * (_WORTH_COUNTING - 1)


def _decimals_as_text(value: Any) -> Any:
    """A BigDecimal is written as a string, so that no reader rounds it."""
    if isinstance(value, dict):
        return {key: _decimals_as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_decimals_as_text(item) for item in value]
    return _plain(value) if isinstance(value, float) else value
