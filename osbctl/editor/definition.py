"""Where a word leads: from a `$ref` to the schema that it means, between an id and its line in catalog.lock."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from osbctl.editor.diagnostics import range_of
from osbctl.editor.texts import Written
from osbctl.paths import Path, located
from osbctl.sources.folder import LOCK

Opened = Callable[[str], Written]
"""Gives the file at a path, as it is in the editor, or else on disk."""


def definition(file: Written, offset: int, folder: str | None, opened: Opened) -> tuple[Written, types.Range] | None:
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


def _path_at(file: Written, offset: int) -> Path | None:
    """Where the value at an offset, its key included, stands; what is nested comes before what it is nested in."""
    starts = ((path, span.key[0] if span.key[1] else span.start, span.end) for path, span in file.spans.items())
    return next((path for path, start, end in starts if start <= offset <= end), None)


def _schema(
    file: Written, path: Path, reference: str, folder: str | None, opened: Opened
) -> tuple[Written, types.Range] | None:
    address = urlsplit(reference)
    if address.scheme or address.netloc:
        return None
    root: Path = ()
    if address.path:
        name = os.path.realpath(os.path.join(os.path.dirname(file.name), unquote(address.path)))  # noqa: PTH118, PTH120
        if folder is None or not name.startswith(folder + os.sep):
            return None
        file = opened(name)
    elif "parameters" in path:
        root = path[: path.index("parameters") + 1]
    pointer = unquote(address.fragment)
    target = located(file.value(root), pointer if pointer.startswith("/") else "")
    span = file.spans.get((*root, *target)) if target is not None else None
    if span is None:
        return None
    start, end = span.key if span.key[1] else (span.start, span.start + 1)
    return file, range_of(file, start, end)


def _line_of_lock(lock: Written, word: str) -> tuple[Written, types.Range] | None:
    at = lock.body.find(json.dumps(word, ensure_ascii=False))
    return (lock, range_of(lock, at + 1, at + 1 + len(word))) if at >= 0 else None
