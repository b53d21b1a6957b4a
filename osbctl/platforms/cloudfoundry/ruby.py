"""JSON values in Ruby (printing, comparison, indexing), and the errors that the Cloud Controller gathers.

The Cloud Controller is a Ruby program, and its messages and crashes follow Ruby's rules. It reads numbers with a
fraction or an exponent as `BigDecimal`, never as `Float`.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from osbctl.messages import Message, Sentence
from osbctl.paths import JsonPath
from osbctl.platforms.cloudfoundry import PLATFORM
from osbctl.platforms.verdict import MAX_REFUSALS, Refusal

_SEPARATORS = "\x1c\x1d\x1e\x1f"
"""White space in Python, not in Ruby's `[[:space:]]`."""

_ESCAPES = dict(zip('"\\\n\r\t\f\v\b\a\x1b', '"\\nrtfvbae', strict=True))
_UNPRINTABLE = ("Cc", "Cs", "Cn", "Zl", "Zp")
_FRACTION = re.compile(r"\d[.e]")
_WORDS = {None: "nil", True: "true", False: "false"}


class RubyCrash(Exception):  # noqa: N818  # not an error of ours: the platform's way to fail
    """An exception that nothing in the platform catches: its location and cause."""

    def __init__(self, path: JsonPath, reason: str = "its references go round in a circle") -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


def is_blank(text: str) -> bool:
    """Return whether `text` has no character but white space, as Unicode defines it."""
    return all(char.isspace() and char not in _SEPARATORS for char in text)


def inspect(value: Any) -> str:
    """`value.inspect`, as in Ruby 3.0 to 3.3."""
    if isinstance(value, str):
        return '"' + "".join(map(_escape_char, value, value[1:] + " ")) + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{inspect(key)}=>{inspect(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inspect, value)) + "]"
    if isinstance(value, float):
        return _inspect_big_decimal(value)
    return _WORDS[value] if value is None or isinstance(value, bool) else str(value)


def to_s(value: Any) -> str:
    """`value.to_s`: what string interpolation prints."""
    if isinstance(value, float):
        return _big_decimal_to_s(repr(value))
    return value if isinstance(value, str) else "" if value is None else inspect(value)


def _escape_char(char: str, following: str) -> str:
    """A character as `String#inspect` prints it; `following` is the next one, which decides whether # is escaped."""
    if char in _ESCAPES:
        return "\\" + _ESCAPES[char]
    if char == "#" and following in "{$@":
        return "\\#"
    if unicodedata.category(char) not in _UNPRINTABLE:
        return char
    return f"\\u{ord(char):04X}" if ord(char) < 0x10000 else f"\\u{{{ord(char):X}}}"


def _inspect_big_decimal(value: float) -> str:
    """`BigDecimal#inspect`: `0.15e1`."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    minus = "-" if sign else ""
    return f"{minus}0.{text}e{len(digits) + int(exponent)}" if value else f"{minus}0.0"


def _big_decimal_to_s(number: str) -> str:
    """`BigDecimal#to_s` under ActiveSupport: no exponent, and always a point."""
    whole, _, fraction = format(Decimal(number), "f").partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"


def strip(name: str) -> str:
    """`name.strip`: a name as `strip_attributes` of service.rb and service_plan.rb stores it."""
    return name.strip(PLATFORM.stripped_from_names)


def lower(name: str) -> str:
    """A name in lower case as databases have it, one character by one: no final sigma, no dot above beside an i."""
    return "".join(char.lower()[0] for char in name)


def normalize_plan_name(name: str) -> str:
    """The form of a plan's name that is unique in its service offering.

    The columns are `citext` on PostgreSQL (`lower()`) and `utf8_general_ci` on MySQL, which compares without accents,
    too (db/migrations/20130131184954_new_initial_schema.rb).
    """
    return lower(strip(name))


def get_item(receiver: dict[str, Any] | str, key: str) -> Any:
    """`receiver[key]` for a string key: a Hash is looked up and a String searched."""
    if isinstance(receiver, dict):
        return receiver.get(key)
    return key if key in receiver else None


def equality_key(value: Any) -> str:
    """A text that is the same for values which `eql?` holds equal: a Hash in any order, but not 1 and 1.0."""
    return json.dumps(value, sort_keys=True)


def json_length(value: Any) -> int:
    """The characters of `value.to_json` as config/initializers/json.rb sets it up: a BigDecimal is a number."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    decimals: list[str] = []
    if _FRACTION.search(text):  # few schemas have one, and each is measured
        json.loads(text, parse_float=decimals.append)
    longer = sum(len(_big_decimal_to_s(number)) - len(number) for number in decimals)
    return len(text) + longer + sum(text.count(char) for char in "<>&\u2028\u2029") * len("u003c")


_INDENT = "  "


class Errors:
    """Errors of one object, then of the objects in it; `heading` is printed above both.

    Reasons beyond `MAX_REFUSALS` are omitted.
    """

    __slots__ = ("heading", "nested", "number", "own")

    def __init__(self, heading: Sentence = "") -> None:
        self.heading = heading
        self.own: list[Refusal] = []
        self.nested: list[Errors] = []
        self.number = 0

    def add(
        self, rule: str, path: JsonPath, sentence: Sentence, hint: Sentence = "", *, is_wrong_type: bool = False
    ) -> None:
        """Add a reason, in the platform's words."""
        if len(self.own) <= MAX_REFUSALS:
            self.own.append(Refusal(rule, path, sentence, hint, is_wrong_type=is_wrong_type))

    def nest(self, errors: "Errors") -> None:
        """Add the errors of an object inside this one, if it has any."""
        if errors and self.number <= MAX_REFUSALS:
            self.nested.append(errors)
            self.number += errors.number + len(errors.own)

    def __bool__(self) -> bool:
        return bool(self.own or self.nested)

    def refusals(self) -> Iterator[Refusal]:
        """All reasons, in the order of their lines."""
        yield from self.own
        for errors in self.nested:
            yield from errors.refusals()

    def lines(self, indent: str = "") -> Iterator[Sentence]:
        """The lines as the operator sees them."""
        for refusal in self.own:
            yield Message("{}{}", indent, refusal.sentence)
        for errors in self.nested:
            yield Message("{}{}", indent, errors.heading)
            yield from errors.lines(indent + _INDENT)
