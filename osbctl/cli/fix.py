"""`osbctl fix`: apply fixes in place."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from osbctl.cli import common
from osbctl.cli.output import print_error, print_failure_count, print_note, use_color, write_output
from osbctl.cli.searched import find_named_catalogs
from osbctl.containment import run_contained, run_on_each
from osbctl.errors import OsbctlError
from osbctl.findings import Finding
from osbctl.text import AnsiStyle, escape_ci_commands, escape_line

if TYPE_CHECKING:
    from osbctl.tasks.fix import FixResult
    from osbctl.validation.options import ValidationOptions

_SOURCE = f"A JSON or YAML file, a source folder, a brokerpak, or - for standard input.{common.CATALOGS_IN_FOLDER}"


def fix(
    sources: Annotated[list[str] | None, Argument(metavar="SOURCE...", help=_SOURCE, show_default=False)] = None,
    unsafe: Annotated[bool, Option("--unsafe", help="Also apply fixes that may change what platforms do.")] = False,
    check: Annotated[bool, Option("--check", help="Write nothing; exit with 1 if something would be fixed.")] = False,
    diff: Annotated[bool, Option("--diff", help="Like --check, and print a patch for git apply -p0.")] = False,
    select: Annotated[list[str] | None, Option(metavar="RULE", help="Fix only this rule; repeatable.")] = None,
    api_version: common.CheckedVersion = None,
    exclude: common.Exclude = None,
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
    from osbctl.config import load_config
    from osbctl.sources.read_bytes import DEFAULT_LIMITS, check_stdin_used_once, read_stdin, report_name
    from osbctl.tasks.fix import fix_bytes, fix_source, write_fixed_files
    from osbctl.tasks.options import Request, resolve_config, validation_options, variables_lookup

    sources = find_named_catalogs(sources, exclude=exclude)
    check_stdin_used_once(sources)
    common.check_options_used(sources, env=env, stdin_filename=stdin_filename)
    request = Request(tuple(sources), api_version=api_version, select=tuple(select or ()))
    given = load_config(config) if config else None
    variables, dry_run = variables_lookup(os.environ, env, config), check or diff

    def find_options(source: str) -> ValidationOptions:
        return validation_options(request, resolve_config(source, stdin_filename, given))

    options = run_on_each(find_options, sources)

    def fix_one(source: str, chosen: ValidationOptions) -> bool:
        """Fix one source, and return whether it changes."""
        name = report_name(source, stdin_filename)
        if source == "-":
            data = read_stdin(name, DEFAULT_LIMITS)
            result = fix_bytes(name, data, chosen, unsafe=unsafe, at=at)
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
    for source, chosen in zip(sources, options, strict=True):
        changes = chosen if isinstance(chosen, OsbctlError) else run_contained(fix_one, source, chosen)
        if isinstance(changes, OsbctlError):
            failed += 1
            outcomes.append(print_error(changes, report_name(source, stdin_filename)))
        else:
            outcomes.append(int(changes and dry_run))
    print_failure_count(failed, len(sources), "sources could not be fixed")
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

    In a pipe, only text that a CI log would take for a command is changed. Lines end at LF alone, as in `patch` and
    `git apply`; a name with a blank ends at a tab, and git accepts no `./`.
    """
    paint = AnsiStyle(use_color("auto", sys.stdout)) if sys.stdout.isatty() else None
    for name, (before, after) in result.changed_files.items():
        patch_name = os.path.normpath(name)
        patch_name += "\t" if " " in patch_name else ""
        for line in unified_diff(_split_lines(before), _split_lines(after), patch_name, patch_name):
            whole = line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
            yield _color_patch_line(whole, paint) if paint else escape_ci_commands(whole)


def _split_lines(data: bytes) -> list[str]:
    """Lines with their ends, split at LF alone."""
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode())


def _color_patch_line(text: str, paint: AnsiStyle) -> str:
    style = {"-": "gone", "+": "come", "@": "dim"}.get(text[0])
    lines = [escape_line(line.rstrip("\r").expandtabs()) for line in text.removesuffix("\n").split("\n")]
    return "".join((paint(line, style) if style else line) + "\n" for line in lines)
