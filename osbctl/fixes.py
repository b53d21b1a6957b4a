"""Fixes of findings as edits of the source text, which leave every other byte as it is.

A new entry goes after the id, name and description at the beginning of an object, before the next entry, or before the
last one. It is written like this neighbour: on a line of its own or not, in JSON or YAML.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from osbctl.findings import DocumentError, Finding, Fix, Location
from osbctl.paths import JsonPath, entries, get_at, pointer
from osbctl.rule import RULES
from osbctl.sources.catalogs import is_in_spring_catalog
from osbctl.sources.document import Document, ParsedText, decode_utf8, parse_text
from osbctl.sources.places import Lines, Span
from osbctl.sources.spring import has_name, sent_value, spring_key

_FIRST = ("id", "name", "description")
NO_TEXT = "there is no text that can be edited safely"
_COMMENT = "a comment stands behind it, which may be about it"
_ANCHORED = "it has an anchor, to which an alias may refer"
_ANCHOR = re.compile(r"&[^\s,\[\]{}]+[ \t]+(?=[^\s!])")


# The edit of a text that carries out one fix.


class Edit(NamedTuple):
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


def make_edit(document: ParsedText, spans: Mapping[JsonPath, Span], fix: Fix, path: JsonPath) -> Edit | str:
    """The edit for `fix` at `path` of this file, or why there is none; `spans` are those of the whole text."""
    text, span = document.text, spans.get(path)
    if span is None:
        return _make_insertion(document, spans, path, fix.value) if fix.action == "set" else NO_TEXT
    if obstacle := _find_obstacle(span, fix):
        return obstacle
    if fix.action == "remove":
        return _make_removal(document, spans, path)
    if fix.action == "rename":
        written = text[span.key[0]]
        quote = written if written in "'\"" else '"' if fix.value.startswith("[") else ""
        return Edit(*span.key, f"{quote}{fix.value}{quote}")
    start, end = span.start, span.end
    if span.anchored:
        anchor = _ANCHOR.match(text, start, end)
        if anchor is None:
            return _ANCHORED
        start = anchor.end()
    if fix.action == "quote":
        return make_quoting_edit(text, None if span.style else (start, end))
    if fix.action == "wrap":
        return Edit(start, end, f"[{text[start:end] if span.style else _format_value(fix.value)}]")
    return Edit(start, end, _format_value(fix.value))


def _find_obstacle(span: Span, fix: Fix) -> str:
    """Why a value written like this cannot be edited; empty if it can."""
    if span.style in ("|", ">"):
        return f"it is a block of lines, after `{span.style}`"
    if fix.action in ("remove", "rename"):
        if not span.key[1]:
            return "it is an item of a list"
        return _ANCHORED if fix.action == "remove" and span.anchored else ""
    return "it is written in several lines" if span.below and not span.flow else ""


def _make_removal(document: ParsedText, spans: Mapping[JsonPath, Span], path: JsonPath) -> Edit | str:
    """Remove an entry, with the comma or line end between it and a neighbour."""
    text, parent = document.text, spans[path[:-1]]
    start, end = spans[path].key[0], spans[path].end
    keys = sorted(spans[place].key[0] for place in spans if place[:-1] == path[:-1])
    if len(keys) == 1:
        return Edit(parent.start, parent.end, "{}") if parent.flow else Edit(start, end, "{}")
    if start != keys[-1]:
        next_key = keys[keys.index(start) + 1]
        return _COMMENT if text[end:next_key].strip(" \t\r\n,") else Edit(start, next_key, "")
    rest_of_line = re.compile(r"[ \t]*#").match(text, end)
    before = re.compile(r",?\s*\Z").search(text, max(0, start - 1_000), start)
    return Edit(before.start(), end, "") if before and not rest_of_line else _COMMENT


def make_quoting_edit(text: str, scalar_range: tuple[int, int] | None) -> Edit | str:
    """Quote the plain scalar at this range; the reason why not, without one."""
    return Edit(*scalar_range, _format_value(text[slice(*scalar_range)])) if scalar_range else NO_TEXT


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits to a text; of two that overlap, the first."""
    pieces, offset = [], 0
    for each in _without_overlaps(edits):
        pieces += [text[offset : each.start], each.new]
        offset = each.end
    return "".join([*pieces, text[offset:]])


