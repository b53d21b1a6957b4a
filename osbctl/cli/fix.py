"""`osbctl fix`: mends in place what can be mended without the author."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, NamedTuple

from typer import Argument, Option

from osbctl.cli import options as common
from osbctl.cli.output import print_error, print_note, use_color, write_output
from osbctl.cli.variables import variables_of
from osbctl.errors import OsbctlError
from osbctl.text import AnsiStyle, escape_line, plural, without_commands

if TYPE_CHECKING:
    from osbctl.findings import Finding
    from osbctl.sources.variables import VariablesOf
    from osbctl.tasks.fix import FixResult
    from osbctl.validation.options import ValidationOptions

_SOURCE = "A JSON or YAML file, a source folder, a brokerpak, or - for standard input."


def fix(
    sources: Annotated[list[str], Argument(metavar="SOURCE...", help=_SOURCE, show_default=False)],
    unsafe: Annotated[bool, Option("--unsafe", help="Also apply fixes that may change what platforms do.")] = False,
    check: Annotated[bool, Option("--check", help="Write nothing; exit with 1 if something would be fixed.")] = False,
    diff: Annotated[
        bool, Option("--diff", help="Like --check, and print the changes as a patch, for git apply -p0.")
    ] = False,
    select: Annotated[list[str] | None, Option(metavar="RULE", help="Fix only this rule; repeatable.")] = None,
    api_version: common.CheckedVersion = None,
    at: common.At = "",
    stdin_filename: common.StdinFilename = None,
    config: common.Config = None,
    env: common.Env = None,
) -> int:
    """Fix catalogs in place: comments, order, quotes and line ends stay as they are.

    Without --unsafe, only what all platforms read the same way, or refused before, is changed. Ids are never touched.
    With - for a source, standard input is fixed and written to standard output.

    \b
    osbctl fix catalog.yaml
    osbctl fix --diff --unsafe catalog.yaml
    osbctl fix --check services/*.yaml
    osbctl fix - < catalog.json > mended.json
    """
    from osbctl.config import load_config
    from osbctl.sources.read_bytes import check_stdin
    from osbctl.tasks.options import Request, config_of, validation_options

    check_stdin(sources)
    request = Request(tuple(sources), api_version=api_version, select=tuple(select or ()))
    given = load_config(config) if config else None
    configs = [config_of(source, stdin_filename, given) for source in sources]
    options = [validation_options(request, one) for one in configs]
    way = _Mode(unsafe, at, check or diff, diff, variables_of(env, config))
    codes = [
        _fixed(source, stdin_filename, one, way._replace(at=at or own.at))
        for source, one, own in zip(sources, options, configs, strict=True)
    ]
    return max(codes)


class _Mode(NamedTuple):
    """Mode of `fix`. `looks`: write nothing, fail if there is something to fix; `diff`: print it."""

    unsafe: bool
    at: str
    looks: bool
    diff: bool
    variables_of: VariablesOf


def _fixed(source: str, stdin_filename: str | None, options: ValidationOptions, way: _Mode) -> int:
    """Mend one source; the exit code that it asks for. A fault of its own is said, and the others go on."""
    from osbctl.sources.read_bytes import called, read_stdin
    from osbctl.tasks.fix import fix_bytes, fix_source

    def fixed(unsafe: bool) -> FixResult:
        if source == "-":
            return fix_bytes(called(source, stdin_filename), data, options, unsafe=unsafe, at=way.at)
        return fix_source(source, options, unsafe=unsafe, at=way.at, variables_of=way.variables_of)

    try:
        data = read_stdin(called(source, stdin_filename), common.LIMITS) if source == "-" else b""
        mended = fixed(way.unsafe)
        if way.diff:
            write_output("".join(_diff(mended, fixed(False).after if way.unsafe else {})))
        elif not way.looks:
            _put(mended, printed=source == "-")
    except OsbctlError as error:
        return print_error(error)
    for line in _told(mended, "would fix" if way.looks else "fixed", way.unsafe):
        print_note(line)
    return int(way.looks and bool(mended.changed))


def _put(mended: FixResult, *, printed: bool) -> None:
    from osbctl.tasks.fix import write

    if printed:
        write_output(mended.after[mended.source].decode())
    else:
        write(mended)


def _told(mended: FixResult, verb: str, unsafe: bool) -> Iterator[str]:
    """List applied fixes line by line, then the number of others."""
    yield from filter(None, [mended.read_as])
    for finding in mended.mended:
        yield f"{finding.location or mended.source}: {verb}: {_done(finding, unsafe)} [{finding.rule}]"
    for finding, why in mended.stuck:
        yield f"{finding.location or mended.source}: not fixed: {finding.message} [{finding.rule}]: {why}"
    more = f", {len(mended.unsafe)} more with --unsafe" if mended.unsafe else ""
    left = len(mended.left) - len(mended.unsafe)
    yield f"{mended.source}: {verb} {len(mended.mended)}{more}; {left} left for you"


def _done(finding: Finding, unsafe: bool) -> str:
    """Fate of a finding, with its number of locations."""
    done = [fix for fix in finding.fixes if fix.safe or unsafe]
    texts = list(dict.fromkeys(map(str, done)))
    where = f" ({plural(len(done), 'place')})" if len(done) > 1 else ""
    return f"{'; '.join(texts[:3])}{'; …' if len(texts) > 3 else ''}{where}"


def _diff(mended: FixResult, safe_files: dict[str, bytes]) -> Iterator[str]:
    """The changes as a patch: in a pipe with the files' own bytes, at a terminal in colours, and safe to look at.

    `safe_files` are the files with safe fixes alone, where others are in the patch, too.

    A log of CI may be a pipe: only what that would take for a command is not as it is in the file. Lines end at LF
    alone, as those of `patch` and `git apply` do; a name with a blank ends at a tab, and git takes no `./`.
    """
    from osbctl.fixes.patch import unified_diff

    paint = AnsiStyle(use_color("auto", sys.stdout)) if sys.stdout.isatty() else None
    for name, (before, after) in mended.changed.items():
        old, new = _lines(before), _lines(after)
        safe_lines = _lines(safe_files.get(name, before)) if safe_files else None
        called = os.path.normpath(name)
        called += "\t" if " " in called else ""
        for line in unified_diff(old, new, called, safe_lines):
            whole = line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
            yield _shown(whole, paint) if paint else without_commands(whole)


def _lines(data: bytes) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode())


def _shown(text: str, paint: AnsiStyle) -> str:
    style = {"-": "gone", "+": "come", "@": "dim"}.get(text[0])
    lines = [escape_line(line.rstrip("\r").expandtabs()) for line in text.removesuffix("\n").split("\n")]
    return "".join((paint(line, style) if style else line) + "\n" for line in lines)
