"""Help at the cursor of an editor: a hover explains findings and fields, a completion offers fields and values."""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import PurePath
from typing import Any, NamedTuple

import yaml
from lsprotocol import types

from osbctl.commands.settings import all_rules
from osbctl.editor.open_files import Analysis
from osbctl.editor.text_document import BEFORE_COLON, Cursor, TextDocument, cursor_at
from osbctl.fields import LATEST, load_schema
from osbctl.findings import Finding
from osbctl.jsonschemas.dialects import DRAFT_4_ADDRESS
from osbctl.paths import JsonPath, JsonValue, pointer
from osbctl.platforms import ApiVersion, Platform
from osbctl.sources.catalogs import is_in_spring_catalog
from osbctl.sources.folder.lock import fresh_id
from osbctl.sources.spring import has_name, sent_path, spring_key
from osbctl.text import escape_line

_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&:])")
_PLAIN = re.compile(r"[A-Za-z$][\w$.-]*|[0-9A-F]{8}-[0-9A-F-]+")
"""Text that needs no quotes in YAML."""
_PLACEHOLDER = re.compile(r"\$\{\d+:([^}]*)\}")
_NOTHING_YET = re.compile(r"(?>(?:#.*|---|\s)*)[\w-]*+\s*+")
"""A text with no more than comments and one word."""
CATALOG = """\
services:
- id: {0}
  name: ${{1:my-service}}
  description: ${{2:One sentence for the marketplace.}}
  bindable: true
  plans:
  - id: {1}
    name: ${{3:small}}
    description: ${{4:One sentence that tells this plan from the others.}}
    free: true
"""
"""A catalog to begin with. Ids are filled in here; `${N:…}` is what the user replaces (LSP 3.17, "Snippet Syntax")."""


class FieldSchema(NamedTuple):
    """A part of a schema, and the whole schema that its references point into."""

    schema: dict[str, Any]
    root: dict[str, Any]


# The schema at a location: of the API version, of a source folder's file, or draft-04 itself in parameter schemas.

_SERVICE, _PLAN = {"$ref": "#/definitions/service"}, {"$ref": "#/definitions/plan"}


def schema_at(path: JsonPath, version: ApiVersion, subpath: PurePath | None) -> FieldSchema | None:
    """Schema of the value at `path`, None if unknown; `subpath` is the file's path in its source folder, if any."""
    part: FieldSchema | None = _file_schema(version, subpath)
    if subpath is None and "services" in path:
        is_spring, path = is_in_spring(path), path[path.index("services") :]  # the catalog may be in a larger file
        path = sent_path(path) if is_spring else path
    for index, step in enumerate(path):
        if part is None:
            return None
        is_parameters = bool(index) and path[index - 1] in ("create", "update") and step == "parameters"
        part = _draft_04() if is_parameters else _child_schema(part, step)
    return part


def is_in_spring(path: JsonPath) -> bool:
    """Return whether a path leads into the catalog of a Spring configuration."""
    return "services" in path and is_in_spring_catalog(pointer(path[: path.index("services")]))


def first_version_with(path: JsonPath, subpath: PurePath | None) -> ApiVersion:
    """The first API version whose schema has the field at `path`; the oldest where that is unknown."""
    return next((version for version in ApiVersion if schema_at(path, version, subpath)), min(ApiVersion))


def object_fields(part: FieldSchema) -> dict[str, FieldSchema]:
    """The fields of an object by name."""
    fields: dict[str, FieldSchema] = {}
    for each in _schema_and_references(part):
        for name, schema in each.schema.get("properties", {}).items():
            fields.setdefault(name, FieldSchema(schema, each.root))
    return fields


def allowed_values(part: FieldSchema) -> list[JsonValue]:
    """The allowed values: those of an `enum`, or of a boolean. Empty for any other type."""
    found: list[JsonValue] = []
    for each in _schema_and_references(part):
        found += each.schema.get("enum", [])
        if each.schema.get("type") == "boolean":
            found += [True, False]
    return found


