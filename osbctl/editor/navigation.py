"""Navigation in an editor: from an id to the lock, and the outline of a file."""

import json
from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from osbctl.editor.text_document import TextDocument
from osbctl.paths import Path, get_at, value_at
from osbctl.text import escape_line

MAX_SYMBOLS = 10_000
"""Symbols of one file; an editor has no use for more."""


def definition(file: TextDocument, offset: int, lock: TextDocument) -> types.Range | None:
    """The range in `lock`, the catalog.lock of the source folder, that has the id at `offset`."""
    path = file.path_at(offset)
    if file.document is None or not path or path[-1] != "id":
        return None
    word = str(value_at(file.document.data, path))
    at = lock.body.find(json.dumps(word, ensure_ascii=False))
    return lock.range(at + 1, at + 1 + len(word)) if at >= 0 else None


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
