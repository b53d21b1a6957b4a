"""Findings of unsaved catalogs, the same as `osbctl validate` reports after saving."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from osbctl.editor.text_document import cached_text_document
from osbctl.errors import OsbctlError
from osbctl.findings import DocumentError, Finding, Location, Verdict
from osbctl.platforms import Platform
from osbctl.sources.catalogs import find_only_catalog, parse_catalog
from osbctl.sources.discovery import find_source_of, holds_catalog, may_be_catalog
from osbctl.sources.document import Document
from osbctl.sources.folder import read_folder
from osbctl.sources.parse import parse_stream
from osbctl.sources.variables import VariablesOf, no_variables
from osbctl.tasks.options import Request, resolve_config, validation_options
from osbctl.tasks.validate import error_findings
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document


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
    if not may_be_catalog(path):
        return None
    if folder := find_source_of(Path(path)):
        return folder
    edited = cached_text_document(path, text)
    if edited.document is not None:
        documents: Sequence[Document] = (edited.document,)
    else:
        try:
            documents = parse_stream(edited.decode(), path)
        except DocumentError:
            documents = ()
    return path if holds_catalog(path, text, documents, typing=True) else None


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
