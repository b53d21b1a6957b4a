"""Variables of a broker's environment, and files that assign them (dotenv, or direnv's `.envrc`)."""

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
    """A variable with its `source`: a file, or `ENVIRONMENT`.

    `text` is the value, indented by line ends and blanks, so that locations in it are those of the file. `computed`: a
    shell would compute another value.
    """

    name: str
    value: str
    source: str = ENVIRONMENT
    text: str = ""
    computed: bool = False


Variables: TypeAlias = Mapping[str, Variable]
VariablesOf: TypeAlias = Callable[[str], Variables]
"""A function from a source to its variables; called only for a brokerpak."""


def no_variables(_: str) -> Variables:
    """Return no variables."""
    return {}


def parse_variables(text: str, source: str) -> dict[str, Variable]:
    """Parse the assignments of a file; the last of a name counts, other lines are skipped. No shell is run."""
    found = {}
    for match in _ASSIGNMENT.finditer(text):
        group = match.lastindex or 0
        value = _ESCAPE.sub(r"\1", match[group]) if match[3] else match[group]
        before = text[: match.start(group)]
        moved = "\n" * before.count("\n") + " " * (len(before) - before.rfind("\n") - 1) + value
        computed = not match[2] and bool(_COMPUTED.search(match[group]))
        found[match[1]] = Variable(match[1], value, source, moved, computed)
    return found
