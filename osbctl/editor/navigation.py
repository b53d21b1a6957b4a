"""Ways through a source for an editor.

A word leads somewhere: a `$ref` to the schema that it means, an id to its line in catalog.lock. The outline has the
service offerings and plans of a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from osbctl.editor.text_document import TextDocument, range_of
from osbctl.editor.vocabulary import root_length
from osbctl.paths import Path, get_at, resolve_pointer
from osbctl.sources.folder import LOCK
from osbctl.text import escape_line

Opened = Callable[[str], TextDocument]
"""Gives the file at a path, as it is in the editor, or else on disk."""

MOST_SYMBOLS = 10_000
"""Symbols of one file; an editor has no use for more."""


def definition(
    file: TextDocument, offset: int, folder: str | None, opened: Opened
) -> tuple[TextDocument, types.Range] | None:
    """The file and the range in it that the value at `offset` leads to; `folder` is the source folder, if any."""
    path = _path_at(file, offset)
    word = None if path is None else file.value(path)
    if path is None or not isinstance(word, str):
        return None
    if path[-1:] == ("$ref",):
        return _schema(file, path, word, folder, opened)
    if path[-1:] == ("id",) and folder:
        return _line_of_lock(opened(os.path.join(folder, LOCK)), word)  # noqa: PTH118
    return None


def _path_at(file: TextDocument, offset: int) -> Path | None:
    """Path of the innermost value at an offset, its key included."""
    starts = ((path, span.key[0] if span.key[1] else span.start, span.end) for path, span in file.spans.items())
    return next((path for path, start, end in starts if start <= offset <= end), None)


def _schema(
    file: TextDocument, path: Path, reference: str, folder: str | None, opened: Opened
) -> tuple[TextDocument, types.Range] | None:
    address = urlsplit(reference)
    if address.scheme or address.netloc:
        return None
    root = path[: root_length(path)]
    if address.path:
        name = os.path.realpath(os.path.join(os.path.dirname(file.name), unquote(address.path)))  # noqa: PTH118, PTH120
        if folder is None or not name.startswith(folder + os.sep):
            return None
        file, root = opened(name), ()
    pointer = unquote(address.fragment)
    target = resolve_pointer(file.value(root), pointer if pointer.startswith("/") else "")
    return _beginning(file, (*root, *target)) if target is not None else None


def _beginning(file: TextDocument, path: Path) -> tuple[TextDocument, types.Range] | None:
    """The key of a value, or its first character."""
    span = file.spans.get(path)
    if span is None:
        return None
    return file, range_of(file, *(span.key if span.key[1] else (span.start, span.start + 1)))


def _line_of_lock(lock: TextDocument, word: str) -> tuple[TextDocument, types.Range] | None:
    at = lock.body.find(json.dumps(word, ensure_ascii=False))
    return (lock, range_of(lock, at + 1, at + 1 + len(word))) if at >= 0 else None


def symbols(file: TextDocument, top: Path = ()) -> list[types.DocumentSymbol]:
    """A symbol for each service offering with its plans, or for each plan where the file is a service by itself.

    `top` is the path of the catalog in the file.
    """
    data = get_at(file.document.data, top) if file.document else None
    if not isinstance(data, dict):
        return []
    whole = isinstance(data.get("services"), list)
    key, kind = ("services", types.SymbolKind.Class) if whole else ("plans", types.SymbolKind.Field)
    return list(_each(file, data.get(key), (*top, key), kind))


def _each(file: TextDocument, things: Any, path: Path, kind: types.SymbolKind) -> Iterator[types.DocumentSymbol]:
    for index, thing in enumerate(things[:MOST_SYMBOLS] if isinstance(things, list) else ()):
        span = file.spans.get((*path, index))
        if span is None or not isinstance(thing, dict):
            continue
        named = file.spans.get((*path, index, "name"))
        end = span.start + len(file.body[span.start : span.end].rstrip())
        chosen = (named.start, named.end) if named else (span.start, span.start)
        yield types.DocumentSymbol(
            name=escape_line(str(thing.get("name") or f"number {index + 1}")) or "?",
            kind=kind,
            range=range_of(file, span.start, end),
            selection_range=range_of(file, *chosen),
            detail=escape_line(str(thing.get("id", ""))),
            children=list(_each(file, thing.get("plans"), (*path, index, "plans"), types.SymbolKind.Field)),
        )
