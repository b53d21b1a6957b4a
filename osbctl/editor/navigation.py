"""Navigation in an editor: from an id to the lock, and the outline of a file."""

import json
from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from osbctl.editor.text_document import TextDocument
from osbctl.paths import JsonPath, get_at, value_at
from osbctl.text import escape_line

MAX_SYMBOLS = 10_000
"""Symbols of one file; an editor has no use for more."""


def find_id_in_lock(file: TextDocument, offset: int, lock: TextDocument) -> types.Range | None:
    """The range in `lock`, the catalog.lock of the source folder, that has the id at `offset`."""
    path = file.path_at(offset)
    if file.document is None or not path or path[-1] != "id":
        return None
    id_ = str(value_at(file.document.data, path))
    start = lock.body.find(json.dumps(id_, ensure_ascii=False))
    return lock.range(start + 1, start + 1 + len(id_)) if start >= 0 else None


def document_symbols(file: TextDocument, catalog_path: JsonPath = ()) -> list[types.DocumentSymbol]:
    """A symbol for each service offering with its plans; for each plan in a file of one service offering."""
    data = get_at(file.document.data, catalog_path) if file.document else None
    if not isinstance(data, dict):
        return []
    if isinstance(data.get("services"), list):
        return list(_list_symbols(file, data, (*catalog_path, "services"), types.SymbolKind.Class))
    return list(_list_symbols(file, data, (*catalog_path, "plans"), types.SymbolKind.Field))


def _list_symbols(
    file: TextDocument, parent: dict[str, Any], path: JsonPath, kind: types.SymbolKind
) -> Iterator[types.DocumentSymbol]:
    objects = parent.get(str(path[-1]))
    for index, value in enumerate(objects[:MAX_SYMBOLS] if isinstance(objects, list) else ()):
        span = file.spans.get((*path, index))
        if span is None or not isinstance(value, dict):
            continue
        name = file.spans.get((*path, index, "name"))
        end = span.start + len(file.body[span.start : span.end].rstrip())
        yield types.DocumentSymbol(
            name=_label(value.get("name")) or f"number {index + 1}",
            kind=kind,
            range=file.range(span.start, end),
            selection_range=file.range(name.start, name.end) if name else file.range(span.start, span.start),
            detail=_label(value.get("id")),
            children=list(_list_symbols(file, value, (*path, index, "plans"), types.SymbolKind.Field)),
        )


def _label(value: Any) -> str:
    """A name or id on one line; empty if it is missing, null, or neither text nor a number."""
    is_shown = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return escape_line(str(value)).strip() if is_shown else ""
