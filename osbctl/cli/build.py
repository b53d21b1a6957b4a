"""`osbctl build`: compose the catalog of a source folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from osbctl.cli import common
from osbctl.cli.output import print_note, use_color, write_output
from osbctl.errors import UsageError
from osbctl.findings import Finding, Severity
from osbctl.rule import rule_of
from osbctl.text import plural

if TYPE_CHECKING:
    from osbctl.sources.folder.lock import Lock


def build(
    folder: Annotated[str, Argument(metavar="FOLDER", help="The source folder or brokerpak.")],
    output: Annotated[str | None, Option("--output", "-o", metavar="FILE", help="Write the catalog to FILE.")] = None,
    format: Annotated[
        Literal["json", "yaml"] | None,
        Option("--format", "-f", help="Syntax of the catalog.  [default: by the extension of FILE]"),
    ] = None,
    overlays: Annotated[
        list[str] | None, Option("--overlay", metavar="FILE", help="Apply this overlay; repeatable, in order.")
    ] = None,
    variables: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="Value of ${NAME}; repeatable.")
    ] = None,
    accept: Annotated[
        list[str] | None,
        Option("--accept-id-change", metavar="NAME", help="Accept a new id of SERVICE or SERVICE/PLAN; repeatable."),
    ] = None,
    env: common.Env = None,
    config: common.Config = None,
    check: Annotated[bool, Option("--check", help="Write nothing; print a diff and exit with 1 if outdated.")] = False,
) -> int:
    """Compose the catalog of a source folder or a brokerpak. Nothing is written unless the catalog is valid.

    catalog.lock in the folder records the id of each name; commit it. ${NAME} in a string needs a value or a default:
    ${NAME:-default}. $${ stands for ${.

    \b
    osbctl build catalog/ -o catalog.json
    osbctl build catalog/ -o catalog.json --check
    osbctl build catalog/ --overlay overlays/production.yaml --set REGION=eu
    osbctl build brokerpak/ --env .envrc -o catalog.json
    """
    from osbctl.cli.connection import read_catalog
    from osbctl.sources.folder import LOCK
    from osbctl.sources.folder.brokerpak import is_brokerpak
    from osbctl.tasks import build as task
    from osbctl.tasks.options import first_config, variables_lookup
    from osbctl.tasks.output_checks import CATALOG, check_output

    overlays, variables, accept = (given or [] for given in (overlays, variables, accept))
    common.check_options_used([folder], env=env)
    is_pak = is_brokerpak(folder)
    check_output(output, [*overlays, env, config, *([] if is_pak else [folder])], replaces=CATALOG)
    values = task.parse_variable_pairs(variables)
    variables_lookup(os.environ, env, config)  # raises if the file is wrong
    settings = first_config([folder], config)
    lock: Lock | None = None
    if not is_pak:
        document, lock = task.compose_folder(folder, overlays, values, variables, accept)
    elif any((overlays, variables, accept)):
        raise UsageError("a brokerpak takes no overlays, values or ids", "its broker's variables come with --env")
    else:
        document = read_catalog(folder, common.LocationOptions(env=env, config=config))
        check_output(output, [part.name for part in document.parts], replaces=CATALOG)
    _print_findings(task.check_composed_catalog(document, settings))
    is_yaml = format == "yaml" if format else str(output).endswith((".yaml", ".yml"))
    text = task.catalog_text(document.data, yaml=is_yaml)
    target = None if output == "-" else output
    # Without -o, a build with an overlay may be a trial: it records no ids.
    lock_texts = {(Path(folder) / LOCK).as_posix(): lock.text()} if lock and (target or not overlays) else {}
    return _write_outputs(text, target, lock_texts, lock, check)


def _print_findings(findings: Sequence[Finding]) -> None:
    """Print findings on names, which cannot change later, and the number of warnings."""
    if names := [finding for finding in findings if rule_of(finding).in_build]:
        from osbctl.reports.text_report import format_findings

        sys.stderr.write(format_findings(names, use_color("auto", sys.stderr)))
    if warnings := sum(finding.severity is Severity.WARNING for finding in findings):
        print_note(f"{plural(warnings, 'warning')}: see `osbctl validate`")


def _write_outputs(text: str, target: str | None, lock_texts: dict[str, str], lock: Lock | None, check: bool) -> int:
    """Write the catalog and the lock, or neither; `target` None: print the catalog. `check`: print a diff instead."""
    from osbctl.tasks.build import diff_outdated_files, stage_lock, write_if_changed

    if check:
        outdated = diff_outdated_files({target: text, **lock_texts} if target else lock_texts)
        sys.stdout.write(outdated)
        return int(bool(outdated))
    with stage_lock(lock_texts):
        if target:
            write_if_changed(target, text)
        else:
            write_output(text)
    files = [*filter(None, [target]), *lock_texts]
    if files:
        print_note(f"wrote {', '.join(files)}" + (f" ({plural(len(lock.ids), 'id')})" if lock else ""))
    elif lock:
        print_note("catalog.lock was not changed: a build with an overlay records ids only with -o FILE")
    return 0
