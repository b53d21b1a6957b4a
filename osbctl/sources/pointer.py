"""The catalog inside of a larger document: by a JSON pointer, or found to be named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from osbctl.errors import DocumentError, UsageError
from osbctl.findings import Finding, Severity

if TYPE_CHECKING:
    from osbctl.findings import Location, Path
    from osbctl.sources.document import Document

SEARCH_DEPTH = 8
"""How deep a catalog is looked for; the deepest met, in a Spring configuration, stands at 4."""


def below(document: Document, at: str) -> Document:
    """The part of `document` at the JSON pointer `at` (RFC 6901) as a document of its own.

    A list of service offerings that was pointed at is taken for `services`.

    Raises:
        UsageError: `at` is no JSON pointer.
        DocumentError: it leads nowhere, or to what is no object.
    """
    value: Any = document.data
    path: Path = ()
    for step in _steps(at):
        step_in = _index(value, step)
        if step_in is None:
            raise DocumentError((_nowhere(document, value, path, step),))
        value = value[step_in]
        path = (*path, step_in)
    if at and isinstance(value, list) and _is_offerings(value):
        return _moved(document, {"services": value}, path, 1)
    if not isinstance(value, dict):
        raise DocumentError((_no_object(document, value, path),))
    return _moved(document, value, path, 0)


def find_catalog(data: dict[str, Any]) -> str | None:
    """The pointer of the catalog that stands deeper in a document without `services` at its top.

    The shallowest object with a list `services`, or else a list of service offerings; None if there is none.
    """
    level: list[tuple[str, Any]] = [("", data)]
    for _ in range(SEARCH_DEPTH):
        for pointer, value in level:
            if pointer and (_is_catalog(value) or (isinstance(value, list) and _is_offerings(value))):
                return pointer
        level = [
            (f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}", item)
            for pointer, value in level
            if isinstance(value, dict)
            for key, item in value.items()
            if isinstance(item, dict | list)
        ]
    return None


def _is_catalog(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("services"), list) and _is_offerings(value["services"])


def _is_offerings(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(item, dict) and isinstance(item.get("plans"), list) for item in value)


def _steps(at: str) -> list[str]:
    if at and not at.startswith("/"):
        raise UsageError(f"{at!r} is no JSON pointer", f"it begins with a slash: --at /{at.replace('.', '/')}")
    return [step.replace("~1", "/").replace("~0", "~") for step in at.split("/")[1:]]


def _index(value: Any, step: str) -> str | int | None:
    if isinstance(value, dict):
        return step if step in value else None
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        return int(step)
    return None


def _moved(document: Document, data: dict[str, Any], path: Path, dropped: int) -> Document:
    """`document` with `data` as its top, which stands at `path` without the first `dropped` steps of each path."""

    def locate(paths: frozenset[Path]) -> dict[Path, Location]:
        whole = {inside: (*path, *inside[dropped:]) for inside in paths}
        places = document.locator(frozenset(whole.values()))
        return {inside: places[there] for inside, there in whole.items()}

    return replace(document, data=data, locator=locate)


def _nowhere(document: Document, value: Any, path: Path, step: str) -> Finding:
    from difflib import get_close_matches

    keys = list(value) if isinstance(value, dict) else []
    close = get_close_matches(step, keys, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(keys[:10])}" if keys else ""
    where = "/" + "/".join(map(str, path)) if path else "the top"
    return _finding(document, "pointer-not-found", f"there is no {step!r} in {where}", path, hint)


def _no_object(document: Document, value: Any, path: Path) -> Finding:
    kinds = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    kind = kinds.get(type(value), "null")
    hint = "a catalog is an object with `services`"
    if isinstance(value, list) and _is_offerings(value):
        hint = 'this looks like a list of service offerings: wrap it as {"services": […]}'
    return _finding(document, "not-an-object", f"the document is {kind}, not an object", path, hint)


def _finding(document: Document, rule: str, message: str, path: Path, hint: str) -> Finding:
    place = document.locator(frozenset([path]))[path]
    return Finding(rule, Severity.ERROR, message, path, place, hint=hint)
