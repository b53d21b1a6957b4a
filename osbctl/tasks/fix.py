"""What `osbctl fix` does: mends in the text what can be mended without the author.

Edits are made in passes, since one fix may lay open the next. After each pass the source is read again, and must hold
what it held before but for the fixes; else nothing of that pass is kept.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from osbctl.errors import OsbctlError, SourceError, UsageError
from osbctl.files import write_file, write_linked
from osbctl.findings import Finding, Fix, Location
from osbctl.fixes.drafts import draft_fix
from osbctl.fixes.edits import Edit, applied, edit, quoted
from osbctl.paths import Path as Steps
from osbctl.paths import found_at, value_at
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.document import Document
from osbctl.sources.folder import read_folder
from osbctl.sources.parse import decoded, parse_text
from osbctl.sources.read import read_bytes, read_source
from osbctl.sources.spans import Span, spans
from osbctl.validation.judge import judge
from osbctl.validation.options import ValidationOptions

_Wanted: TypeAlias = tuple[Finding, Fix]
_Read: TypeAlias = Callable[[dict[str, bytes]], Document]

MAX_PASSES = 100
"""A reader points out 100 scalars at a time. What is left after that, the next run mends."""

_MAX_FAULTS = 100_000
"""So many errors of the schema are asked for in a pass, which reads and judges the whole source again."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Mended:
    """One source: its files before and after, what was mended, what `--unsafe` would mend, and what is left.

    `read_as` as that of a `Document`.
    """

    source: str
    before: dict[str, bytes]
    after: dict[str, bytes]
    mended: tuple[Finding, ...]
    unsafe: tuple[Finding, ...]
    left: tuple[Finding, ...]
    read_as: str = ""

    @property
    def changed(self) -> dict[str, tuple[bytes, bytes]]:
        """The files that change: name to bytes before and after."""
        return {name: (self.before[name], new) for name, new in self.after.items() if new != self.before[name]}


def fix_source(source: str, options: ValidationOptions, *, unsafe: bool = False, at: str = "") -> Mended:
    """Mend one source: a file, or a source folder. Nothing is written: `write` does that.

    Raises:
        SourceError, DocumentError: it cannot be opened or read.
    """
    if Path(source).is_file():
        return fix_bytes(source, read_bytes(source)[0], options, unsafe=unsafe, at=at)
    if not Path(source).is_dir():
        read_source(source)  # which says what is wrong with a word that names nothing
        raise UsageError(f"{source} is not a file that can be edited", "name a file or a source folder")

    def read(files: dict[str, bytes]) -> Document:
        return read_folder(source, unsaved={Path(name).resolve(): data for name, data in files.items()})

    return _passes(source, {}, read, options, unsafe)


def fix_bytes(name: str, data: bytes, options: ValidationOptions, *, unsafe: bool = False, at: str = "") -> Mended:
    """Mend the catalog in `data`, which reports call `name`; raises as `fix_source`."""

    def read(files: dict[str, bytes]) -> Document:
        document = parse_catalog(decoded(files[name], name), name, at=at, nested=False)
        if document.embedded:
            raise UsageError(f"{name}: osbctl fix edits no text inside a string or a stream of documents")
        return document

    return _passes(name, {name: data}, read, options, unsafe)


def with_fixes(findings: Iterable[Finding], document: Document) -> tuple[Finding, ...]:
    """The findings with all their fixes: those that the rules name, and drafts brought to one that is taken."""
    return tuple(
        finding._replace(fixes=(fix,)) if (fix := draft_fix(finding, document.data)) else finding
        for finding in findings
    )


def edits_of(
    findings: Iterable[Finding],
    document: Document,
    files: dict[str, bytes],
    read: _Read,
    unsafe: bool,
) -> dict[str, list[Edit]]:
    """The edits by file that carry out the fixes of `findings`, each once.

    `files` are those of the document that differ from what is on disk, `read` reads it with those that it is given.
    Empty where nothing can be done so that the source holds what it should then.
    """
    possible = _possible(document, files, _wanted(findings, unsafe), read, [])
    return possible[0].edits() if possible else {}


def write(mended: Mended) -> None:
    """Write the files that change, each whole or not at all.

    Raises:
        SourceError: one cannot be written, or was changed by somebody else since it was read.
    """
    for name, (before, after) in mended.changed.items():
        if (now := read_bytes(name)[0]) not in (before, after):
            raise SourceError(f"{name} has changed since it was read, so it was not written", "run osbctl fix again")
        if now != after:
            (write_linked if os.stat(name).st_nlink > 1 else write_file)(name, after)  # noqa: PTH116


def _passes(
    source: str,
    files: dict[str, bytes],
    read: _Read,
    options: ValidationOptions,
    unsafe: bool,
) -> Mended:
    before, after = dict(files), dict(files)
    mended: list[Finding] = []
    failed: list[_Wanted] = []
    document = read(after)
    findings = _findings(document, options)
    for _ in range(MAX_PASSES):
        possible = _possible(document, after, _wanted(findings, unsafe), read, failed)
        if possible is None:
            break
        step, document = possible
        changes = step.changes()
        before, after = {name: step.content(name) for name in changes} | before, after | changes
        mended += step.done
        findings = _findings(document, options)
    would = tuple(finding for finding in findings if any(not fix.safe for fix in finding.fixes))
    return Mended(source, before, after, tuple(mended), () if unsafe else would, findings, document.read_as)


def _wanted(findings: Iterable[Finding], unsafe: bool) -> list[_Wanted]:
    return [(finding, fix) for finding in findings for fix in finding.fixes if fix.safe or unsafe]


