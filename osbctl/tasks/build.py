"""Work of `osbctl build`: compose a source folder, validate it, and write all outputs or none."""

import contextlib
import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from osbctl.config import Config
from osbctl.errors import SourceError, UsageError
from osbctl.fields import LATEST, field_schemas
from osbctl.files import write_file, write_on_success
from osbctl.findings import DocumentError, Finding
from osbctl.sources.document import Document
from osbctl.sources.folder import compose
from osbctl.sources.folder.lock import Lock
from osbctl.tasks.options import Request, validation_options
from osbctl.text import did_you_mean, escape_line, json_text
from osbctl.validation.pipeline import validate_document


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
    folder: str, overlays: Sequence[str], values: Mapping[str, str], pairs: Iterable[str], accepted: Collection[str]
) -> tuple[Document, Lock]:
    """Compose a source folder; its document and lock.

    `pairs` are pairs `NAME=VALUE` of the user, `accepted` names of services and plans whose id may change.

    Raises UsageError if no file uses a given variable, or nothing has an accepted name: both are likely typing errors;
    else as `osbctl.sources.folder`.
    """
    document, lock = compose(folder, overlays=overlays, variables=values, accepted=accepted)
    used = {name for part in document.parts for name in re.findall(r"\$\{(\w+)", part.text)}
    for name in (pair.partition("=")[0] for pair in pairs):
        if name not in used:
            raise UsageError(f"--set {name}: no file of the folder has ${{{name}}}", did_you_mean(name, used))
    for name in accepted:
        if name not in lock.ids:
            hint = did_you_mean(name, lock.ids) or "write SERVICE or SERVICE/PLAN, as the catalog names them"
            raise UsageError(f"--accept-id-change {name}: there is no such service or plan", hint)
    return document, lock


def check_composed_catalog(document: Document, config: Config) -> tuple[Finding, ...]:
    """Validate a composed catalog; return its findings. Raises DocumentError: it has errors."""
    options = validation_options(Request((document.name,)), config)
    result = validate_document(document, options)
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


def write_if_changed(file: str, text: str) -> None:
    """Write `text` to a file, unless it contains it already."""
    if _read_text_or_empty(file) != text:
        write_file(file, text.encode("utf-8"))


def stage_lock(texts: Mapping[str, str]) -> contextlib.AbstractContextManager[None]:
    """A block that writes the catalog, then a changed lock (texts by name): both, or neither if one cannot be."""
    changed = [(file, text) for file, text in texts.items() if _read_text_or_empty(file) != text]
    return write_on_success(changed[0][0], changed[0][1].encode("utf-8")) if changed else contextlib.nullcontext()


def diff_outdated_files(expected: Mapping[str, str]) -> str:
    """A diff of each file whose content is not the given text; empty if all are up to date."""
    diff = ""
    for file, text in expected.items():
        present = _read_text_or_empty(file)
        if present != text:
            sides = present.splitlines(), text.splitlines()
            lines = difflib.unified_diff(*sides, file, f"{file} (as built)", lineterm="", n=2)
            diff += "".join(f"{escape_line(line)}\n" for line in lines)
    return diff


def _read_text_or_empty(file: str) -> str:
    path = Path(file)
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror}") from error
