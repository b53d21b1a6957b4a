"""Work of `osbctl fix`: apply fixes to the text of a source.

Edits are made in passes, because one fix may uncover the next. After each pass the source is read again. Its data must
be the old data with the fixes; else the pass is discarded.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from osbctl.errors import OsbctlError, SourceError, UsageError
from osbctl.files import write_file
from osbctl.findings import Finding
from osbctl.fixes.edits import Edit
from osbctl.fixes.passes import Pass, Wanted, draft_fix, each_once
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.document import Document
from osbctl.sources.folder import read_folder
from osbctl.sources.parse import decoded
from osbctl.sources.read import read_source
from osbctl.sources.read_bytes import read_bytes
from osbctl.sources.variables import VariablesOf, no_variables
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document

_Read: TypeAlias = Callable[[dict[str, bytes]], Document]

MAX_PASSES = 100
"""A reader reports 100 scalars, and the schema 1,000 errors at a time. A second run fixes the rest."""


@dataclass(frozen=True, slots=True)
class FixResult:
    """One source: its files before and after, and findings by fate: fixed, fixed only with `--unsafe`, left.

    `stuck` are findings whose fix cannot be made, with the reason; `read_as` as in `Document`.
    """

    source: str
    before: dict[str, bytes]
    after: dict[str, bytes]
    mended: tuple[Finding, ...]
    unsafe: tuple[Finding, ...]
    left: tuple[Finding, ...]
    read_as: str = ""
    stuck: tuple[tuple[Finding, str], ...] = ()

    @property
    def changed(self) -> dict[str, tuple[bytes, bytes]]:
        """The files that change: name to bytes before and after."""
        return {name: (self.before[name], new) for name, new in self.after.items() if new != self.before[name]}


def fix_source(
    source: str,
    options: ValidationOptions,
    *,
    unsafe: bool = False,
    at: str = "",
    variables_of: VariablesOf = no_variables,
) -> FixResult:
    """Fix one source: a file, a source folder, or a brokerpak; `write` writes it. Raises SourceError, DocumentError."""
    if Path(source).is_file():
        return fix_bytes(source, read_bytes(source)[0], options, unsafe=unsafe, at=at)
    if not Path(source).is_dir():
        read_source(source)  # raises if there is no such source
        raise UsageError(f"{source} is not a file that can be edited", "name a file or a source folder")

    def read(files: dict[str, bytes]) -> Document:
        unsaved = {Path(name).resolve(): data for name, data in files.items()}
        return read_folder(source, unsaved=unsaved, variables_of=variables_of)

    return _passes(source, {}, read, options, unsafe)


def fix_bytes(name: str, data: bytes, options: ValidationOptions, *, unsafe: bool = False, at: str = "") -> FixResult:
    """Fix the catalog in `data`, which reports call `name`; raises as `fix_source`."""

    def read(files: dict[str, bytes]) -> Document:
        document = parse_catalog(decoded(files[name], name), name, at=at, nested=False)
        if document.embedded:
            raise UsageError(f"{name}: osbctl fix edits no text inside a string or a stream of documents")
        return document

    return _passes(name, {name: data}, read, options, unsafe)


def with_fixes(findings: Iterable[Finding], document: Document) -> tuple[Finding, ...]:
    """The findings with all their fixes: those of the rules, and of schemas whose draft is not accepted."""
    found = []
    for finding in findings:
        made = (draft_fix(finding._replace(path=path), document.data) for path in (finding.path, *finding.other_paths))
        found.append(finding._replace(fixes=tuple(filter(None, made)) or finding.fixes))
    return tuple(found)


def edits_of(
    findings: Iterable[Finding], document: Document, files: dict[str, bytes], read: _Read, unsafe: bool
) -> dict[str, list[Edit]]:
    """The edits by file that apply the fixes of `findings`, each once; empty if they cannot be applied.

    If only some can be applied together, these are the edits of a part; asked again, the rest follows. `files` are the
    files of the document that differ from the disk; `read` reads the source with such files.
    """
    possible = _working_pass(document, files, _wanted(findings, document, unsafe), read, [])
    return possible[0].edits() if possible else {}


def write(mended: FixResult) -> None:
    """Write the files that change, each whole or not at all.

    Raises SourceError: one cannot be written, or was changed since it was read.
    """
    for name, (before, after) in mended.changed.items():
        if (now := read_bytes(name)[0]) not in (before, after):
            raise SourceError(f"{name} has changed since it was read, so it was not written", "run osbctl fix again")
        if now != after:
            write_file(name, after)


def _passes(source: str, files: dict[str, bytes], read: _Read, options: ValidationOptions, unsafe: bool) -> FixResult:
    before, after = dict(files), dict(files)
    mended: list[Finding] = []
    failed: list[Wanted] = []
    tried_at = 0
    document = read(after)
    findings = with_fixes(validate_document(document, options).findings, document)
    for _ in range(MAX_PASSES):
        wanted = _wanted(findings, document, unsafe)
        # A quoted word has lost its YAML 1.1 meaning: fixes that use the meaning come first.
        meaning = [one for one in wanted if one[1].path]
        possible = _working_pass(document, after, meaning, read, failed) or _working_pass(
            document, after, wanted, read, failed
        )
        if possible is None and failed and len(mended) > tried_at:
            failed, tried_at = [], len(mended)  # later fixes may have removed the obstacle
            continue
        if possible is None:
            break
        step, document = possible
        changes = step.changes()
        before, after = {name: step.content(name) for name in changes} | before, after | changes
        mended += step.done
        findings = with_fixes(validate_document(document, options).findings, document)
    would = () if unsafe else each_once(one for one in _wanted(findings, document, True) if not one[1].safe)
    stuck = tuple(_stuck(_wanted(findings, document, unsafe), failed))
    return FixResult(source, before, after, tuple(mended), tuple(would), findings, document.read_as, stuck)


def _wanted(findings: Iterable[Finding], document: Document, unsafe: bool) -> list[Wanted]:
    """The fixes to make. In a file, scalars are quoted only inside its list of service offerings."""
    found = [(finding, fix) for finding in findings for fix in finding.fixes if fix.safe or unsafe]
    if document.parts:
        return found
    is_catalog = isinstance(document.data.get("services"), list)
    return [one for one in found if one[1].path or (is_catalog and one[0].path[:1] == ("services",))]


def _stuck(wanted: list[Wanted], failed: list[Wanted]) -> Iterator[tuple[Finding, str]]:
    known = {(finding.rule, finding.path) for finding, _ in failed}
    for finding in each_once(wanted):
        if (finding.rule, finding.path) in known:
            yield finding, "the same text is used elsewhere, too"
        else:
            yield finding, "the value is computed, so there is no text to edit"


def _working_pass(
    document: Document, files: dict[str, bytes], wanted: list[Wanted], read: _Read, failed: list[Wanted]
) -> tuple[Pass, Document] | None:
    """A pass of `wanted` fixes that works, and the document after it; None if none does.

    If the document would differ in anything else, such as another place that an alias copies to, the first half that
    works is returned, and the rest is left to later passes. A fix that fails alone is added to `failed`. `files` are
    those that differ from the disk.
    """
    step = Pass(document, files)
    step.mend([one for one in wanted if one not in failed])
    if not step.made:
        return None
    try:
        again = read(files | step.changes())
    except OsbctlError:
        again = None
    if again is not None and again.data == step.expected and step.keeps_the_rest():
        return step, again
    groups = list(step.made.values())
    if len(groups) == 1:
        failed += groups[0]
        return None
    half = len(groups) // 2
    return _working_pass(document, files, list(chain(*groups[:half])), read, failed) or _working_pass(
        document, files, list(chain(*groups[half:])), read, failed
    )
