"""What may be written at the cursor: fields that the object does not have yet, and values where they can be counted."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import PurePath
from typing import Any

from lsprotocol import types

from osbctl.editor.cursor import Cursor, cursor_at
from osbctl.editor.texts import Text, range_of
from osbctl.editor.vocabulary import FieldSchema, part_at, properties, said, title, values
from osbctl.platforms import ApiVersion

_PLAIN = re.compile(r"[A-Za-z$][\w$.-]*|[0-9A-F]{8}-[0-9A-F-]+")
"""What needs no quotes in YAML."""


def completions(
    text: Text, position: types.Position, version: ApiVersion, place: PurePath | None
) -> list[types.CompletionItem]:
    """The words that fit at a position. `place` is the file's path within its source folder, if it is in one."""
    cursor = cursor_at(text.body, text.offset(position))
    part = part_at(cursor.whole, version, place) if cursor else None
    if cursor is None or part is None:
        return []
    found = _values(text, cursor, part)
    if cursor.key is None and not (cursor.flow and cursor.item):
        found += _fields(text, cursor, part)
    return found


def _fields(text: Text, cursor: Cursor, part: FieldSchema) -> list[types.CompletionItem]:
    wanted = said(part, "required") or ()
    named = re.compile(r"[ \t]*:").match(text.body, cursor.end)
    items = []
    for name, field in properties(part).items():
        if name not in cursor.others:
            nested = said(field, "type") in ("object", "array") and not cursor.flow
            item = _item(text, cursor, name, "" if named else ":" if nested else ": ")
            item.kind = types.CompletionItemKind.Field
            item.sort_text = f"{0 if name in wanted else 1} {name}"
            item.detail = title(field)
            item.documentation = said(field, "description")
            items.append(item)
    return items


def _values(text: Text, cursor: Cursor, part: FieldSchema) -> list[types.CompletionItem]:
    if cursor.key == "id":
        return [_item(text, cursor, str(uuid.uuid4()).upper(), detail="a fresh GUID")]
    if cursor.key is None and not cursor.item:
        return []
    return [_item(text, cursor, value) for value in values(part)]


def _item(text: Text, cursor: Cursor, value: Any, behind: str = "", detail: str = "") -> types.CompletionItem:
    begun = text.body[cursor.start : cursor.start + 1]
    quote = begun if begun in ("'", '"') else ""
    is_json = text.body[:1_000].lstrip()[:1] in ("{", "[")
    if is_json or not isinstance(value, str) or not (quote or _PLAIN.fullmatch(value)):
        new = json.dumps(value)
    else:
        new = f"{quote}{value}{quote}"
    return types.CompletionItem(
        label=value if isinstance(value, str) else json.dumps(value),
        kind=types.CompletionItemKind.Value,
        detail=detail or None,
        filter_text=new if quote else None,
        text_edit=types.TextEdit(range_of(text, cursor.start, cursor.end), new + behind),
    )
