"""Help at the cursor of an editor: a hover explains findings and fields, a completion offers fields and values."""

import json
import re
import uuid
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from lsprotocol import types

from osbctl.catalog import Catalog
from osbctl.editor.analysis import Analysis
from osbctl.editor.cursor import Cursor, cursor_at
from osbctl.editor.text_document import TextDocument
from osbctl.editor.vocabulary import (
    REFERENCE,
    FieldSchema,
    first_version,
    keyword,
    object_fields,
    part_at,
    root_length,
    title,
    values,
)
from osbctl.fields import LATEST
from osbctl.findings import DocumentError, Finding
from osbctl.paths import Path, entries, get_at, pointer, value_at
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform
from osbctl.sources.parse import parse_text
from osbctl.tasks.options import all_rules
from osbctl.text import escape_line

_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&:])")
_PLAIN = re.compile(r"[A-Za-z$][\w$.-]*|[0-9A-F]{8}-[0-9A-F-]+")
"""Text that needs no quotes in YAML."""
_BEFORE_COLON = re.compile(r"[ \t]*:")
_MARK = "osbctl: the cursor"


def hover(
    file: TextDocument, offset: int, found: Iterable[Finding], analysis: Analysis | None, place: PurePath | None
) -> types.Hover | None:
    """Hover text of an offset; `found` are the findings there, `analysis` covers the whole source."""
    paragraphs = [paragraph for finding in found for paragraph in _finding(finding)]
    cursor = cursor_at(file.body, offset)
    shown = file.range(cursor.start, cursor.end) if cursor else None
    if cursor and cursor.end > cursor.start:
        word = file.body[cursor.start : cursor.end].strip("\"'")
        path = cursor.whole if cursor.key is not None or cursor.item else (*cursor.path, word)
        paragraphs += _field(path, analysis, place)
    if not paragraphs:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(paragraphs)), shown)


def plain(text: str) -> str:
    """Escape text of a catalog or a platform, so that Markdown shows it unchanged."""
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
    yield from filter(None, [keyword(part, "description")])
    since = first_version(path, place) or LATEST
    yield from _since(since, analysis.options.api_version if analysis else since)
    if path == ("services",) and analysis and analysis.verdicts:
        yield "\n".join(f"- {platform.label}: {verdict.kind.value}" for platform, verdict in analysis.verdicts.items())


def _since(since: ApiVersion, checked: ApiVersion) -> Iterator[str]:
    """The API version that introduced a field, and the platforms that do not know it."""
    if since > next(iter(ApiVersion)):
        older = " and ".join(platform.label for platform in Platform if platform.api_version < since)
        yield f"Since API version {since}" + (f"; {older} request an older one." if older else ".")
    if since > checked:
        yield f"Checked against {checked}, which does not know it."


def completions(
    file: TextDocument, position: types.Position, analysis: Analysis | None, place: PurePath | None
) -> list[types.CompletionItem]:
    """The words that fit at a position; `place` is the file's path within its source folder, if it is in one."""
    cursor = cursor_at(file.body, file.offset(position))
    part = part_at(cursor.whole, LATEST, place) if cursor else None
    if cursor is None or part is None:
        return []
    found = _values(file, cursor, part)
    if cursor.key is None and not (cursor.flow and cursor.item):
        found += _fields(file, cursor, part, analysis, place)
    return found


def _fields(
    file: TextDocument, cursor: Cursor, part: FieldSchema, analysis: Analysis | None, place: PurePath | None
) -> list[types.CompletionItem]:
    """Fields that the object does not have yet: required ones first, those of a later API version last."""
    version = analysis.options.api_version if analysis else DEFAULT_API_VERSION
    required = keyword(part, "required") or ()
    items = []
    for name, field in _fields_of(cursor.whole, part, analysis, place).items():
        if name in cursor.others:
            continue
        since = first_version((*cursor.whole, name), place) or version
        item = _item(file, cursor, name, _colon(file, cursor, field))
        item.kind = types.CompletionItemKind.Field
        item.sort_text = f"{2 if since > version else 0 if name in required else 1} {name}"
        item.detail = f"{title(field)}, since {since}" if since > version else title(field)
        item.documentation = keyword(field, "description")
        items.append(item)
    return items


