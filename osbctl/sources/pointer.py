"""The catalog inside of a larger document: by a JSON pointer, or found to be named; and as Spring binds it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from osbctl.errors import DocumentError, UsageError
from osbctl.fields import PARTS, known
from osbctl.findings import Finding, Severity
from osbctl.paths import Path, entries, key_of, pointer, steps
from osbctl.sources.document import Document
from osbctl.text import did_you_mean

SEARCH_DEPTH = 8
"""How deep a catalog is looked for; the deepest met, in a Spring configuration, stands at 4."""


def below(document: Document, at: str) -> Document:
    """The part of `document` at the JSON pointer `at` (RFC 6901) as a document of its own.

    A list of service offerings that was pointed at is taken for `services`. In Spring's property of the catalog, fields
    get the names that Spring's broker sends.

    Raises:
        UsageError: `at` is no JSON pointer.
        DocumentError: it leads nowhere, or to what is no object.
    """
    value: Any = document.data
    path: Path = ()
    for step in _steps(at):
        step_in = key_of(value, step)
        if step_in is None:
            raise DocumentError((_nowhere(document, value, path, step),))
        value = value[step_in]
        path = (*path, step_in)
    is_list = bool(at) and _is_offerings(value)
    if not isinstance(value, dict) and not is_list:
        raise DocumentError((_no_object(document, value, path),))
    data, dropped = ({"services": value}, 1) if is_list else (value, 0)
    part = document.reshaped(data, lambda inside: (*path, *inside[dropped:]))
    part = part._replace(notes=_notes_below(document.notes, path, dropped), top=path)
    return bound(part) if is_spring(at) else part


def find_catalog(data: Any) -> str | None:
    """The pointer of the catalog that stands deeper in a document without `services` at its top.

    The shallowest object with a list `services`, or else a list of service offerings; None if there is none.
    """
    level: list[tuple[str, Any]] = [("", data)]
    for _ in range(SEARCH_DEPTH):
        inside = ((f"{above}{pointer((key,))}", item) for above, value in level for key, item in entries(value))
        level = [(found, item) for found, item in inside if isinstance(item, dict | list)]
        for found, value in level:
            if _is_offerings(value.get("services") if isinstance(value, dict) else value):
                return found
    return None


def _is_offerings(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(item, dict) and isinstance(item.get("plans"), list) for item in value)


def _steps(at: str) -> tuple[str, ...]:
    if at and not at.startswith("/"):
        raise UsageError(f"{at!r} is not a JSON pointer", f"it begins with a slash: --at /{at.replace('.', '/')}")
    if re.search(r"~(?![01])", at):
        raise UsageError(f"{at!r} is not a JSON pointer", "a tilde in a key is written ~0, a slash ~1")
    return steps(at)


def _notes_below(notes: tuple[Finding, ...], path: Path, dropped: int) -> tuple[Finding, ...]:
    """The notes about the part at `path`, with their paths in it, and those about the text as a whole."""
    cut = len(path)
    inserted: Path = ("services",) if dropped else ()
    return tuple(
        note._replace(path=(*inserted, *note.path[cut:])) if note.path else note
        for note in notes
        if not note.path or note.path[:cut] == path
    )


def _nowhere(document: Document, value: Any, path: Path, step: str) -> Finding:
    keys = list(value) if isinstance(value, dict) else []
    if isinstance(value, list):
        hint = f"it is an array of {len(value)}: write an index from 0" if value else "it is an empty array"
    else:
        hint = did_you_mean(step, keys) or (f"there are: {', '.join(keys[:10])}" if keys else "")
    where = pointer(path) or "the top"
    return _finding(document, "pointer-not-found", f"there is no {step[:60]!r} in {where}", path, hint)


def _no_object(document: Document, value: Any, path: Path) -> Finding:
    kinds = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    kind = kinds.get(type(value), "null")
    hint = "a catalog is an object with `services`"
    if _is_offerings(value):
        hint = 'this looks like a list of service offerings: wrap it as {"services": […]}'
    elif (found := find_catalog(value)) is not None:
        hint = f"the catalog is deeper: add --at {pointer(path)}{found}"
    what = f"the value at {pointer(path)}" if path else "the document"
    return _finding(document, "not-an-object", f"{what} is {kind}, not an object", path, hint)


def _finding(document: Document, rule: str, message: str, path: Path, hint: str) -> Finding:
    return Finding(rule, Severity.ERROR, message, path, document.locate([path])[path], hint=hint)


_PREFIX = "/spring/cloud/openservicebroker/catalog"


def is_spring(at: str) -> bool:
    """Whether the pointer leads into Spring's property of the catalog, written as a tree or with dots."""
    return (at + "/").replace(".", "/").startswith(_PREFIX + "/")


def bound(document: Document) -> Document:
    """`document` with the fields of a catalog under the names that Spring's broker sends them by.

    Spring binds `planUpdateable`, `plan-updateable` and `PLANUPDATEABLE` to one property, sent as `plan_updateable`
    (Spring Boot reference, Relaxed Binding). Keys of parameter schemas and of other maps are taken as they are.
    A name that stands there already is kept. Places are those of the text, under the names that stand in it.
    """
    written: dict[Path, str] = {}
    data = _bound(document.data, "catalog", (), written)

    def as_written(path: Path) -> Path:
        return tuple(written.get(path[:at], path[at - 1]) for at in range(1, len(path) + 1))

    # Without `text`: the names in it are others than those in `data`.
    return document.reshaped(data, as_written)._replace(text="") if written else document


def _bound(value: Any, kind: str, path: Path, written: dict[Path, str]) -> Any:
    if isinstance(value, list):
        return [_bound(item, kind, (*path, index), written) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, item in value.items():
        bound_to = _names(kind).get(_uniform(key)) or key
        name = key if bound_to in value else bound_to
        if name != key:
            written[*path, name] = key
        inner = PARTS.get(kind, {}).get(name)
        found[name] = _bound(item, inner, (*path, name), written) if inner else item
    return found


@cache
def _names(kind: str) -> dict[str, str]:
    return {_uniform(name): name for name in known(kind)}


def _uniform(key: str) -> str:
    return key.replace("-", "").replace("_", "").lower()