def keyword_value(part: FieldSchema, word: str) -> JsonValue:
    """The first value of a keyword (`title`, `description`, `type`) in the schema and those that it refers to."""
    return next((each.schema[word] for each in _schema_and_references(part) if word in each.schema), None)


def title_and_type(part: FieldSchema) -> str:
    """Name and type of a field."""
    kind = keyword_value(part, "type")
    words = str(keyword_value(part, "title") or "")
    return f"{words} ({kind})".strip() if isinstance(kind, str) else words


def _file_schema(version: ApiVersion, subpath: PurePath | None) -> FieldSchema | None:
    """Schema of a whole file: a catalog, or a file in `services/` or `schemas/` of a source folder."""
    catalog = load_schema(version)
    if subpath is None:
        return FieldSchema(catalog, catalog)
    if subpath.parts[0] == "services":
        return FieldSchema(_PLAN if len(subpath.parts) > 2 else _SERVICE, catalog)
    if subpath.parts[0] == "schemas":
        return _draft_04()
    return None


@cache
def _draft_04() -> FieldSchema:
    import jsonschema

    schema: dict[str, Any] = dict(jsonschema.Draft4Validator.META_SCHEMA)
    known = [DRAFT_4_ADDRESS, "http://json-schema.org/draft-06/schema#"]
    object_fields = {**schema["properties"], "$schema": {"enum": known}, "$ref": {"type": "string"}}
    schema["properties"] = {name: below for name, below in object_fields.items() if name != "id"}
    return FieldSchema(schema, schema)


def _child_schema(part: FieldSchema, step: str | int) -> FieldSchema | None:
    for each in _schema_and_references(part):
        if isinstance(step, int):
            found = each.schema.get("items")
        else:
            found = each.schema.get("properties", {}).get(step, each.schema.get("additionalProperties"))
        if isinstance(found, dict) and found:
            return FieldSchema(found, each.root)
    return None


def _schema_and_references(part: FieldSchema) -> Iterator[FieldSchema]:
    schema, root = part
    yield part  # a circle of references would never end; neither schema has one
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        target: Any = root
        for name in reference.strip("#/").split("/") if reference != "#" else ():
            target = target[name]
        yield from _schema_and_references(FieldSchema(target, root))
    for word in ("allOf", "anyOf"):
        for inner in schema.get(word, ()):
            yield from _schema_and_references(FieldSchema(inner, root))


# What an editor shows.


def hover(
    file: TextDocument, offset: int, findings: Iterable[Finding], analysis: Analysis | None, subpath: PurePath | None
) -> types.Hover | None:
    """Hover text of an offset; `findings` are those there, `analysis` covers the whole source."""
    paragraphs = [paragraph for finding in findings for paragraph in _describe_finding(finding, analysis)]
    path = file.path_at(offset)
    if path and isinstance(path[-1], str):
        paragraphs += _describe_field(path, analysis, subpath)
    if not paragraphs:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(paragraphs)))


def escape_markdown(text: str) -> str:
    """Escape text of a catalog or a platform, so that Markdown shows it unchanged."""
    return _MARKUP.sub(r"\\\1", escape_line(text))


def _describe_finding(finding: Finding, analysis: Analysis | None) -> Iterator[str]:
    """Details of a finding that its diagnostic omits; editors show both."""
    user_rule = analysis.options.user_rules.get(finding.rule) if analysis else None
    rule = user_rule or all_rules().get(finding.rule)
    if rule:
        own_text = escape_markdown(f"{rule.summary} {rule.why}") if user_rule else ""
        yield f"`{rule.id}`: {' '.join((own_text or rule.why or rule.summary).split())}"  # ours is Markdown
    for words in finding.platform_messages:
        yield f"> {escape_markdown(words)}"
    if rule:
        yield f"Source: {escape_markdown(rule.source) if user_rule else rule.source}"


def _describe_field(path: JsonPath, analysis: Analysis | None, subpath: PurePath | None) -> Iterator[str]:
    part = schema_at(path, LATEST, subpath)
    if part is None or not title_and_type(part):
        return
    yield f"**{path[-1]}**: {title_and_type(part)}"
    yield from filter(None, [keyword_value(part, "description")])
    yield from _describe_first_version(first_version_with(path, subpath), analysis)
    if path == ("services",) and analysis and analysis.verdicts:
        yield "\n".join(f"- {platform.label}: {verdict.kind.value}" for platform, verdict in analysis.verdicts.items())