def _possible(
    document: Document, files: dict[str, bytes], wanted: list[_Wanted], read: _Read, failed: list[_Wanted]
) -> tuple[_Pass, Document] | None:
    """The pass that carries out those of the `wanted` that can be made, and what the source holds then.

    Where it would hold something else than it should, since a text counts in several places, say, a half of them is
    tried. What fails alone is `failed`. None where nothing can be done.
    """
    step = _Pass(document, files)
    step.mend([one for one in wanted if one not in failed])
    if not step.made:
        return None
    try:
        again = read(files | step.changes())
    except OsbctlError:
        again = None
    if again is not None and again.data == step.expected:
        return step, again
    if len(step.made) == 1:
        failed += step.made
        return None
    half = len(step.made) // 2
    return _possible(document, files, step.made[:half], read, failed) or _possible(
        document, files, step.made[half:], read, failed
    )


def _findings(document: Document, options: ValidationOptions) -> tuple[Finding, ...]:
    """What is to be said of the document, each finding with its fixes."""
    options = options._replace(max_schema_findings=_MAX_FAULTS)
    return with_fixes(judge(document, options).findings, document)


class _Pass:
    """The edits of one pass over the findings, and the value that the catalog must have after it."""

    def __init__(self, document: Document, files: dict[str, bytes]) -> None:
        self.document = document
        self.expected = json.loads(json.dumps(document.data))  # where an alias stands, too, a value is one by itself
        self.made: list[_Wanted] = []
        self._files = dict(files)
        self._texts: dict[str, _Text] = {}
        self._edits: dict[str, dict[int, Edit]] = {}

    def mend(self, wanted: list[_Wanted]) -> None:
        """Make an edit of each fix that can be made, one for each place."""
        paths = {path for _, fix in wanted for path in (fix.path, fix.path[:-1])}
        paths = {path for path in paths if found_at(self.document.data, path, self) is not self}
        places = self.document.locate(paths) if paths else {}
        for finding, fix in wanted:
            self._one(finding, fix, places)

    def _one(self, finding: Finding, fix: Fix, places: dict[Steps, Location]) -> None:
        place = (places.get(fix.path) or places.get(fix.path[:-1])) if fix.path else finding.location
        if place is None:
            return
        made = self._text(place.source).edit(fix, place, exists=fix.path in places)
        edits = self._edits.setdefault(place.source, {})
        # One text may stand in several places of the catalog; two edits at one place are made in two passes.
        if made and edits.get(made.start, made) == made and _carry_out(self.expected, fix, made):
            edits[made.start] = made
            self.made.append((finding, fix))

    @property
    def done(self) -> list[Finding]:
        """The findings that something was done about, each once."""
        return list({id(finding): finding for finding, _ in self.made}.values())

    def _text(self, name: str) -> _Text:
        if name not in self._texts:
            self._texts[name] = _Text(name, self.content(name))
        return self._texts[name]

    def content(self, name: str) -> bytes:
        """A file as it is before this pass."""
        if name not in self._files:
            self._files[name] = Path(name).read_bytes()
        return self._files[name]

    def edits(self) -> dict[str, list[Edit]]:
        """The edits of this pass, by file."""
        return {name: list(edits.values()) for name, edits in self._edits.items() if edits}

    def changes(self) -> dict[str, bytes]:
        """The files that this pass changes."""
        texts = {name: applied(self._texts[name].text, edits) for name, edits in self.edits().items()}
        marks = {name: _BOM if self.content(name).startswith(_BOM) else b"" for name in texts}
        return {name: marks[name] + text.encode() for name, text in texts.items()}


class _Text:
    """One file: its text, and where in it every value stands."""

    def __init__(self, name: str, data: bytes) -> None:
        self._document = parse_text(decoded(data, name), name)
        self.text = self._document.text
        self.spans: dict[Steps, Span] = spans(self._document)
        self._lines = [0, *(found.end() for found in re.finditer(r"\r\n?|\n", self.text))]
        self._keys = {span.key[0]: path for path, span in self.spans.items() if span.key[1]}
        self._items = {span.start: path for path, span in self.spans.items() if not span.key[1]}
        values = {s.start: (s.start, s.end) for s in self.spans.values() if not (s.style or s.anchored)}
        # What begins with a key begins where that does: the key comes last.
        self._plain = values | {span.key[0]: span.key for span in self.spans.values() if span.key[1]}

    def edit(self, fix: Fix, place: Location, *, exists: bool) -> Edit | None:
        """The edit that carries out `fix`; `place` is that of its value, or of what that will be put into."""
        offset = self._lines[place.line - 1] + place.column - 1
        if not fix.path:
            return quoted(self.text, self._plain.get(offset))
        inside = self._path(offset, fix.path if exists else fix.path[:-1])
        if inside is None:
            return None
        return edit(self._document, self.spans, fix, inside if exists else (*inside, fix.path[-1]))

    def _path(self, offset: int, path: Steps) -> Steps | None:
        """The path in this file of the value that stands at `path` of the catalog, by where it begins."""
        named = bool(path) and isinstance(path[-1], str)
        found = (self._keys if named else self._items).get(offset)
        if named and found is None:  # the file of a service is one entry of the catalog, and the top of its own file
            found = self._items.get(offset)
        same = found is not None and (not named or not found or found[-1] == path[-1])
        return found if same else None


def _carry_out(data: Any, fix: Fix, made: Edit) -> bool:
    """Do to the value what the edit does to its text; whether it could be done."""
    if not fix.path:
        return True
    *steps, last = fix.path
    data = value_at(data, tuple(steps))
    if fix.action == "rename":
        if fix.value in data or last not in data:
            return False
        data[fix.value] = data.pop(last)
    elif fix.action == "wrap":
        data[last] = [fix.value]
    else:
        data[last] = json.loads(made.new) if fix.action == "quote" else fix.value
    return True