def offset_before(edits: Iterable[Edit]) -> Callable[[int], int]:
    """Give the offset in a text of what is at an offset once the edits are applied; of new text, where that was put."""
    applied = [*_without_overlaps(edits)]
    growth = [0, *accumulate(len(each.new) - (each.end - each.start) for each in applied)]
    starts = [each.start + before for each, before in zip(applied, growth, strict=False)]

    def find(offset: int) -> int:
        index = bisect_right(starts, offset)
        is_new = index and offset < starts[index - 1] + len(applied[index - 1].new)
        return applied[index - 1].start if is_new else offset - growth[index]

    return find


def _without_overlaps(edits: Iterable[Edit]) -> Iterator[Edit]:
    """The edits in the order of the text; of two that overlap, the first."""
    end = 0
    for each in sorted(set(edits)):
        if each.start >= end:
            yield each
            end = each.end


def _make_insertion(document: ParsedText, spans: Mapping[JsonPath, Span], path: JsonPath, value: Any) -> Edit | str:
    """Insert an entry before a neighbour and the comments above it, on a line of its own if that one is."""
    text = document.text
    keys = [key for key, _ in entries(get_at(document.data, path[:-1])) if (*path[:-1], key) in spans]
    known = sorted((spans[*path[:-1], key].key[0], key) for key in keys)
    if spans[path[:-1]].anchored:
        return "the object that it belongs into has an anchor, to which an alias may refer"
    if not known or not isinstance(path[-1], str):
        return NO_TEXT
    at = next((at for at, key in known if key not in _FIRST), known[-1][0])
    flow = document.syntax == "json" or spans[path[:-1]].flow
    place = at if flow else _before_comments(text, at)
    return Edit(place, place, _format_entry(path[-1], value, flow, text[at]) + _separator_before(text, place, flow))


def _before_comments(text: str, offset: int) -> int:
    """The offset of the comment lines directly above the key at `offset`, indented like it; `offset` without any."""
    line_start = text.rfind("\n", 0, offset) + 1
    indent = text[line_start:offset]
    if indent.strip(" "):
        return offset
    comments = re.compile(rf"(?:^{indent}#.*\n)+\Z", re.MULTILINE).search(text, max(0, line_start - 5_000), line_start)
    return comments.start() + len(indent) if comments else offset


def _separator_before(text: str, offset: int, flow: bool) -> str:
    """The separator of a new entry from the one that begins at an offset."""
    indent = re.compile(r"(?:\r\n|\r|\n)[ \t]*\Z").search(text, max(0, offset - 1_000), offset)
    if flow or indent:
        return f"{',' if flow else ''}{indent.group() if indent else ' '}"
    # The only entry of an item, behind its hyphen: the columns before it are its indentation.
    line_start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    line_end = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    return line_end + " " * (offset - line_start)


def _format_entry(key: str, value: Any, flow: bool, next_character: str) -> str:
    quote_key = next_character == '"' or not re.fullmatch(r"[A-Za-z_$][\w$]*", key)
    name = json.dumps(key) if quote_key else key
    return f"{name}: {_format_value(value)}" if flow or value is not None else f"{name}:"


def _format_value(value: Any) -> str:
    """The value as JSON, which is also YAML."""
    return json.dumps(value, ensure_ascii=False)


FindingFix: TypeAlias = tuple[Finding, Fix]

_BOM = b"\xef\xbb\xbf"
SHARED = "the same text is used elsewhere, too"
OTHER_FIX = "another fix is in the way"


# One pass over a source: the edits of its files, and the catalog expected after them.


