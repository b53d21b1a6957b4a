"""Help at the cursor of an editor.

A hover says why what was found there matters, and what the field means. A completion is what may be written there:
fields that the object does not have yet, and values where they can be counted.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

from lsprotocol import types

from osbctl.editor.analysis import Analysis
from osbctl.editor.cursor import Cursor, cursor_at
from osbctl.editor.text_document import Text, TextDocument, range_of
from osbctl.editor.vocabulary import FieldSchema, object_fields, part_at, said, title, values
from osbctl.fields import LATEST
from osbctl.findings import Finding
from osbctl.paths import Path
from osbctl.platforms import ApiVersion, Platform
from osbctl.tasks.rules import all_rules
from osbctl.text import escape_line

_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&:])")
_PLAIN = re.compile(r"[A-Za-z$][\w$.-]*|[0-9A-F]{8}-[0-9A-F-]+")
"""Text that needs no quotes in YAML."""


def hover(
    file: TextDocument, offset: int, found: Iterable[Finding], analysis: Analysis | None, place: PurePath | None
) -> types.Hover | None:
    """Hover text of an offset; `found` are the findings there, `analysis` covers the whole source."""
    told = [part for finding in found for part in _finding(finding)]
    cursor = cursor_at(file.body, offset)
    shown = range_of(file, cursor.start, cursor.end) if cursor else None
    if cursor and cursor.end > cursor.start:
        word = file.body[cursor.start : cursor.end].strip("\"'")
        path = cursor.whole if cursor.key is not None or cursor.item else (*cursor.path, word)
        told += _field(path, analysis, place)
    if not told:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(told)), shown)


def plain(text: str) -> str:
    """Text from a catalog or a platform in Markdown: as it is, and no markup."""
    return _MARKUP.sub(r"\\\1", escape_line(text))


def _finding(finding: Finding) -> Iterator[str]:
    """Details of a finding that its diagnostic omits; editors show both."""
    rule = all_rules().get(finding.rule)
    if rule:
        yield f"`{rule.id}`: {' '.join((rule.why or rule.summary).split())}"  # ours, and Markdown
    for words in finding.platform_messages:
        yield f"> {plain(words)}"
    if rule:
        yield f"Source: {rule.source}"


def _field(path: Path, analysis: Analysis | None, place: PurePath | None) -> Iterator[str]:
    part = part_at(path, LATEST, place)
    if part is None or not title(part):
        return
    yield f"**{path[-1]}**: {title(part)}"
    yield from filter(None, [said(part, "description")])
    since = next(one for one in ApiVersion if part_at(path, one, place))
    yield from _since(since, analysis.options.api_version if analysis else since)
    if path == ("services",) and analysis and analysis.verdicts:
        yield "\n".join(f"- {platform.label}: {verdict.kind.value}" for platform, verdict in analysis.verdicts.items())


def _since(since: ApiVersion, checked: ApiVersion) -> Iterator[str]:
    """The version that brought a field, and who does not know it."""
    if since > next(iter(ApiVersion)):
        older = " and ".join(platform.label for platform in Platform if platform.api_version < since)
        yield f"Since API version {since}" + (f"; {older} request an older one." if older else ".")
    if since > checked:
        yield f"Checked against {checked}, which does not know it."


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
    for name, field in object_fields(part).items():
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