def _fields_of(
    path: Path, part: FieldSchema, analysis: Analysis | None, place: PurePath | None
) -> dict[str, FieldSchema]:
    """The fields of the object at `path`; in an overlay, also the names of the folder's services and plans."""
    document = analysis.document if analysis else None
    names = _overlay_names(path, document.catalog) if document and place and place.parts[0] == "overlays" else []
    return {name: FieldSchema({"type": "object"}, {}) for name in names} or object_fields(part)


def _overlay_names(path: Path, catalog: Catalog) -> list[str]:
    if path == ("services",):
        return [service.name for service in catalog.services]
    if len(path) == 3 and path[2] == "plans":
        return [plan.name for service in catalog.services if service.name == path[1] for plan in service.plans]
    return []


def _colon(file: TextDocument, cursor: Cursor, field: FieldSchema) -> str:
    """The colon behind a key where there is none yet; the value of an object or list goes on the next line."""
    if _BEFORE_COLON.match(file.body, cursor.end):
        return ""
    return ":" if keyword(field, "type") in ("object", "array") and not cursor.flow else ": "


def _values(file: TextDocument, cursor: Cursor, part: FieldSchema) -> list[types.CompletionItem]:
    if cursor.key == "id":
        return [_item(file, cursor, str(uuid.uuid4()).upper(), detail="a fresh GUID")]
    if part.schema is REFERENCE or cursor.path[-2:] == ("required", 0):
        return [_item(file, cursor, word) for word in _schema_words(file, cursor)]
    if cursor.key is None and not cursor.item:
        return []
    return [_item(file, cursor, value) for value in values(part)]


def _schema_words(file: TextDocument, cursor: Cursor) -> list[str]:
    """Targets for the `$ref`, or property names for the `required`, of the schema around the cursor."""
    try:
        data = parse_text(f'{file.body[: cursor.start]}"{_MARK}"{file.body[cursor.end :]}', file.name).data
    except DocumentError:
        return []
    path = _path_of_mark(data, ())
    if path is None:
        return []
    if cursor.key == "$ref":
        schema = value_at(data, path[: root_length(path)])
        targets = [(word, name) for word in ("definitions", "$defs") for name in _keys(schema, word)]
        return ["#" + quote(pointer(target), safe="/~") for target in targets]
    schema = value_at(data, path[:-2])
    return [name for name in _keys(schema, "properties") if name not in schema["required"]]


def _keys(schema: Any, word: str) -> list[str]:
    below = get_at(schema, (word,))
    return list(below) if isinstance(below, dict) else []


def _path_of_mark(value: Any, path: Path) -> Path | None:
    """Path of the text that stands in place of the word at the cursor."""
    if value == _MARK:
        return path
    for step, inner in entries(value):
        found = _path_of_mark(inner, (*path, step))
        if found is not None:
            return found
    return None


def _item(file: TextDocument, cursor: Cursor, value: Any, behind: str = "", detail: str = "") -> types.CompletionItem:
    begun = file.body[cursor.start : cursor.start + 1]
    quotes = begun if begun in ("'", '"') else ""
    is_json = file.body[:1_000].lstrip()[:1] in ("{", "[")
    if is_json or not isinstance(value, str) or not (quotes or _PLAIN.fullmatch(value)):
        new = json.dumps(value)
    else:
        new = f"{quotes}{value}{quotes}"
    return types.CompletionItem(
        label=value if isinstance(value, str) else json.dumps(value),
        kind=types.CompletionItemKind.Value,
        detail=detail or None,
        filter_text=new if quotes else None,
        text_edit=types.TextEdit(file.range(cursor.start, cursor.end), new + behind),
    )
