"""The service offerings and plans of a file, for the editor's outline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from osbctl.editor.diagnostics import range_of
from osbctl.editor.texts import Written
from osbctl.paths import Path
from osbctl.text import safe

MOST = 10_000
"""Symbols of one file; an editor has no use for more."""


def symbols(file: Written) -> list[types.DocumentSymbol]:
    """A symbol for each service offering with its plans, or for each plan where the file is a service by itself."""
    data = file.document.data if file.document else None
    if not isinstance(data, dict):
        return []
    whole = isinstance(data.get("services"), list)
    key, kind = ("services", types.SymbolKind.Class) if whole else ("plans", types.SymbolKind.Field)
    return list(_each(file, data.get(key), (key,), kind))


def _each(file: Written, things: Any, path: Path, kind: types.SymbolKind) -> Iterator[types.DocumentSymbol]:
    for index, thing in enumerate(things[:MOST] if isinstance(things, list) else ()):
        span = file.spans.get((*path, index))
        if span is None or not isinstance(thing, dict):
            continue
        named = file.spans.get((*path, index, "name"))
        end = span.start + len(file.body[span.start : span.end].rstrip())
        chosen = (named.start, named.end) if named else (span.start, span.start)
        yield types.DocumentSymbol(
            name=safe(str(thing.get("name") or f"number {index + 1}")) or "?",
            kind=kind,
            range=range_of(file, span.start, end),
            selection_range=range_of(file, *chosen),
            detail=safe(str(thing.get("id", ""))),
            children=list(_each(file, thing.get("plans"), (*path, index, "plans"), types.SymbolKind.Field)),
        )