def narrow_to_fixes(finding: Finding, fixes: Sequence[Fix]) -> Finding:
    """The finding with these of its fixes; of a group, the members that they are for."""
    ids = set(map(id, fixes))  # two members may have equal ones
    meant = [member for member in finding.members if not ids.isdisjoint(map(id, member.fixes))]
    if len(meant) == 1:
        return meant[0]._replace(fixes=tuple(fixes))
    if not meant or len(meant) == len(finding.members):
        return finding._replace(fixes=tuple(fixes))
    sentence = finding.group.sentence(len(meant)) if finding.group else finding.sentence
    return meant[0]._replace(sentence=sentence, fixes=tuple(fixes), members=tuple(meant))


def group_by_finding(fixes: Iterable[FindingFix]) -> dict[Finding, list[Fix]]:
    """The findings of these fixes, each once, with its fixes."""
    grouped: dict[Finding, list[Fix]] = {}
    for finding, fix in fixes:
        grouped.setdefault(finding, []).append(fix)
    return grouped


class Pass:
    """The edits of one pass over the findings; `expected` is the catalog that the edited files must hold."""

    def __init__(self, document: Document, files: dict[str, bytes]) -> None:
        self.document = document
        self.expected = json.loads(json.dumps(document.data))  # without shared values, which aliases make
        self.fixes_by_edit: dict[tuple[str, Edit], list[FindingFix]] = {}
        self.obstacles: dict[Finding, str] = {}
        """Reasons why fixes have no edit."""
        self._is_spring = is_in_spring_catalog(pointer(document.top))
        self.usual_obstacle = "Spring's broker would then send another value" if self._is_spring else SHARED
        """Reason why a catalog would differ in more than a fix."""
        self._files = dict(files)
        self._texts: dict[str, _SourceText] = {}
        self._edits: dict[str, dict[int, Edit]] = {}

    def make_edits(self, fixes: list[FindingFix]) -> None:
        """Make an edit for each fix where that is possible, one for each place."""
        paths = {path for _, fix in fixes for path in (fix.path, fix.path[:-1])}
        paths = {path for path in paths if get_at(self.document.data, path, self) is not self}
        places = self.document.locate(paths) if paths else {}
        wanted: dict[tuple[str, Edit], list[FindingFix]] = {}
        copies: dict[tuple[str, Edit], int] = {}
        for finding, fix in fixes:
            made = self._make_edit(finding, fix, places)
            if isinstance(made, str):
                self.obstacles.setdefault(finding, made)
            else:
                file, edit, copies[file, edit] = made
                wanted.setdefault((file, edit), []).append((finding, fix))
        for (file, edit), together in wanted.items():
            shared = copies[file, edit] > len({fix.path for _, fix in together})
            for finding, fix in together:
                if obstacle := SHARED if shared else self._apply(fix, file, edit):
                    self.obstacles.setdefault(finding, obstacle)
                else:
                    self.fixes_by_edit.setdefault((file, edit), []).append((finding, fix))

    def _make_edit(self, finding: Finding, fix: Fix, places: dict[JsonPath, Location]) -> tuple[str, Edit, int] | str:
        """The file and the edit for a fix, and the number of values that it changes; or why it is impossible."""
        location = (places.get(fix.path) or places.get(fix.path[:-1])) if fix.path else finding.location
        if location is None:
            return NO_TEXT
        if not fix.path and not self._is_in_services(finding):
            return "it is outside of the service offerings, where other programs may read it"
        wanted = _spell_target_as_spring(fix) if self._is_spring else fix
        try:
            text = self._load_text(location.source)
        except DocumentError:  # a file of variables
            return NO_TEXT
        made = text.make_edit(wanted, location, exists=fix.path in places, protect_aliases=bool(self.document.top))
        if isinstance(made, str):
            return made
        edit, copies = made
        if "${" in text.text[edit.start : edit.end] and "${" not in edit.new:
            return "its text has a variable of the build"
        return location.source, edit, copies

    def _is_in_services(self, finding: Finding) -> bool:
        """Return whether it is about the list of service offerings; other parts of a file may be for other programs."""
        document = self.document
        is_catalog = isinstance(document.data.get("services"), list)
        return document.syntax in ("folder", "brokerpak") or (is_catalog and finding.path[:1] == ("services",))

    def _apply(self, fix: Fix, file: str, edit: Edit) -> str:
        """Record an edit, and apply its fix to `expected`; return why that is impossible, or an empty text."""
        edits = self._edits.setdefault(file, {})
        if edits.get(edit.start, edit) != edit:
            return OTHER_FIX  # two edits at one place are made in two passes
        if not _apply_to_catalog(self.expected, fix, edit):
            return "another fix or key is in the way"
        if self._is_spring and fix.action == "rename":
            parent = get_at(self.expected, fix.path[:-1])
            parent[fix.value] = sent_value(parent[fix.value], (*fix.path[:-1], fix.value))
        edits[edit.start] = edit
        return ""

    @property
    def fixed_findings(self) -> list[Finding]:
        """The findings that this pass fixes, each once, with the fixes that it makes."""
        made = group_by_finding(chain(*self.fixes_by_edit.values()))
        return [narrow_to_fixes(finding, fixes) for finding, fixes in made.items()]

    def changes_only_catalog(self) -> bool:
        """Return whether files stay unchanged outside of the catalog, which may be a part of a larger document."""
        top = self.document.top
        return not top or all(
            _other_content(self.original_content(name), name, top) == _other_content(data, name, top)
            for name, data in self.changed_files().items()
        )

    def _load_text(self, name: str) -> "_SourceText":
        if name not in self._texts:
            self._texts[name] = _SourceText(name, self.original_content(name))
        return self._texts[name]

    def original_content(self, name: str) -> bytes:
        """Content of a file before this pass."""
        if name not in self._files:
            self._files[name] = Path(name).read_bytes()
        return self._files[name]

    def offset_of(self, location: Location) -> int:
        """Offset of a location in the text of its file before this pass."""
        return self._load_text(location.source).lines.offset_of(location)

    def edits_by_file(self) -> dict[str, list[Edit]]:
        """The edits of this pass, by file."""
        return {name: list(edits.values()) for name, edits in self._edits.items() if edits}

    def changed_files(self) -> dict[str, bytes]:
        """The changed files, with their new content."""
        texts = {name: apply_edits(self._texts[name].text, edits) for name, edits in self.edits_by_file().items()}
        marks = {name: _BOM if self.original_content(name).startswith(_BOM) else b"" for name in texts}
        return {name: marks[name] + text.encode() for name, text in texts.items()}


