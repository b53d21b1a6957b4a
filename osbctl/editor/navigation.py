"""Navigation in an editor: the definition of a `$ref` or an id, and the outline of a file."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from osbctl.editor.text_document import TextDocument
from osbctl.paths import Path, get_at, resolve_pointer, value_at
from osbctl.sources.folder import LOCK
from osbctl.text import escape_line

MAX_SYMBOLS = 10_000
"""Symbols of one file; an editor has no use for more."""


def definition(
    file: TextDocument, offset: int, folder: str | None, open_file: Callable[[str], TextDocument]
) -> tuple[TextDocument, types.Range] | None:
    """The file and range that define the value at `offset`: the schema of a `$ref`, the line of an id in catalog.lock.

    `folder` is the source folder, if any. `open_file` gives the file at a path as it is in the editor, or else on disk.
    """
    path = file.path_at(offset)
    if path is None or file.document is None:
        return None
    word = value_at(file.document.data, path)
    if not isinstance(word, str):
        return None
    if path[-1:] == ("$ref",):
        return _schema(file, path, word, folder, open_file)
    if path[-1:] == ("id",) and folder:
        lock = open_file(os.path.join(folder, LOCK))  # noqa: PTH118
        at = lock.body.find(json.dumps(word, ensure_ascii=False))
        return (lock, lock.range(at + 1, at + 1 + len(word))) if at >= 0 else None
    return None


def _schema(
    file: TextDocument, path: Path, reference: str, folder: str | None, open_file: Callable[[str], TextDocument]
) -> tuple[TextDocument, types.Range] | None:
    address = urlsplit(reference)
    if address.scheme or address.netloc:
        return None
    # The parameter schema around the reference, or else the whole file.
    root = path[: path.index("parameters") + 1] if "parameters" in path else ()
    if address.path:
        name = os.path.realpath(os.path.join(os.path.dirname(file.name), unquote(address.path)))  # noqa: PTH118, PTH120
        if folder is None or not name.startswith(folder + os.sep):
            return None
        file, root = open_file(name), ()
    pointer = unquote(address.fragment)
    data = value_at(file.document.data, root) if file.document else None
    target = resolve_pointer(data, pointer if pointer.startswith("/") else "")
    span = file.spans.get((*root, *target)) if target is not None else None
    return (file, file.range(span.first, span.first + 1)) if span else None


def symbols(file: TextDocument, top: Path = ()) -> list[types.DocumentSymbol]:
    """A symbol for each service offering and its plans, or each plan of the only one; `top` is the catalog's path."""
    data = get_at(file.document.data, top) if file.document else None
    if not isinstance(data, dict):
        return []
    if isinstance(data.get("services"), list):
        return list(_symbols(file, data, (*top, "services"), types.SymbolKind.Class))
    return list(_symbols(file, data, (*top, "plans"), types.SymbolKind.Field))


def _symbols(
    file: TextDocument, parent: dict[str, Any], path: Path, kind: types.SymbolKind
) -> Iterator[types.DocumentSymbol]:
    objects = parent.get(str(path[-1]))
    for index, thing in enumerate(objects[:MAX_SYMBOLS] if isinstance(objects, list) else ()):
        span = file.spans.get((*path, index))
        if span is None or not isinstance(thing, dict):
            continue
        name = file.spans.get((*path, index, "name"))
        end = span.start + len(file.body[span.start : span.end].rstrip())
        yield types.DocumentSymbol(
            name=escape_line(str(thing.get("name") or f"number {index + 1}")) or "?",
            kind=kind,
            range=file.range(span.start, end),
            selection_range=file.range(name.start, name.end) if name else file.range(span.start, span.start),
            detail=escape_line(str(thing.get("id", ""))),
            children=list(_symbols(file, thing, (*path, index, "plans"), types.SymbolKind.Field)),
        )
