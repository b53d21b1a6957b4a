"""One pass of fixes over a source: the edits of its files, and the catalog expected after them."""

import json
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from osbctl.findings import DocumentError, Finding, Fix, Location
from osbctl.fixes.edits import NO_TEXT, Edit, apply_edits, make_edit, make_quoting_edit
from osbctl.paths import JsonPath, get_at, pointer, value_at
from osbctl.sources.document import Document
from osbctl.sources.parse import decode_utf8, parse_text
from osbctl.sources.places import Lines, Span
from osbctl.sources.spring import is_in_spring_catalog, spring_field_name

FindingFix: TypeAlias = tuple[Finding, Fix]

_BOM = b"\xef\xbb\xbf"
SHARED = "the same text is used elsewhere, too"
OTHER_FIX = "another fix is in the way"

MISSING, NOT_TAKEN = "parameters-dialect-missing", "cloudfoundry-schema-dialect"


def narrow_to_fixes(finding: Finding, fixes: Sequence[Fix]) -> Finding:
    """The finding with these of its fixes; of a group, the members that they are for."""
    ids = set(map(id, fixes))
    meant = [member for member in finding.members if not ids.isdisjoint(map(id, member.fixes))]
    if len(meant) == 1:
        return meant[0]._replace(fixes=tuple(fixes))
    if not meant or len(meant) == len(finding.members):
        return finding._replace(fixes=tuple(fixes))
    sentence = finding.group.sentence(len(meant)) if finding.group else finding.sentence
    return meant[0]._replace(sentence=sentence, fixes=tuple(fixes), members=tuple(meant))


def unique_findings(fixes: Iterable[FindingFix]) -> list[Finding]:
    """The findings of these fixes, each once; by identity, because the values of fixes have no hash."""
    return list({id(finding): finding for finding, _ in fixes}.values())


class Pass:
    """The edits of one pass over the findings; `expected` is the catalog that the edited files must hold."""

    def __init__(self, document: Document, files: dict[str, bytes]) -> None:
        self.document = document
        self.expected = json.loads(json.dumps(document.data))  # without shared values, which aliases make
        self.fixes_by_edit: dict[tuple[str, Edit], list[FindingFix]] = {}
        self.obstacles: dict[int, str] = {}
        """Reasons why fixes have no edit, by the `id()` of the finding."""
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
                self.obstacles.setdefault(id(finding), made)
            else:
                file, edit, copies[file, edit] = made
                wanted.setdefault((file, edit), []).append((finding, fix))
        for (file, edit), together in wanted.items():
            shared = copies[file, edit] > len({fix.path for _, fix in together})
            for finding, fix in together:
                if obstacle := SHARED if shared else self._apply(fix, file, edit):
                    self.obstacles.setdefault(id(finding), obstacle)
                else:
                    self.fixes_by_edit.setdefault((file, edit), []).append((finding, fix))

    def _make_edit(
        self, finding: Finding, fix: Fix, locations: dict[JsonPath, Location]
    ) -> tuple[str, Edit, int] | str:
        """The file and the edit for a fix, and the number of values that it changes; or why it is impossible."""
        location = (locations.get(fix.path) or locations.get(fix.path[:-1])) if fix.path else finding.location
        if location is None:
            return NO_TEXT
        if not fix.path and not self._is_in_services(finding):
            return "it is outside of the service offerings, where other programs may read it"
        top = self.document.top
        wanted = fix if not is_in_spring_catalog(pointer(top)) else _translate_to_spring(fix)
        try:
            text = self._load_text(location.source)
        except DocumentError:  # a file of variables
            return NO_TEXT
        made = text.make_edit(wanted, location, exists=fix.path in locations, protect_aliases=bool(top))
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
        edits[edit.start] = edit
        return ""

    @property
    def fixed_findings(self) -> list[Finding]:
        """The findings that this pass fixes, each once, with the fixes that it makes."""
        made: dict[int, tuple[Finding, list[Fix]]] = {}
        for finding, fix in chain(*self.fixes_by_edit.values()):
            made.setdefault(id(finding), (finding, []))[1].append(fix)
        return [narrow_to_fixes(finding, fixes) for finding, fixes in made.values()]

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
        """Find the path in this file of the value at `catalog_path`, by its offset; None if another value is there."""
        has_key = bool(catalog_path) and isinstance(catalog_path[-1], str)
        found = (self._keys if has_key else self._items).get(offset)
        if has_key and found is None:  # the file of a service is one entry of the catalog, and the top of its own file
            found = self._items.get(offset)
        matches = found is not None and (not has_key or not found or found[-1] == catalog_path[-1])
        return found if matches else None


def _translate_to_spring(fix: Fix) -> Fix:
    """The fix with field names as Spring spells them."""
    if fix.action == "rename":
        return fix._replace(value=spring_field_name(fix.value))
    *above, last = fix.path or ("",)
    return fix._replace(path=(*above, spring_field_name(last))) if isinstance(last, str) and last else fix


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

    A draft that Cloud Foundry refuses is replaced by the oldest one that it knows, if the schema means the same there.
    A missing one is added: draft-04, or draft-06 for keywords of later drafts; safe if the comparison proves that the
    same requests pass. A draft under another key, such as `schema`, is renamed.
    """
    if finding.rule not in (MISSING, NOT_TAKEN) or finding.path[-1:] != ("$schema",):
        return None
    from osbctl.jsonschemas.compare import compare_schemas
    from osbctl.jsonschemas.dialects import find_older_draft, misspelled_schema_key

    old = value_at(data, finding.path[:-1])
    older = find_older_draft(old)
    if finding.rule == NOT_TAKEN:
        return Fix("set", finding.path, older.address, older.is_safe) if older.address else None
    slip = misspelled_schema_key(old)
    if not slip and not older.address:
        return None
    new = {**old, "$schema": old[slip] if slip else older.address}
    proved = all(change.level == "safe" for pair in ((old, new), (new, old)) for change in compare_schemas(*pair))
    if slip:
        return Fix("rename", (*finding.path[:-1], slip), "$schema", proved)
    return Fix("set", finding.path, new["$schema"], proved)