class _SourceText:
    """One file: its text, and the location of each value in it."""

    def __init__(self, name: str, data: bytes) -> None:
        self._document = parse_text(decode_utf8(data, name), name)
        self.text = self._document.text
        self.spans: dict[JsonPath, Span] = self._document.spans(aliases=True)
        self.lines = Lines(name, self.text)
        self._keys = {span.key[0]: path for path, span in self.spans.items() if span.key[1]}
        self._items = {span.start: path for path, span in self.spans.items() if not span.key[1]}
        self._plain = {}  # what begins with a key begins where that does: the key comes last
        for span in self.spans.values():
            if not (span.style or span.anchored):
                self._plain[span.start] = (span.start, span.end)
        self._plain.update({self.spans[path].key[0]: self.spans[path].key for path in self._keys.values()})

    def make_edit(self, fix: Fix, location: Location, *, exists: bool, protect_aliases: bool) -> tuple[Edit, int] | str:
        """The edit for `fix` and the number of values that it changes; or why there is none.

        `location` is that of the value, or of the object that it is added to if it does not exist yet.
        `protect_aliases`: do not quote a scalar that an alias may refer to.
        """
        offset = self.lines.offset_of(location)
        if not fix.path:
            spans = self.spans.values()
            if protect_aliases and any(span.anchored and span.start <= offset < span.end for span in spans):
                return SHARED
            edit = make_quoting_edit(self.text, self._plain.get(offset))
            return edit if isinstance(edit, str) else (edit, 1)
        path = self._path_in_file(offset, fix.path if exists else fix.path[:-1])
        if path is None:
            return NO_TEXT
        path = path if exists else (*path, fix.path[-1])
        edit = make_edit(self._document, self.spans, fix, path)
        changed = path if exists and fix.action not in ("rename", "remove") else path[:-1]
        return edit if isinstance(edit, str) else (edit, self.spans[changed].copies)

    def _path_in_file(self, offset: int, catalog_path: JsonPath) -> JsonPath | None:
        """Find the path in this file of the value at `catalog_path`, by its offset. None if another value is there."""
        has_key = bool(catalog_path) and isinstance(catalog_path[-1], str)
        found = (self._keys if has_key else self._items).get(offset)
        if has_key and found is None:  # the file of a service is one entry of the catalog, and the top of its own file
            found = self._items.get(offset)
        matches = found is not None and (not has_key or not found or has_name(str(found[-1]), str(catalog_path[-1])))
        return found if matches else None