def _describe_first_version(version: ApiVersion, analysis: Analysis | None) -> Iterator[str]:
    """The API version that introduced a field, and the platforms that do not know it."""
    judged = analysis.options.judged if analysis else tuple(Platform)
    if version > next(iter(ApiVersion)):
        older = " and ".join(platform.label for platform in judged if platform.api_version < version)
        yield f"Since API version {version}" + (f"; {older} request an older one." if older else ".")


def completions(file: TextDocument, position: types.Position, subpath: PurePath | None) -> list[types.CompletionItem]:
    """The words that fit at a position; `subpath` is the file's path within its source folder, if it is in one."""
    cursor = cursor_at(file.body, file.offset(position))
    part = schema_at(cursor.path, LATEST, subpath) if cursor else None
    if cursor is None or part is None:
        return []
    if cursor.path[-1:] == ("id",) and not cursor.is_key:
        return [_completion_item(file, cursor, fresh_id(), detail="a fresh GUID")]
    # On a line of its own stands a key; behind a hyphen, that or a value.
    takes_value = not cursor.is_key or file.body[: cursor.start].rstrip(" \t").endswith("-")
    found = [_completion_item(file, cursor, value) for value in allowed_values(part)] if takes_value else []
    return [*found, *_field_items(file, cursor, part, subpath)] if cursor.is_key else found


def new_catalog(file: TextDocument, position: types.Position, *, snippets: bool) -> list[types.CompletionItem]:
    """A whole catalog for a text with nothing yet; with `snippets`, the editor takes the user through its values."""
    cursor = cursor_at(file.body, file.offset(position)) if _NOTHING_YET.fullmatch(file.body) else None
    if cursor is None:
        return []
    text = CATALOG.format(fresh_id(), fresh_id())
    if file.name.lower().endswith(".json"):
        text = f"{json.dumps(yaml.safe_load(text), indent=2)}\n"
    item = types.CompletionItem("osb-catalog", kind=types.CompletionItemKind.Snippet, sort_text="0")
    item.detail = "a catalog with one service offering and fresh GUIDs"
    item.insert_text_format = types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText
    new = text if snippets else _PLACEHOLDER.sub(r"\1", text)
    item.text_edit = types.TextEdit(file.range(file.line_starts[file.line_of(cursor.start)], cursor.end), new)
    return [item]


def _field_items(
    file: TextDocument, cursor: Cursor, part: FieldSchema, subpath: PurePath | None
) -> Iterator[types.CompletionItem]:
    """Fields that the object does not have yet, required ones first."""
    required = keyword_value(part, "required") or ()
    has_colon = BEFORE_COLON.match(file.body, cursor.end)
    is_spring = is_in_spring(cursor.path)
    for name, field in object_fields(part).items():
        if name in cursor.others or (is_spring and any(has_name(other, name) for other in cursor.others)):
            continue
        since = first_version_with((*cursor.path, name), subpath)
        goes_on_below = keyword_value(field, "type") in ("object", "array") and not cursor.flow
        key = spring_key(name) if is_spring else name
        item = _completion_item(file, cursor, key, "" if has_colon else ":" if goes_on_below else ": ")
        item.kind = types.CompletionItemKind.Field
        item.sort_text = f"{0 if name in required else 1} {name}"
        label = title_and_type(field)
        item.detail = f"{label}, since {since}" if since > next(iter(ApiVersion)) else label
        item.documentation = keyword_value(field, "description")
        yield item


def _completion_item(
    file: TextDocument, cursor: Cursor, value: JsonValue, suffix: str = "", detail: str = ""
) -> types.CompletionItem:
    first = file.body[cursor.start : cursor.start + 1]
    quotes = first if first in ("'", '"') else ""
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
        text_edit=types.TextEdit(file.range(cursor.start, cursor.end), new + suffix),
    )
