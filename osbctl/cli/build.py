"""`osbctl build`: one catalog out of a source folder."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from osbctl.cli.output import note, put

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from osbctl.sources.document import Document


class BuildFormat(StrEnum):
    """The syntax of the built catalog."""

    JSON = "json"
    YAML = "yaml"


def build(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The source folder.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the catalog there, print it where left out or -."),
    ] = None,
    format: Annotated[
        BuildFormat | None,
        typer.Option("--format", "-f", help="By the file's ending if left out, else json."),
    ] = None,
    overlays: Annotated[
        list[str] | None, typer.Option("--overlay", metavar="FILE", help="Change the result; repeatable, in order.")
    ] = None,
    variables: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="The value of ${NAME}; repeatable."),
    ] = None,
    env_prefix: Annotated[
        str | None,
        typer.Option(metavar="PREFIX", help="Values of ${NAME}: the environment's PREFIX + NAME."),
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept-id-change", metavar="NAME", help="Let the id of SERVICE or SERVICE/PLAN change."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 with a diff where FILE or the lock is stale.")
    ] = False,
) -> int:
    """Compose the catalog of a source folder; nothing is written unless the result validates.

    catalog.lock in the folder remembers which id belongs to which name; commit it. ${NAME} in a string needs a value
    or a default, ${NAME:-default}; $${ is a literal ${.

    \b
    osbctl build catalog/ -o catalog.json
    osbctl build catalog/ -o catalog.json --check
    osbctl build catalog/ --overlay overlays/production.yaml --set REGION=eu-central
    """
    from osbctl.sources.folder import LOCK, compose

    document, lock = compose(
        folder, overlays=overlays or (), variables=_variables(variables, env_prefix), accepted=accept or ()
    )
    _refuse_unknown(accept or (), lock.ids)
    _refuse_errors(document)
    text = _text(document.data, format or _by_ending(output))
    printed = output in (None, "-")
    # The lock comes last: a catalog that could not be written has published no id.
    files = {**({} if printed else {str(output): text}), str(Path(folder) / LOCK): lock.text()}
    if check:
        return _stale(files)
    if printed:
        put(text, None)
    _write(files)
    note(f"{len(lock.ids)} ids, {', '.join(files)}")
    return 0


def _refuse_unknown(accepted: Iterable[str], known: Collection[str]) -> None:
    """A name that nothing has would let nothing pass, and the change that was meant would be refused."""
    from osbctl.errors import UsageError
    from osbctl.text import did_you_mean

    for name in accepted:
        if name not in known:
            hint = did_you_mean(name, known) or "write SERVICE or SERVICE/PLAN, as the catalog names them"
            raise UsageError(f"--accept-id-change {name}: there is no such service or plan", hint)


def _variables(given: list[str] | None, prefix: str | None) -> dict[str, str]:
    """The variables of the call."""
    from osbctl.errors import UsageError

    found: dict[str, str] = {}
    if prefix is not None:
        found = {name.removeprefix(prefix): value for name, value in os.environ.items() if name.startswith(prefix)}
    for pair in given or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set {pair!r} has no =", "write --set NAME=VALUE")
        found[name] = value
    return found


def _refuse_errors(document: Document) -> None:
    """Raise what keeps the catalog from being published; a name that is awkward for ever is told of."""
    from osbctl.config import find_config
    from osbctl.errors import DocumentError
    from osbctl.findings import Severity
    from osbctl.tasks.validate import Request, validation_options
    from osbctl.validation.judge import judge

    found = judge(document, validation_options(Request((document.name,)), find_config(os.curdir))).findings
    if errors := tuple(finding for finding in found if finding.severity is Severity.ERROR):
        raise DocumentError(errors)
    if names := tuple(finding for finding in found if finding.rule == "name-characters"):
        from osbctl.reports.text_report import told

        sys.stderr.write(told(names))


def _by_ending(output: str | None) -> BuildFormat:
    return BuildFormat.YAML if output and output.endswith((".yaml", ".yml")) else BuildFormat.JSON


def _text(data: dict[str, Any], format: BuildFormat) -> str:
    import json

    from osbctl.ordered import ordered

    if format is BuildFormat.JSON:
        return json.dumps(ordered(data), indent=2, ensure_ascii=False) + "\n"
    from osbctl.sources.yaml_text import dump

    return dump(ordered(data))


def _write(files: dict[str, str]) -> None:
    from osbctl.files import write_file

    for file, text in files.items():
        if _stands(file) != text:
            write_file(file, text.encode("utf-8"))


def _stands(file: str) -> str:
    """What a file holds; nothing where it is none: what comes out of a pipe is not what was written before."""
    path = Path(file)
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as error:
        from osbctl.errors import SourceError

        raise SourceError(f"{file}: cannot be read: {error.strerror}") from error


def _stale(files: dict[str, str]) -> int:
    import difflib

    from osbctl.text import safe

    stale = 0
    for file, text in files.items():
        stands = _stands(file)
        if stands != text:
            stale = 1
            pair = stands.splitlines(), text.splitlines()
            lines = difflib.unified_diff(*pair, file, f"{file} (as built)", lineterm="", n=2)
            sys.stdout.write("".join(f"{safe(line)}\n" for line in lines))
    return stale
