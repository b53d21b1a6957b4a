"""`osbctl build`: one catalog out of a source folder."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from osbctl.cli import options as common
from osbctl.cli.output import print_note, write_output
from osbctl.cli.variables import variables_of
from osbctl.errors import UsageError
from osbctl.text import plural


class BuildFormat(StrEnum):
    """The syntax of the built catalog."""

    JSON = "json"
    YAML = "yaml"


def build(
    folder: Annotated[str, Argument(metavar="FOLDER", help="The source folder, or a brokerpak.")],
    output: Annotated[
        str | None,
        Option("--output", "-o", metavar="FILE", help="Write the catalog there; print it if left out or -."),
    ] = None,
    format: Annotated[
        BuildFormat | None, Option("--format", "-f", help="By the extension of FILE if left out, else json.")
    ] = None,
    overlays: Annotated[
        list[str] | None, Option("--overlay", metavar="FILE", help="Change the result; repeatable, in order.")
    ] = None,
    variables: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="The value of ${NAME}; repeatable.")
    ] = None,
    env_prefix: Annotated[
        str | None, Option(metavar="PREFIX", help="Take ${NAME} from the environment variable PREFIX + NAME.")
    ] = None,
    accept: Annotated[
        list[str] | None,
        Option("--accept-id-change", metavar="NAME", help="Let the id of SERVICE or SERVICE/PLAN change."),
    ] = None,
    env: common.Env = None,
    check: Annotated[
        bool, Option("--check", help="Write nothing; exit 1 with a diff where FILE or the lock is stale.")
    ] = False,
) -> int:
    """Compose the catalog of a source folder or a brokerpak; nothing is written unless the result validates.

    catalog.lock in the folder remembers which id belongs to which name; commit it. ${NAME} in a string needs a value
    or a default, ${NAME:-default}; $${ is a literal ${.

    \b
    osbctl build catalog/ -o catalog.json
    osbctl build catalog/ -o catalog.json --check
    osbctl build catalog/ --overlay overlays/production.yaml --set REGION=eu
    osbctl build brokerpak/ --env .envrc -o catalog.json
    """
    from osbctl.cli.connection import read_catalog
    from osbctl.sources.folder import LOCK, compose
    from osbctl.sources.folder.brokerpak import is_brokerpak
    from osbctl.tasks import build as task
    from osbctl.tasks.outputs import CATALOG, check_output

    overlays, variables, accept = overlays or [], variables or [], accept or []
    read = [*overlays, env] if is_brokerpak(folder) else [folder, *overlays, env]
    check_output(output, read, replaces=CATALOG)
    values = task.variable_values(variables, env_prefix, os.environ)
    variables_of(env)  # which says what is wrong with the file
    if is_brokerpak(folder):
        if overlays or variables or accept or env_prefix:
            raise UsageError("a brokerpak takes no overlays, values or ids", "its broker's variables come with --env")
        document, lock = read_catalog(folder, common.LocationOptions(env=env)), None
        check_output(output, [part.name for part in document.parts], replaces=CATALOG)
    else:
        document, lock = compose(folder, overlays=overlays, variables=values, accepted=accept)
        task.refuse_unread(variables, document)
        task.refuse_unknown(accept, lock.ids)
    if warnings := task.check_built(document):
        from osbctl.reports.text_report import finding_lines

        sys.stderr.write(finding_lines(warnings))
    text = task.catalog_text(document.data, yaml=_is_yaml(format, output))
    target = None if output == "-" else output
    # With an overlay, what is printed may be a trial.
    locked = {str(Path(folder) / LOCK): lock.text()} if lock and (target or not overlays) else {}
    if check:
        stale = task.stale({target: text, **locked} if target else locked)
        sys.stdout.write(stale)
        return int(bool(stale))
    with task.recorded(locked):
        if target:
            task.write_changed(target, text)
        else:
            write_output(text)
    files = [*filter(None, [target]), *locked]
    if files:
        print_note(f"wrote {', '.join(files)}" + (f" ({plural(len(lock.ids), 'id')})" if lock else ""))
    elif lock:
        print_note(f"{LOCK} is as it was: a build with an overlay records ids with -o FILE alone")
    return 0


def _is_yaml(format: BuildFormat | None, output: str | None) -> bool:
    return format is BuildFormat.YAML if format else str(output).endswith((".yaml", ".yml"))
