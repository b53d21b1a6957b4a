"""Variables of a broker's environment: of a process, or of a file of assignments (dotenv, or direnv's `.envrc`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

ENVIRONMENT = "the environment"

_PIECE = r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\;]+"""
_PIECES = re.compile(_PIECE, re.DOTALL)
_ASSIGNMENT = re.compile(rf"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=((?:{_PIECE})*)", re.MULTILINE | re.DOTALL)
_ESCAPE = re.compile(r"""\\(["\\$`\n])""")
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
    return {one.name: one for one in _assigned(text, source)}


def _assigned(text: str, source: str) -> Iterator[Variable]:
    for match in _ASSIGNMENT.finditer(text):
        pieces = _PIECES.findall(match[2])
        computed = any(piece[0] != "'" and _COMPUTED.search(piece) for piece in pieces)
        value = "".join(map(_unquoted, pieces))
        # Behind quotes and escapes inside of the value, columns would not be those of the file.
        start = match.start(2) + (match[2][:1] in ("'", '"'))
        line = text.rfind("\n", 0, start) + 1
        yield Variable(
            match[1], value, source, "\n" * text.count("\n", 0, line) + " " * (start - line) + value, computed
        )


def _unquoted(piece: str) -> str:
    if piece[0] == "'":
        return piece[1:-1]
    if piece[0] == '"':
        return _ESCAPE.sub(lambda escape: escape[1].strip("\n"), piece[1:-1])
    return piece[1:].strip("\n") if piece[0] == "\\" else piece
