"""JSON values as YAML text that every reader takes for the same values, YAML 1.1 readers too."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from osbctl.sources.yaml_scalars import BOOLEANS_OF_1_1, CONSTANTS, NUMERIC
from osbctl.text import escaped, is_safe, without_commands

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


class _Dumper(yaml.SafeDumper):
    """Block style, keys in order, no aliases; a string is quoted where any reader could take it for something else."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # the name of the base class
        return True


def _string(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None
    if without_commands(value) != value or not all(c == "\n" or is_safe(c) for c in value):
        style = '"'
    elif "\n" in value and not value[0].isspace() and all(c.isprintable() or c == "\n" for c in value):
        style = "|"
    elif value in CONSTANTS or value in BOOLEANS_OF_1_1 or value[:1] in NUMERIC:
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _float(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    text = repr(value)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    if "e" in text and "e-" not in text and "e+" not in text:
        text = text.replace("e", "e+")
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


_Dumper.add_representer(str, _string)
_Dumper.add_representer(float, _float)


def dump(data: Any) -> str:
    """The YAML text of a JSON value, ending with a newline; the same bytes for the same value.

    It can be shown at a terminal: controls and direction marks stand as escapes.
    """
    text: str = yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=False
    )
    return escaped(text)


def dump_text(value: str) -> str:
    """One string as `dump` means it: plain where it can be nothing else, else in quotation marks, on one line."""
    if _PLAIN.fullmatch(value) and value not in CONSTANTS and value not in BOOLEANS_OF_1_1:
        return value
    return escaped(json.dumps(value, ensure_ascii=False))
