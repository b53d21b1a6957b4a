"""`osbctl build`: compose the catalog of a source folder."""

from __future__ import annotations

import contextlib
import difflib
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from osbctl.commands import options as common
from osbctl.commands.connection import read_catalog
from osbctl.commands.options import Argument, Option
from osbctl.commands.output import CATALOG, check_output, print_note, use_color, write_output, write_stderr
from osbctl.commands.settings import ValidationSettings, first_config, validation_options, variables_lookup
from osbctl.config import Config
from osbctl.errors import SourceError, UsageError
from osbctl.fields import LATEST, field_schemas
from osbctl.files import write_on_success
from osbctl.findings import DocumentError, Finding, Severity
from osbctl.rule import rule_of
from osbctl.sources.document import Document
from osbctl.sources.folder import compose
from osbctl.sources.folder.lock import Lock
from osbctl.sources.folder.source_tree import LOCK, is_brokerpak
from osbctl.text import did_you_mean, escape_line, json_text, plural
from osbctl.validation.pipeline import validate_document


def build(
    folder: Annotated[str, Argument("FOLDER", "The source folder or brokerpak.")],
    output: Annotated[str | None, Option("Write the catalog to FILE.", "--output", "-o", metavar="FILE")] = None,
    format: Annotated[
        Literal["json", "yaml"] | None,
        Option("Syntax of the catalog.  [default: by the extension of FILE]", "--format", "-f"),
    ] = None,
    overlays: Annotated[
        tuple[str, ...], Option("Apply this overlay; repeatable, in order.", "--overlay", metavar="FILE")
    ] = (),
    variables: Annotated[tuple[str, ...], Option("Value of ${NAME}; repeatable.", "--set", metavar="NAME=VALUE")] = (),
    accept: Annotated[
        tuple[str, ...],
        Option(
            "Accept a new id of SERVICE or SERVICE/PLAN; repeatable.",
            "--accept-id-change",
            metavar="NAME",
            complete="objects",
        ),
    ] = (),
    env: common.Env = None,
    config: common.Config = None,
    check: Annotated[bool, Option("Write nothing; print a diff and exit with 1 if outdated.")] = False,
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
    common.check_options_used([folder], env=env)
    is_pak = is_brokerpak(folder)
    check_output(output, [*overlays, env, config, *([] if is_pak else [folder])], replaces=CATALOG)
    values = parse_variable_pairs(variables)
    variables_lookup(env, config)  # raises if the file is wrong
    settings = first_config([folder], config)
    lock: Lock | None = None
    if not is_pak:
        document, lock = compose_folder(folder, overlays, values, accept)
    elif any((overlays, variables, accept)):
        raise UsageError("a brokerpak takes no overlays, values or ids", "its broker's variables come with --env")
    else:
        document = read_catalog(folder, common.LocationOptions(env=env, config=config))
        check_output(output, [part.name for part in document.texts], replaces=CATALOG)
    _print_findings(check_composed_catalog(document, settings))
    is_yaml = format == "yaml" if format else str(output).lower().endswith((".yaml", ".yml"))
    text = catalog_text(document.data, yaml=is_yaml)
    target = None if output == "-" else output
    # Without -o, a build with an overlay may be a trial: it records no ids.
    lock_texts = {(Path(folder) / LOCK).as_posix(): lock.text()} if lock and (target or not overlays) else {}
    return _write_outputs(text, target, lock_texts, lock, check)


def _print_findings(findings: Sequence[Finding]) -> None:
    """Print findings on names, which cannot change later, and the number of warnings."""
    if names := [finding for finding in findings if rule_of(finding).in_build]:
        from osbctl.reports.text_report import format_findings

        write_stderr(format_findings(names, use_color("auto", sys.stderr)))
    if warnings := sum(finding.severity is Severity.WARNING for finding in findings):
        print_note(f"{plural(warnings, 'warning')}: see `osbctl validate`")


def _print_diff(outdated: Mapping[str, tuple[str, str]]) -> int:
    """Print the differences of files, each with its text and the one that it would have; the exit code."""
    lines: list[str] = []
    for file, (old, new) in outdated.items():
        sides = old.splitlines(), new.splitlines()
        lines += difflib.unified_diff(*sides, file, f"{file} (as built)", lineterm="", n=2)
    write_output("".join(f"{escape_line(line)}\n" for line in lines))
    return int(bool(outdated))


def _write_outputs(text: str, target: str | None, lock_texts: dict[str, str], lock: Lock | None, check: bool) -> int:
    """Write the catalog and the lock, or neither; `target` None: print the catalog. `check`: print a diff instead."""
    files = {target: text, **lock_texts} if target else lock_texts
    if check and not files:
        raise UsageError("--check has nothing to compare", "name the built catalog: --output FILE")
    outdated = {file: (old, new) for file, new in files.items() if (old := _read_text_or_empty(file)) != new}
    if check:
        return _print_diff(outdated)
    with contextlib.ExitStack() as stack:
        for file, (_, new) in reversed(outdated.items()):  # what is entered last, the catalog, is written first
            stack.enter_context(write_on_success(file, new.encode("utf-8")))
        if not target:
            write_output(text)
    if files:
        ids = f" ({plural(len(lock.ids), 'id')})" if lock else ""
        print_note(f"wrote {', '.join(files)}{ids}")
    elif lock:
        print_note("catalog.lock was not changed: a build with an overlay records ids only with -o FILE")
    return 0


def parse_variable_pairs(pairs: Iterable[str]) -> dict[str, str]:
    """The values of `${NAME}`, given as pairs `NAME=VALUE`. Raises UsageError: one is no pair."""
    values: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set {pair!r} has no =", "write --set NAME=VALUE")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise UsageError(f"--set: {name!r} is not a name", "a name is made of letters, digits and _: NAME=VALUE")
        values[name] = value
    return values


def compose_folder(
    folder: str, overlays: Sequence[str], values: Mapping[str, str], accepted: Collection[str]
) -> tuple[Document, Lock]:
    """Compose a source folder; its document and lock.

    `values` are those of `${NAME}`, `accepted` names of services and plans whose id may change.

    Raises UsageError if no file uses a given variable, or nothing has an accepted name: both are likely typing errors;
    else as `osbctl.sources.folder.compose`.
    """
    document, lock = compose(folder, overlays=overlays, variables=values, accepted=accepted)
    used = {name for part in document.texts for name in re.findall(r"\$\{(\w+)", part.text)}
    for name in values:
        if name not in used:
            raise UsageError(f"--set {name}: no file of the folder has ${{{name}}}", did_you_mean(name, used))
    for name in accepted:
        if name not in lock.ids:
            hint = did_you_mean(name, lock.ids) or "write SERVICE or SERVICE/PLAN, as the catalog names them"
            raise UsageError(f"--accept-id-change {name}: there is no such service or plan", hint)
    return document, lock


def check_composed_catalog(document: Document, config: Config) -> tuple[Finding, ...]:
    """Validate a composed catalog; return its findings. Raises DocumentError: it has errors."""
    result = validate_document(document, validation_options(ValidationSettings((document.name,)), config))
    if result.errors:
        raise DocumentError(result.errors)
    return result.findings


def catalog_text(data: dict[str, Any], *, yaml: bool) -> str:
    """The catalog as the text of a file: YAML, else JSON."""
    if not yaml:
        return json_text(_order_fields(data))
    from osbctl.sources.yaml_text import dump

    return dump(_order_fields(data))


def _order_fields(value: Any, kind: str = "catalog") -> Any:
    """An object of that kind with known fields first, in the order of the specification.

    So the same catalog gives the same bytes. Services and plans keep their order; values of a wrong type stay.
    """
    if not isinstance(value, dict):
        return value
    whole = {**{key: value[key] for key in field_schemas(kind, LATEST) if key in value}, **value}
    key, inner = {"catalog": ("services", "service"), "service": ("plans", "plan")}.get(kind, ("", ""))
    if isinstance(whole.get(key), list):
        whole[key] = [_order_fields(item, inner) for item in whole[key]]
    return whole


def _read_text_or_empty(file: str) -> str:
    path = Path(file)
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror}") from error
