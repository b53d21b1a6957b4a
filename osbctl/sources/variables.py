"""Variables of a broker's environment, and files that assign them (dotenv, or direnv's `.envrc`)."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from osbctl.paths import JsonPath, entries
from osbctl.sources.document import ParsedText

ENVIRONMENT = "the environment"

_PIECE = r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s;'"\\]+"""
_ASSIGNMENT = re.compile(
    rf"""^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=(?:((?=['"])(?>(?:{_PIECE})*))|([^\s;]*))(?![^\s;])""",
    re.MULTILINE | re.DOTALL,
)
_QUOTING = frozenset("'\"\\")
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
_OTHER_NAMES = {
    "BROKERPAK_TERRAFORM_UPGRADES_ENABLED": "TERRAFORM_UPGRADES_ENABLED",
    "REQUEST_PROPERTY_VALIDATION_DISABLED": "CSB_DISABLE_REQUEST_PROPERTY_VALIDATION",
}
"""Settings of a broker's configuration whose variables have another name (pkg/featureflags/feature_flags.go)."""


def variables_of_configuration(document: ParsedText) -> dict[str, Variable]:
    """The settings in a configuration of cloud-service-broker (its `--config`), by the names of their variables.

    `service: {NAME: {plans: '…'}}` is `GSB_SERVICE_NAME_PLANS`. The broker reads no lists, of objects only `defaults`.
    """
    spans = document.spans()
    found = {}
    for path, value in _settings(document.data, ()):
        upper = "_".join(map(str, path)).upper().replace(".", "_").replace("-", "_")
        name = _OTHER_NAMES.get(upper, f"GSB_{upper}")
        text = value if isinstance(value, str) else json.dumps(value)
        span = spans.get(path)
        before = document.text[: span.start + len(span.style)] if span and span.style in ("'", '"', "") else ""
        moved = "\n" * before.count("\n") + " " * (len(before) - before.rfind("\n") - 1) + text
        found[name] = Variable(name, text, document.name, moved)
    return found


def _settings(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, Any]]:
    if path[-1:] == ("defaults",) or not isinstance(value, dict | list | None):
        yield path, value
    for key, item in entries(value) if isinstance(value, dict) and path[-1:] != ("defaults",) else ():
        yield from _settings(item, (*path, key))


def parse_variables(text: str, source: str) -> dict[str, Variable]:
    """Parse the assignments of a file; the last of a name counts, other lines are skipped. No shell is run."""
    found = {}
    for match in _ASSIGNMENT.finditer(text):
        pieces = re.findall(_PIECE, match[2] or "", re.DOTALL)
        value = "".join(map(_unquote, pieces)) if pieces else match[3]
        before = text[: match.start(2) + 1 if pieces else match.start(3)]
        moved = "\n" * before.count("\n") + " " * (len(before) - before.rfind("\n") - 1) + value
        computed = any(_COMPUTED.search(piece) for piece in pieces or [value] if not piece.startswith("'"))
        computed |= not pieces and not _QUOTING.isdisjoint(value)
        found[match[1]] = Variable(match[1], value, source, moved, computed)
    return found


def _unquote(piece: str) -> str:
    """A piece of a word as a shell reads it: in quotes, behind a backslash, or plain."""
    if piece.startswith("'"):
        return piece[1:-1]
    return _ESCAPE.sub(r"\1", piece[1:-1]) if piece.startswith('"') else piece.removeprefix("\\")
