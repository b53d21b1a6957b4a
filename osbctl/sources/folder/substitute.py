"""`${NAME}` and `${NAME:-default}` in string values; `$${` stands for a literal `${`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from osbctl.paths import Path

_REFERENCE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{[^}]*\}?")


def copied(
    value: Any,
    variables: Mapping[str, str],
    problem: Callable[[str, Path], None],
    path: Path = (),
) -> Any:
    """A copy of `value` with references replaced.

    `problem` is called, with the path of the string, of a name that is not set and of a malformed reference.
    """
    if isinstance(value, dict):
        return {key: copied(item, variables, problem, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item, variables, problem, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, str) and "${" in value:
        return _replaced(value, variables, lambda message: problem(message, path))
    return value


def escaped(value: Any) -> Any:
    """A copy of `value` that `copied` turns into `value` again."""
    if isinstance(value, dict):
        return {key: escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [escaped(item) for item in value]
    return value.replace("${", "$${") if isinstance(value, str) else value


def _replaced(text: str, variables: Mapping[str, str], problem: Callable[[str], None]) -> str:
    def replace(match: re.Match[str]) -> str:
        name: str | None = match[1]
        default: str | None = match[2]
        if match[0] == "$${":
            return "${"
        if name is None:
            problem(f"{match[0]!r} is not a reference: write ${{NAME}} or ${{NAME:-default}}")
            return match[0]
        value = variables.get(name) if name in variables else default
        if value is None:
            problem(f"${{{name}}} is not set")
            return match[0]
        return value

    return _REFERENCE.sub(replace, text)