def _spell_target_as_spring(fix: Fix) -> Fix:
    """The fix with the name of its own field, or its new name, as Spring spells it."""
    if fix.action == "rename":
        return fix._replace(value=spring_key(fix.value))
    *above, last = fix.path or ("",)
    return fix._replace(path=(*above, spring_key(last))) if isinstance(last, str) and last else fix


def _other_content(data: bytes, name: str, top: JsonPath) -> Any:
    """Content of a file outside the catalog at `top`."""
    whole: Any = json.loads(json.dumps(parse_text(decode_utf8(data, name), name).data))
    get_at(whole, top[:-1])[top[-1]] = None
    return whole


def _apply_to_catalog(catalog: Any, fix: Fix, edit: Edit) -> bool:
    """Change the catalog in place as the edit changes its text. Return whether that was possible."""
    if not fix.path:
        return True
    parent: Any = get_at(catalog, fix.path[:-1])
    last = fix.path[-1]
    if type(parent) not in (dict, list):
        return False
    if fix.action == "rename":
        if fix.value in parent or last not in parent:
            return False
        parent[fix.value] = parent.pop(last)
    elif fix.action == "remove":
        del parent[last]
    elif fix.action == "wrap":
        parent[last] = [fix.value]
    else:
        parent[last] = json.loads(edit.new) if fix.action == "quote" else fix.value
    return True


def find_draft_fix(finding: Finding, data: Any) -> Fix | None:
    """Return the fix of a finding about the draft in `$schema`, None for other findings.

    A draft that a platform refuses is replaced by the oldest one that it knows, if the schema means the same there. A
    missing one is added: draft-04, or draft-06 for keywords of later drafts; safe if the comparison proves that the
    same requests pass. A draft under another key, such as `schema`, is renamed.
    """
    schema = get_at(data, finding.path[:-1]) if finding.path[-1:] == ("$schema",) else None
    if not isinstance(schema, dict) or finding.fixes:
        return None
    if "$schema" not in schema:
        return _missing_draft_fix(schema, finding.path) if finding.rule in RULES else None  # else a rule of the user
    if not finding.refused_by or not isinstance(schema["$schema"], str):
        return None
    from osbctl.jsonschemas.dialects import find_older_draft

    older = find_older_draft(schema)
    return Fix("set", finding.path, older.address, older.is_safe) if older.address else None


def _missing_draft_fix(schema: dict[str, Any], path: JsonPath) -> Fix | None:
    from osbctl.jsonschemas.compare import compare_schemas
    from osbctl.jsonschemas.dialects import find_older_draft, misspelled_schema_key

    slip, address = misspelled_schema_key(schema), find_older_draft(schema).address
    if not slip and not address:
        return None
    new = {**schema, "$schema": schema[slip] if slip else address}
    pairs = ((schema, new), (new, schema))
    proved = all(change.level == "safe" for pair in pairs for change in compare_schemas(*pair))
    if slip:
        return Fix("rename", (*path[:-1], slip), "$schema", proved)
    return Fix("set", path, new["$schema"], proved)
