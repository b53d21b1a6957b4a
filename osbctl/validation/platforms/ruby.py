"""How Ruby shows and compares JSON values: Cloud Foundry's words quote them that way.

The Cloud Controller reads numbers with a fraction as BigDecimal.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from osbctl.validation import patterns

_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\v": "\\v",
    "\f": "\\f",
    "\b": "\\b",
    "\a": "\\a",
    "\x1b": "\\e",
    "\x7f": "\\x7F",
}
_SPACES = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000").union(map(chr, range(0x2000, 0x200B)))


_PATTERN_FAULTS = {
    "unterminated character set": "premature end of char-class",
    "missing ), unterminated subpattern": "end pattern with unmatched parenthesis",
    "unbalanced parenthesis": "unmatched close parenthesis",
    "nothing to repeat": "target of repeat operator is not specified",
    "bad escape (end of pattern)": "too short escape sequence",
}
"""Faults of a pattern that both languages know: Python's words, and Ruby's."""


def inspect(value: Any) -> str:
    """`value.inspect`."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{_escaped(value)}"'
    if isinstance(value, float):
        return _scientific(value)
    if isinstance(value, list):
        return f"[{', '.join(map(inspect, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{inspect(key)}=>{inspect(item)}" for key, item in value.items()) + "}"
    return str(value)


def to_s(value: Any) -> str:
    """`value.to_s`, as in a string's `#{…}`."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return _plain(value) if isinstance(value, float) else inspect(value)


def class_name(value: Any) -> str:
    """The name of the class of a value that is no string."""
    names: dict[type, str] = {
        dict: "Hash",
        list: "Array",
        int: "Integer",
        float: "BigDecimal",
        bool: "TrueClass" if value else "FalseClass",
    }
    return names.get(type(value), "NilClass")


def truthy(value: Any) -> bool:
    """Whether Ruby holds `value` for true: anything but nil and false, so 0 and "" too."""
    return value is not None and value is not False


def is_blank(text: str) -> bool:
    """Whether `text` has no character but white space, as `[[:space:]]` sees it."""
    return _SPACES.issuperset(text)


def json_length(value: Any) -> int:
    """The characters of `value.to_json` (ActiveSupport): `<`, `>`, `&` and U+2028, U+2029 count as six each."""
    text = json.dumps(_decimals_as_strings(value), ensure_ascii=False, separators=(",", ":"))
    return len(text) + 5 * sum(map(text.count, "<>&\u2028\u2029"))


def eql(value: Any) -> Any:
    """A key that is the same for values that are `eql?`: 1 and 1.0 are not."""
    return _key(value, lambda number: (type(number).__name__, number))


def equal(value: Any) -> Any:
    """A key that is the same for values that are `==`: 1 and 1.0 are."""
    return _key(value, lambda number: ("number", number))


def to_i(text: str) -> int:
    """`text.to_i`: the digits that it begins with, else 0."""
    match = re.match(r"\s*([+-]?[0-9]+)", text)
    return int(match[1]) if match else 0


def pattern_fault(pattern: str) -> str:
    """What `Regexp.new` says of a broken pattern; empty where it takes it, as far as Python can tell."""
    fault = patterns.fault(pattern)
    told = next((told for words, told in _PATTERN_FAULTS.items() if fault.startswith(words)), "")
    return f"{told}: /{pattern}/" if told else ""


def at(value: Any, key: str) -> Any:
    """`value[key]` of a Hash or a String; of a String it is the key itself where that occurs in it."""
    if isinstance(value, str):
        return key if key in value else None
    return value.get(key)


def receiver(value: Any) -> str:
    """How an error calls the value that lacks a method."""
    if value is None or isinstance(value, bool):
        return inspect(value)
    return f"an instance of {'String' if isinstance(value, str) else class_name(value)}"


def not_a_hash(value: Any) -> str:
    """What Ruby says where `value` is taken for the Hash of a schema, and is none."""
    if type(value) in (list, int):
        return "no implicit conversion of String into Integer"
    return f"undefined method `{'each' if isinstance(value, str) else '[]'}' for {receiver(value)}"


def _key(value: Any, number: Any) -> Any:
    if isinstance(value, dict):
        return frozenset((key, _key(item, number)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(_key(item, number) for item in value)
    if isinstance(value, bool) or value is None:
        return ("constant", value)
    return value if isinstance(value, str) else number(value)


def _escaped(text: str) -> str:
    if text.isascii() and text.isprintable() and not any(mark in text for mark in '"\\#'):
        return text
    return "".join(_character(text, index) for index in range(len(text)))


def _character(text: str, index: int) -> str:
    character = text[index]
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character == "#" and text[index + 1 : index + 2] in ("{", "$", "@"):
        return "\\#"
    if " " <= character <= "~" or _printable(character):
        return character
    code = ord(character)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\u{{{code:X}}}"


def _printable(character: str) -> bool:
    import unicodedata

    return unicodedata.category(character) not in ("Cc", "Cn", "Cs", "Zl", "Zp")


def _scientific(value: float) -> str:
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    if not any(digits):
        return "-0.0" if sign else "0.0"
    assert isinstance(exponent, int)
    return f"{'-' if sign else ''}0.{''.join(map(str, digits))}e{len(digits) + exponent}"


def _plain(value: float) -> str:
    text = f"{Decimal(repr(value)):f}"
    return text if "." in text else text + ".0"


def _decimals_as_strings(value: Any) -> Any:
    if isinstance(value, float):
        return _plain(value)
    if isinstance(value, dict):
        return {key: _decimals_as_strings(item) for key, item in value.items()}
    return [_decimals_as_strings(item) for item in value] if isinstance(value, list) else value
