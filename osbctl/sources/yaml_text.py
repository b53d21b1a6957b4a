"""Meaning of plain YAML scalars, placeholders in them, and a writer of YAML.

Plain scalars have the types of the YAML 1.2 core schema (10.3.2); YAML 1.1 readers differ. Written text has the same
values for both.
"""

import json
import re
from typing import Any

import yaml

from osbctl.text import escape_ci_commands, escape_text, is_safe_character

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

NUMERIC = frozenset("0123456789+-.")
"""First characters of plain scalars that may be numbers."""

BOOLEANS_OF_1_1 = frozenset(
    form for word in ("y", "n", "yes", "no", "on", "off") for form in (word, word.capitalize(), word.upper())
)

_NUMBER = re.compile(
    r"(?P<integer>[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)

_OTHERWISE_IN_1_1 = re.compile(
    r"(?=[-+]?(?:0|[0-9.]*[_:eE]|[0-9]{4}-))"  # excludes most scalars at once
    r"(?:(?P<octal>[-+]?0[0-7]+)"
    r"|(?P<text>[-+]?0[0-9]+|0o[0-7]+|[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][0-9]+|[-+]?[0-9]+[eE][-+][0-9]+)"
    r"|(?P<hexadecimal>[-+]?0x(?=[0-9a-fA-F]*_|[-+])[0-9a-fA-F_]+|[-+]0x[0-9a-fA-F_]+)"
    r"|(?P<binary>[-+]?0b[01_]+)"
    r"|(?P<decimal>[-+]?(?=[0-9_]*_)[0-9][0-9_]*(?:\.[0-9_]*)?)"
    r"|(?P<sexagesimal>[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)"
    r"|(?P<date>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?))"
)
_MEANINGS = {"text": "text", "date": "a date", "sexagesimal": "a number of base 60"}
_BASES = {"octal": 8, "hexadecimal": 16, "binary": 2, "decimal": 10}


_PLACEHOLDER = re.compile(r"(?<![^\s:,\[{?-])@(?=[\w.-]+@)")
"""The beginning of `@project.version@`, which Maven replaces, and which YAML cannot scan."""
_MASK = "\uf8fe"
"""A character for private use that replaces the first `@`."""


def mask_placeholders(text: str) -> str:
    """The text with the same offsets that YAML can scan, or the same text if it has no placeholders of Maven."""
    return text if _MASK in text else _PLACEHOLDER.sub(_MASK, text)


class PlaceholderLoader(yaml.CSafeLoader):
    """A loader of a text with placeholders; `placeholders` are the marks of plain scalars that begin with one."""

    def __init__(self, text: str) -> None:
        super().__init__(mask_placeholders(text))
        self.placeholders: list[Any] = []

    def get_event(self) -> Any:
        """Return the next event, with the value as it is in the text."""
        event: Any = super().get_event()
        if isinstance(event, yaml.ScalarEvent) and _MASK in event.value:
            if event.value[0] == _MASK and event.style not in ("'", '"', "|", ">"):
                self.placeholders.append(event.start_mark)
            event.value = event.value.replace(_MASK, "@")
        return event


class OutOfRangeError(ValueError):
    """A number that JSON cannot hold; its text has `{}` in place of the number."""


def parse_number(text: str, max_digits: int) -> int | float | str:
    """The number of a plain scalar, else `text` itself. Raises OutOfRangeError: not finite, or over `max_digits`."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    if match["integer"]:
        if len(text) > max_digits:
            raise OutOfRangeError(f"an integer of {len(text)} digits; at most {max_digits} are read")
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if match["float"] is None:
        raise OutOfRangeError("{} is not a number that JSON can hold")
    value = float(text)
    if value - value != 0:
        raise OutOfRangeError("{} is larger than any number that readers keep")
    return value


def meaning_in_1_1(text: str) -> str:
    """YAML 1.1 meaning of a plain scalar, in words; empty if it does not differ."""
    if text in BOOLEANS_OF_1_1:
        return "true" if text.lower() in ("y", "yes", "on") else "false"
    match = _OTHERWISE_IN_1_1.fullmatch(text)
    if match is None or match.lastgroup in _MEANINGS:
        return _MEANINGS[match.lastgroup or ""] if match else ""
    try:
        return str(int(text.replace("_", ""), _BASES[match.lastgroup or ""]))
    except ValueError:  # a fraction, no digit at all, or thousands of them
        return "a number"


class _Dumper(yaml.SafeDumper):
    """Block style, keys in order, no aliases; ambiguous strings are quoted. libyaml's would escape emoji."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # the name of the base class
        return True


def _represent_string(dumper: Any, value: str) -> Any:
    style = None
    if escape_ci_commands(value) != value or not all(c == "\n" or is_safe_character(c) for c in value):
        style = '"'
    elif "\n" in value and not value[0].isspace() and all(c.isprintable() or c == "\n" for c in value):
        style = "|"
    elif value in CONSTANTS or value in BOOLEANS_OF_1_1 or value[:1] in NUMERIC:
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _represent_float(dumper: Any, value: float) -> Any:
    text = repr(value)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    if "e" in text and "e-" not in text and "e+" not in text:
        text = text.replace("e", "e+")
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


_Dumper.add_representer(str, _represent_string)
_Dumper.add_representer(float, _represent_float)


def dump(data: Any) -> str:
    """A JSON value as YAML, the same bytes for the same value; control characters and direction marks are escaped."""
    text: str = yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=False
    )
    if text.endswith("\n...\n"):  # PyYAML ends a document whose last text ends with empty lines
        text = text[:-4]
    return escape_text(text)


def dump_string(value: str) -> str:
    """One string as YAML on one line: plain if that is unambiguous, else quoted."""
    if _PLAIN.fullmatch(value) and value not in CONSTANTS and value not in BOOLEANS_OF_1_1:
        return value
    return escape_text(json.dumps(value, ensure_ascii=False))
