"""Findings of unsaved catalogs, the same as `osbctl validate` reports after saving."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from osbctl.editor.text_document import cached_text_document
from osbctl.errors import OsbctlError
from osbctl.fields import known_fields
from osbctl.findings import DocumentError, Finding, Location, Verdict
from osbctl.paths import JsonValue
from osbctl.platforms import Platform
from osbctl.sources.catalogs import find_only_catalog, has_service_offering, parse_catalog
from osbctl.sources.document import Document
from osbctl.sources.folder import LOCK, read_folder
from osbctl.sources.folder.brokerpak import is_brokerpak
from osbctl.sources.folder.source_tree import SUFFIXES
from osbctl.sources.parse import parse_stream
from osbctl.sources.variables import VariablesOf, no_variables
from osbctl.tasks.options import Request, resolve_config, validation_options
from osbctl.tasks.validate import error_findings
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document

_OFFERING_BEGUN = re.compile(
    r"""(?:^[ ]*|")services"?\s*:(?:\s|#.*$)*(?:-\s+"?\w+"?\s*:\s|\[\s*(?:\{|\Z))""", re.MULTILINE
)
"""A list of services with an object in it, in a text that cannot be parsed."""
_KEY = re.compile(r"""^[ -]*(\w+):\s|"(\w+)"[ ]?:""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Analysis:
    """Findings of one source; `document` is None if it cannot be parsed."""

    source: str
    findings: tuple[Finding, ...]
    options: ValidationOptions = field(default_factory=ValidationOptions)
    document: Document | None = None
    verdicts: Mapping[Platform, Verdict] | None = None


def find_source(path: str, text: str) -> str | None:
    """The source of an edited file: its source folder, or itself; None if it holds no catalog."""
    file = Path(path)
    if file.suffix not in SUFFIXES and file.suffix:
        return None
    for folder in list(file.parents)[:4]:
        if _is_source_folder(folder) or (file.suffix in SUFFIXES and is_brokerpak(str(folder))):
            return str(folder)
    return path if _is_catalog(path, text) else None


def _is_catalog(path: str, text: str) -> bool:
    """Return whether a file holds a service offering, or the beginning of one.

    CI files, gateways and other catalogs have lists of services, too. Theirs have fields of their own, and neither
    `plans` nor `bindable`.
    """
    is_named_catalog = "catalog" in Path(path).stem.lower()
    file = cached_text_document(path, text)
    if file.document is not None:
        return has_service_offering(file.document) or _is_started_catalog(file.document.data, is_named_catalog)
    if not text.strip():
        return is_named_catalog
    try:
        return any(map(has_service_offering, parse_stream(file.decode(), path)))
    except DocumentError:
        keys = {block or quoted for block, quoted in _KEY.findall(text)}
        has_fields = keys & {"plans", "bindable"} or keys <= _OFFERING_FIELDS
        return bool(has_fields and _OFFERING_BEGUN.search(text))


def _is_started_catalog(data: JsonValue, is_named_catalog: bool) -> bool:
    """Return whether a catalog is being started; only a file with `catalog` in its name may be empty so far."""
    services = data.get("services") if isinstance(data, dict) else None
    if services and isinstance(services, list) and all(isinstance(service, dict) for service in services):
        return all(service.keys() <= _OFFERING_FIELDS for service in services)
    return is_named_catalog and (isinstance(data, str) or (isinstance(data, dict) and data.keys() == {"services"}))


_OFFERING_FIELDS = known_fields("catalog") | known_fields("service")


def _is_source_folder(folder: Path) -> bool:
    """Return whether a folder has services in files, and a lock or settings beside them."""
    services = folder / "services"
    if not services.is_dir():
        return False
    if (folder / LOCK).is_file():
        return True
    return any((folder / f"catalog{suffix}").is_file() and any(services.glob(f"*{suffix}")) for suffix in SUFFIXES)


def analyse_source(source: str, unsaved: Mapping[str, str], variables_of: VariablesOf = no_variables) -> Analysis:
    """Validate one source. `unsaved` are the texts in the editor, by resolved path; they replace the files on disk."""
    try:
        config = resolve_config(source)
        options = validation_options(Request((source,)), config)
    except OsbctlError as error:
        place = Location(source, 1, 1) if source in unsaved else None
        return Analysis(source, (error_findings(error, source)[0]._replace(location=place),))
    try:
        document = read_open_source(source, unsaved, variables_of)
    except OsbctlError as error:  # also a broken lock
        return Analysis(source, error_findings(error, source), options)
    result = validate_document(document, options)
    return Analysis(source, result.findings, options, document, result.verdicts)


def read_open_source(source: str, unsaved: Mapping[str, str], variables_of: VariablesOf) -> Document:
    """The catalog of a source as it is in the editor. Raises OsbctlError: it cannot be read."""
    if source not in unsaved:
        buffers = {Path(path): text.encode("utf-8", "surrogatepass") for path, text in unsaved.items()}
        return read_folder(source, unsaved=buffers, variables_of=variables_of)
    file = cached_text_document(source, unsaved[source])
    if file.document is None:  # it cannot be parsed, or is a stream of documents
        return parse_catalog(file.decode(), source)
    return find_only_catalog([file.document])
