"""Variables of a broker's environment: of a process, or of a file of assignments (dotenv, or direnv's `.envrc`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

ENVIRONMENT = "the environment"

_ASSIGNMENT = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|([^\s;]*))(?![^\s;])""",
    re.MULTILINE | re.DOTALL,
)
_ESCAPE = re.compile(r"""\\(["\\$`])""")
_COMPUTED = re.compile(r"(?<!\\)(?:\$[\w({]|`)")


class Variable(NamedTuple):
    """A variable, and the file that it was read from, or `ENVIRONMENT`.

    `text` is the value behind as many blanks and line ends as put it where it stands in the file. `computed`: a shell
    would make another value of it.
    """

    name: str
    value: str
    source: str = ENVIRONMENT
    text: str = ""
    computed: bool = False


Variables: TypeAlias = Mapping[str, Variable]
VariablesOf: TypeAlias = Callable[[str], Variables]
"""The variables that hold for a source; called only where that is a brokerpak."""


def no_variables(_: str) -> Variables:
    """No variables: the default of a source."""
    return {}


def parse_variables(text: str, source: str) -> dict[str, Variable]:
    """The variables that a file assigns; the last value of a name counts, other lines are skipped. No shell is run."""
    found = {}
    for match in _ASSIGNMENT.finditer(text):
        group = match.lastindex or 0
        value = _ESCAPE.sub(r"\1", match[group]) if match[3] else match[group]
        before = text[: match.start(group)]
        moved = "\n" * before.count("\n") + " " * (len(before) - before.rfind("\n") - 1) + value
        computed = not match[2] and bool(_COMPUTED.search(match[group]))
        found[match[1]] = Variable(match[1], value, source, moved, computed)
    return found
