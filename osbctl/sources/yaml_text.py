"""Write JSON values as YAML text that readers of YAML 1.1 and of YAML 1.2 read alike."""

import json
import re
from typing import Any

import yaml

from osbctl.sources.yaml_reader import BOOLEANS_OF_1_1, CONSTANTS, NUMERIC
from osbctl.text import escape_ci_commands, escape_text, is_safe_character

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


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
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    if text.endswith("\n...\n"):  # PyYAML ends a document whose last text ends with empty lines
        text = text[:-4]
    return escape_text(text)


def dump_string(value: str) -> str:
    """One string as YAML on one line: plain if that is unambiguous, else quoted."""
    if _PLAIN.fullmatch(value) and value not in CONSTANTS and value not in BOOLEANS_OF_1_1:
        return value
    return escape_text(json.dumps(value, ensure_ascii=False))
