"""`osbctl fix`: apply fixes in place."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, TypeAlias

from osbctl.commands import options as common
from osbctl.commands.options import Argument, Option, find_named_catalogs
from osbctl.commands.output import print_error, print_failure_count, print_note, use_color, write_output
from osbctl.commands.settings import ValidationSettings, resolve_config, validation_options, variables_lookup
from osbctl.config import load_config
from osbctl.errors import OsbctlError, SourceError, UsageError, error_sentence, run_contained, run_on_each
from osbctl.files import write_file
from osbctl.findings import Finding, fixes_of
from osbctl.fixes import (
    OTHER_FIX,
    Edit,
    FindingFix,
    Pass,
    find_draft_fix,
    group_by_finding,
    narrow_to_fixes,
    offset_before,
)
from osbctl.sources.catalogs import find_only_catalog
from osbctl.sources.document import Document, decode_utf8, parse_stream
from osbctl.sources.places import Lines
from osbctl.sources.read import VariablesOf, find_only_file, read_source, read_whole_folder
from osbctl.sources.read_bytes import DEFAULT_LIMITS, check_stdin_used_once, read_bytes, read_stdin, report_name
from osbctl.text import AnsiStyle, escape_ci_commands, escape_line
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document

_SOURCE = f"A JSON or YAML file, a source folder, a brokerpak, or - for standard input.{common.CATALOGS_IN_FOLDER}"


def fix(
    sources: Annotated[tuple[str, ...], Argument("SOURCE...", _SOURCE)] = (),
    unsafe: Annotated[bool, Option("Also apply fixes that may change what platforms do.")] = False,
    check: Annotated[bool, Option("Write nothing; exit with 1 if something would be fixed.")] = False,
    diff: Annotated[bool, Option("Like --check, and print a patch for git apply -p0.")] = False,
    select: Annotated[
        tuple[str, ...], Option("Fix only this rule; repeatable.", metavar="RULE", complete="rules")
    ] = (),
    api_version: common.CheckedVersion = None,
    exclude: common.Exclude = (),
    at: common.At = "",
    stdin_filename: common.StdinFilename = None,
    config: common.Config = None,
    env: common.Env = None,
) -> int:
    """Fix catalogs in place. Comments, order, quotes and line ends stay as they are.

    Without --unsafe, a fix changes only what every platform reads the same way before and after, or refused before.
    Ids are never changed. With - as SOURCE, the fixed catalog is printed on standard output.

    \b
    osbctl fix catalog.yaml
    osbctl fix --diff --unsafe catalog.yaml
    osbctl fix --check services/*.yaml
    osbctl fix - < catalog.json > fixed.json
    """
    named = find_named_catalogs(sources, exclude=exclude)
    check_stdin_used_once(named)
    common.check_options_used(named, env=env, stdin_filename=stdin_filename)
    settings = ValidationSettings(tuple(named), api_version=api_version, select=select)
    given = load_config(config) if config else None
    variables, dry_run = variables_lookup(env, config), check or diff
    options = run_on_each(lambda name: validation_options(settings, resolve_config(name, stdin_filename, given)), named)

    def fix_one(source: str, chosen: ValidationOptions) -> bool:
        """Fix one source, and return whether it changes."""
        name = report_name(source, stdin_filename)
        if source == "-":
            result = fix_bytes(name, read_stdin(name, DEFAULT_LIMITS), chosen, unsafe=unsafe, at=at)
        else:
            result = fix_source(source, chosen, unsafe=unsafe, at=at, variables_of=variables)
        if diff:
            write_output("".join(_format_patch(result)))
        elif source == "-" and not dry_run:
            write_output(result.after[name].decode())
        elif not dry_run:
            write_fixed_files(result)
        unfixable = result.unfixable_before if dry_run else result.unfixable
        print_note(*_result_notes(result, "would fix" if dry_run else "fixed", unfixable))
        return bool(result.changed_files)

    outcomes: list[int] = []
    failed = 0
    for source, chosen in zip(named, options, strict=True):
        changes = chosen if isinstance(chosen, OsbctlError) else run_contained(fix_one, source, chosen)
        if isinstance(changes, _NotEditableError) and source not in sources:  # it was found
            print_note(error_sentence(changes))
            outcomes.append(0)
        elif isinstance(changes, OsbctlError):
            failed += 1
            outcomes.append(print_error(changes, report_name(source, stdin_filename)))
        else:
            outcomes.append(int(changes and dry_run))
    print_failure_count(failed, len(named), "sources could not be fixed")
    return max(outcomes)


def _result_notes(result: FixResult, verb: str, unfixable: Iterable[tuple[Finding, str]]) -> Iterator[str]:
    """A line for each fix, and for each that cannot be made, then the number of findings that are left."""
    if result.read_as:
        yield result.read_as
    for finding in result.fixed:
        yield f"{finding.location or result.source}: {verb}: {_describe_fixes(finding)} [{finding.rule}]"
    for finding, why in unfixable:
        yield f"{finding.location or result.source}: not fixed: {finding.message} [{finding.rule}]: {why}"
    more = f", {len(result.unsafe)} more with --unsafe" if result.unsafe else ""
    left = len(result.remaining) - len(result.unsafe)
    if not result.fixed and not result.remaining:
        yield f"{result.source}: nothing to fix"
        return
    yield f"{result.source}: {verb} {len(result.fixed)}{more}; {left} left for you"


def _describe_fixes(finding: Finding) -> str:
    """The fixes of a finding in words, with the places of a group after the first."""
    from osbctl.reports.text_report import format_other_places

    texts = list(dict.fromkeys(map(str, finding.fixes)))
    others = format_other_places(finding)
    where = f" (also at {others})" if others else ""
    return f"{'; '.join(texts[:3])}{'; …' if len(texts) > 3 else ''}{where}"


def _format_patch(result: FixResult) -> Iterator[str]:
    """The changes as a patch: coloured and escaped at a terminal, unchanged in a pipe.

    In a pipe, only a CI log's commands are changed. Lines end at LF alone, as in `patch` and `git apply`.
    """
    paint = AnsiStyle(use_color("auto", sys.stdout)) if sys.stdout.isatty() else None
    for name, (before, after) in result.changed_files.items():
        patch_name = _name_in_patch(name)
        for line in unified_diff(_split_lines(before), _split_lines(after), patch_name, patch_name):
            whole = line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
            yield _color_patch_line(whole, paint) if paint else escape_ci_commands(whole)


_QUOTED = re.compile(r'[\x00-\x1f"\\\x7f\udc80-\udcff]')


def _name_in_patch(name: str) -> str:
    """The name of the file that is patched: from the working folder, links followed; quoted, or a tab behind blanks."""
    with suppress(ValueError):  # it is on another drive of Windows
        name = os.path.relpath(os.path.realpath(name)).replace(os.sep, "/")
    quoted = _QUOTED.sub(lambda found: "".join(f"\\{byte:03o}" for byte in os.fsencode(found[0])), name)
    return f'"{quoted}"' if quoted != name else name + "\t" * (" " in name)


def _split_lines(data: bytes) -> list[str]:
    """Lines with their ends, split at LF alone."""
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode())


def _color_patch_line(text: str, paint: AnsiStyle) -> str:
    style = {"-": "removed", "+": "added", "@": "dim"}.get(text[0])
    lines = [escape_line(line.rstrip("\r").expandtabs()) for line in text.removesuffix("\n").split("\n")]
    return "".join((paint(line, style) if style else line) + "\n" for line in lines)


_SourceReader: TypeAlias = Callable[[dict[str, bytes]], Document]

MAX_PASSES = 100
"""A reader reports 100 scalars, and the schema 1,000 errors at a time. A second run fixes the rest."""


@dataclass(frozen=True, slots=True)
class FixResult:
    """One source: its files before and after, and findings by fate: fixed, fixed only with `--unsafe`, left.

    Locations of fixed findings are in the files before. `unfixable` are findings whose fix cannot be made, with the
    reason, and with locations in the files after; with `unfixable_before`, in those before. `read_as` as in `Document`.
    """

    source: str
    before: dict[str, bytes]
    after: dict[str, bytes]
    fixed: tuple[Finding, ...]
    unsafe: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    read_as: str = ""
    unfixable: tuple[tuple[Finding, str], ...] = ()
    unfixable_before: tuple[tuple[Finding, str], ...] = ()

    @property
    def changed_files(self) -> dict[str, tuple[bytes, bytes]]:
        """The files that change: name to bytes before and after."""
        return {name: (self.before[name], new) for name, new in self.after.items() if new != self.before[name]}


def fix_source(
    source: str,
    options: ValidationOptions,
    *,
    unsafe: bool = False,
    at: str = "",
    variables_of: VariablesOf | None = None,
) -> FixResult:
    """Fix a file, a source folder or a brokerpak; `write_fixed_files` writes it. Raises SourceError, DocumentError."""
    if Path(source).is_file():
        return fix_bytes(source, read_bytes(source)[0], options, unsafe=unsafe, at=at)
    if not Path(source).is_dir():
        read_source(source)  # raises if there is no such source
        raise UsageError(f"{source} is not a file that can be edited", "name a file or a source folder")
    if file := find_only_file(source):
        return fix_source(file, options, unsafe=unsafe, at=at)
    return _fix_in_passes(source, {}, partial(_read_folder, source, at, variables_of), options, unsafe)


def fix_bytes(name: str, data: bytes, options: ValidationOptions, *, unsafe: bool = False, at: str = "") -> FixResult:
    """Fix the catalog in `data`, which reports call `name`; raises as `fix_source`."""
    return _fix_in_passes(name, {name: data}, partial(_read_file, name, at), options, unsafe)


def keep_possible_fixes(
    findings: tuple[Finding, ...], document: Document, source: str, at: str, variables_of: VariablesOf | None
) -> tuple[Finding, ...]:
    """The findings with the fixes that can be made of those of `add_schema_draft_fixes`.

    `document` is the source as it was read at `at`. Of a finding with several fixes all must be possible; they are
    `safe` if all of them can be made without `--unsafe`, which they may also need for another fix of the same text.
    """
    findings = add_schema_draft_fixes(findings, document)
    if not any(finding.fixes for finding in findings):
        return findings
    files: dict[str, bytes] = {}
    read = partial(_read_folder, source, at, variables_of)
    if document.syntax not in ("folder", "brokerpak"):
        files, read = {document.name: document.texts[0].text.encode()}, partial(_read_file, document.name, at)
    safe, every = (
        {id(fix) for _, fix in _find_possible_fixes(findings, document, files, read, unsafe)}
        for unsafe in (False, True)
    )
    kept = []
    for finding in findings:
        ids = set(map(id, finding.fixes))
        fixes = finding.fixes if ids <= safe | every else ()
        kept.append(finding._replace(fixes=tuple(fix._replace(safe=ids <= safe) for fix in fixes)))
    return tuple(kept)


class _NotEditableError(UsageError):
    """The catalog is in a text that cannot be edited."""


def _read_file(name: str, at: str, files: dict[str, bytes]) -> Document:
    documents = parse_stream(decode_utf8(files[name], name), name)
    if find_only_catalog(documents, at).embedded:
        message = f"{name}: osbctl fix edits no text inside a string or a stream of documents"
        raise _NotEditableError(message, "fix it in a file of its own")
    return find_only_catalog(documents, at, allow_nested=False)


def _read_folder(folder: str, at: str, variables_of: VariablesOf | None, files: dict[str, bytes]) -> Document:
    unsaved = {Path(name).resolve(): data for name, data in files.items()}
    return read_whole_folder(folder, at, unsaved=unsaved, variables_of=variables_of)


def add_schema_draft_fixes(findings: Iterable[Finding], document: Document) -> tuple[Finding, ...]:
    """The findings with all their fixes: those of the rules, and of schemas whose draft is not accepted."""
    completed = []
    for finding in findings:
        members = add_schema_draft_fixes(finding.members, document)
        made = [] if members else [find_draft_fix(finding, document.data)]
        fixes = fixes_of(members) or tuple(filter(None, made)) or finding.fixes
        completed.append(finding._replace(members=members, fixes=fixes))
    return tuple(completed)


def compute_fix_edits(
    findings: Iterable[Finding], document: Document, files: dict[str, bytes], read: _SourceReader, unsafe: bool
) -> dict[str, list[Edit]]:
    """The edits by file that apply the fixes of `findings`, each once. Empty if they cannot be applied.

    If only some can be applied together, these are the edits of a part; asked again, the rest follows. `files` are the
    files of the document that differ from the disk; `read` reads the source with such files.
    """
    possible = _find_working_pass(document, files, _select_fixes(findings, unsafe), read, [])
    return possible[0].edits_by_file() if possible else {}


def write_fixed_files(result: FixResult) -> None:
    """Write the files that change, each whole or not at all.

    Raises SourceError: one cannot be written, or was changed since it was read.
    """
    for name, (before, after) in result.changed_files.items():
        if (current := read_bytes(name)[0]) not in (before, after):
            raise SourceError(f"{name} has changed since it was read, so it was not written", "run osbctl fix again")
        if current != after:
            write_file(name, after)


def _fix_in_passes(
    source: str, files: dict[str, bytes], read: _SourceReader, options: ValidationOptions, unsafe: bool
) -> FixResult:
    """Apply the fixes in memory until no more can be made."""
    before, after = dict(files), dict(files)
    fixed: list[Finding] = []
    failed: list[FindingFix] = []
    made: list[dict[str, Callable[[int], int]]] = []
    tried_at = 0
    document = read(after)
    findings = add_schema_draft_fixes(validate_document(document, options).findings, document)
    for _ in range(MAX_PASSES):
        wanted = _select_fixes(findings, unsafe)
        # A quoted word has lost its YAML 1.1 meaning: fixes that use the meaning come first.
        meaning = [fix for fix in wanted if fix[1].path]
        possible = _find_working_pass(document, after, meaning, read, failed) or _find_working_pass(
            document, after, wanted, read, failed
        )
        if possible is None and failed and len(fixed) > tried_at:
            failed, tried_at = [], len(fixed)  # later fixes may have removed the obstacle
            continue
        if possible is None:
            break
        step, document = possible
        changes = step.changed_files()
        before, after = {name: step.original_content(name) for name in changes} | before, after | changes
        fixed += _locate_before(step.fixed_findings, step, made, before)
        made.append({name: offset_before(edits) for name, edits in step.edits_by_file().items()})
        findings = add_schema_draft_fixes(validate_document(document, options).findings, document)
    unsafe_only = [] if unsafe else [*group_by_finding(_find_possible_fixes(findings, document, after, read, True))]
    waiting = set(unsafe_only)
    last = Pass(document, after)
    stuck = tuple(_explain_unfixable(_select_fixes((f for f in findings if f not in waiting), unsafe), last))
    places_before = _locate_before((finding for finding, _ in stuck), last, made, before)
    stuck_before = tuple(zip(places_before, (why for _, why in stuck), strict=True))
    read_as = document.read_as
    return FixResult(source, before, after, tuple(fixed), tuple(unsafe_only), findings, read_as, stuck, stuck_before)


def _locate_before(
    findings: Iterable[Finding], step: Pass, earlier: list[dict[str, Callable[[int], int]]], before: dict[str, bytes]
) -> Iterator[Finding]:
    """The findings of a pass with locations in the files `before` the `earlier` passes, by the edits of these."""
    lines: dict[str, Lines] = {}
    for finding in findings:
        members = tuple(_locate_before(finding.members, step, earlier, before))
        finding, location = finding._replace(members=members), finding.location
        edits = [by_file[location.source] for by_file in earlier if location and location.source in by_file]
        if location is None or not edits:
            yield finding
            continue
        name, offset = location.source, step.offset_of(location)
        for each in reversed(edits):
            offset = each(offset)
        if name not in lines:
            lines[name] = Lines(name, decode_utf8(before[name], name))
        yield finding._replace(location=lines[name].at(offset))


def _select_fixes(findings: Iterable[Finding], unsafe: bool) -> list[FindingFix]:
    return [(finding, fix) for finding in findings for fix in finding.fixes if fix.safe or unsafe]


def _find_possible_fixes(
    findings: Iterable[Finding], document: Document, files: dict[str, bytes], read: _SourceReader, unsafe: bool
) -> list[FindingFix]:
    """The fixes that can be made in the document as it is, in one pass or, where two edit one text, in several."""
    possible: list[FindingFix] = []
    failed: list[FindingFix] = []
    wanted = _select_fixes(findings, unsafe)
    while found := _find_working_pass(document, files, wanted, read, failed):
        step, _ = found
        made = list(chain(*step.fixes_by_edit.values()))
        possible += made
        done = {id(fix) for _, fix in made}
        wanted = [
            (finding, fix)
            for finding, fix in wanted
            if id(fix) not in done and step.obstacles.get(finding, OTHER_FIX) == OTHER_FIX
        ]
    return possible


def _explain_unfixable(wanted: list[FindingFix], step: Pass) -> Iterator[tuple[Finding, str]]:
    """The findings of fixes that are still wanted after the last pass, each with the reason why it is not fixed."""
    step.make_edits(wanted)
    for finding, fixes in group_by_finding(wanted).items():
        yield narrow_to_fixes(finding, fixes), step.obstacles.get(finding, step.usual_obstacle)


def _find_working_pass(
    document: Document, files: dict[str, bytes], wanted: list[FindingFix], read: _SourceReader, failed: list[FindingFix]
) -> tuple[Pass, Document] | None:
    """A pass of `wanted` fixes that works, and the document after it. None if none does.

    If the document would differ in anything else, such as another place that an alias copies to, the first half that
    works is returned, and the rest is left to later passes. A fix that fails alone is added to `failed`. `files` are
    those that differ from the disk.
    """
    step = Pass(document, files)
    step.make_edits([each for each in wanted if each not in failed])
    if not step.fixes_by_edit:
        return None
    try:
        reread = read(files | step.changed_files())
    except OsbctlError:
        reread = None
    if reread is not None and reread.data == step.expected and step.changes_only_catalog():
        return step, reread
    groups = list(step.fixes_by_edit.values())
    if len(groups) == 1:
        failed += groups[0]
        return None
    half = len(groups) // 2
    return _find_working_pass(document, files, list(chain(*groups[:half])), read, failed) or _find_working_pass(
        document, files, list(chain(*groups[half:])), read, failed
    )
