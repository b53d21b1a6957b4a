"""The files that are open in an editor, their sources, and the findings of these.

One thread validates, so that the event loop keeps up with the typing. Of several changes meanwhile, only the last state
is validated. Findings of an outdated text are never shown.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath

from pygls.uris import from_fs_path, to_fs_path

from osbctl.commands.settings import ValidationSettings, resolve_config, validation_options
from osbctl.editor.text_document import TextDocument, cached_text_document
from osbctl.errors import OsbctlError
from osbctl.files import read_bounded
from osbctl.findings import DocumentError, Finding, Location, Verdict, each_place, error_findings
from osbctl.platforms import Platform
from osbctl.sources.catalogs import find_only_catalog, parse_catalog
from osbctl.sources.discovery import find_source_of, holds_catalog, may_be_catalog
from osbctl.sources.document import Document, parse_stream
from osbctl.sources.folder import read_folder
from osbctl.sources.read import VariablesOf
from osbctl.sources.read_bytes import MAX_BYTES
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
    """The source of an edited file: its source folder, or itself. None if it holds no catalog."""
    if not may_be_catalog(path):
        return None
    if folder := find_source_of(Path(path)):
        return folder
    edited = cached_text_document(path, text)
    documents: Sequence[Document] = ()
    with suppress(DocumentError):  # also of a text that is not Unicode
        documents = parse_stream(edited.decode(), path) if edited.document is None else (edited.document,)
    return path if holds_catalog(path, text, documents, typing=True) else None


def analyse_source(source: str, unsaved: Mapping[str, str], variables_of: VariablesOf | None = None) -> Analysis:
    """Validate one source. `unsaved` are the texts in the editor, by resolved path; they replace the files on disk."""
    try:
        options = validation_options(ValidationSettings((source,)), resolve_config(source))
    except OsbctlError as error:
        place = Location(source, 1, 1) if source in unsaved else None
        return Analysis(source, (error_findings(error, source)[0]._replace(location=place),))
    try:
        document = read_open_source(source, unsaved, variables_of)
    except OsbctlError as error:  # also a broken lock
        return Analysis(source, error_findings(error, source), options)
    result = validate_document(document, options)
    return Analysis(source, result.findings, options, document, result.verdicts)


def read_open_source(source: str, unsaved: Mapping[str, str], variables_of: VariablesOf | None) -> Document:
    """The catalog of a source as it is in the editor. Raises OsbctlError: it cannot be read."""
    if source not in unsaved:
        buffers = {Path(path): text.encode("utf-8", "surrogatepass") for path, text in unsaved.items()}
        return read_folder(source, unsaved=buffers, variables_of=variables_of)
    file = cached_text_document(source, unsaved[source])
    if file.document is None:  # it cannot be parsed, or is a stream of documents
        return parse_catalog(file.decode(), source)
    return find_only_catalog([file.document])


PAUSE = 0.015
"""Seconds without a change before a source is validated, so that a held key causes one validation."""


@dataclass(slots=True)
class OpenFile:
    """A file that is open in the editor. `source` is what it belongs to. None for a file without a catalog."""

    uri: str
    text: str
    version: int | None
    source: str | None


@dataclass(slots=True)
class AnalysedSource:
    """A source with open files: its last analysis, the files with shown findings, and whether it changed since."""

    analysis: Analysis | None = None
    shown: set[str] = field(default_factory=set)
    changed: bool = False
    task: asyncio.Task[None] | None = None


class OpenFiles:
    """Open files. `show_findings` gets the findings of a file after each analysis, `report_error` internal errors."""

    def __init__(
        self,
        show_findings: Callable[[str, list[Finding]], None],
        report_error: Callable[[Exception], None],
        variables_of: VariablesOf | None = None,
    ) -> None:
        self.files: dict[str, OpenFile] = {}
        self.sources: dict[str, AnalysedSource] = {}
        self.variables_of = variables_of
        self.analysis_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")
        self._show_findings_of_file = show_findings
        self._report_error = report_error

    def update(self, uri: str, text: str, version: int | None) -> None:
        """Record the text of an opened or changed file, and schedule the analysis of its source."""
        path = path_from_uri(uri)
        before = self.files[path].source if path in self.files else None
        # A catalog whose text is replaced stays one.
        source = find_source(path, text) or (path if before == path else None)
        self.files[path] = OpenFile(uri, text, version, source)
        for name in {source, before} - {None}:
            self._schedule_analysis(str(name))

    def close(self, uri: str) -> None:
        """Forget the text of a closed file, and schedule the analysis of its source from the file on disk."""
        file = self.files.pop(path_from_uri(uri), None)
        if file and file.source:
            self._schedule_analysis(file.source)

    async def wait_for_analysis(self, uri: str) -> tuple[str, TextDocument | None, Analysis | None]:
        """Wait for the analysis of a file's source; return the path, the file and the analysis, None if closed."""
        path = path_from_uri(uri)
        while (file := self.files.get(path)) and file.source and (source := self.sources.get(file.source)):
            if source.task is None:
                return path, self.read_document(path), source.analysis
            await asyncio.wait([source.task])
        return path, None, None

    def findings_in(self, path: str, analysis: Analysis | None) -> Iterator[Finding]:
        """The findings at each place in one file."""
        for finding in each_place(analysis.findings) if analysis else ():
            if finding.location and self.resolve_path(finding.location.source) == path:
                yield finding

    def unsaved_texts(self, source: str) -> dict[str, str]:
        """The texts of a source's open files, by path."""
        return {path: file.text for path, file in self.files.items() if file.source == source}

    def read_document(self, path: str) -> TextDocument:
        """The file at `path`, as it is in the editor, or else on disk. Empty if there is none."""
        if path in self.files:
            return cached_text_document(path, self.files[path].text)
        try:
            data = read_bounded(path, MAX_BYTES) if os.path.isfile(path) else b""  # noqa: PTH113  # a FIFO is not read
        except OSError:
            data = b""
        return cached_text_document(path, data.decode("utf-8", "replace"))

    def path_in_folder(self, path: str) -> PurePath | None:
        """Path of an open file in its source folder, None if it is a catalog."""
        name = self.files[path].source
        return PurePath(path).relative_to(name) if name and name != path else None

    def resolve_path(self, name: str) -> str:
        """The path of a file by its name in a finding."""
        return name if name in self.files else os.path.realpath(name)

    def uri(self, name: str) -> str:
        """The editor's address of a file, by its name in a finding."""
        path = self.resolve_path(name)
        return self.files[path].uri if path in self.files else from_fs_path(path) or path

    def _schedule_analysis(self, source_name: str) -> None:
        source = self.sources.setdefault(source_name, AnalysedSource())
        source.changed = True
        if source.task is None:
            source.task = asyncio.ensure_future(self._analyse_until_unchanged(source_name, source))

    async def _analyse_until_unchanged(self, source_name: str, source: AnalysedSource) -> None:
        while source.changed:
            await asyncio.sleep(PAUSE)
            source.changed = False
            unsaved = self.unsaved_texts(source_name)
            loop = asyncio.get_running_loop()
            try:
                task = partial(analyse_source, source_name, unsaved, self.variables_of)
                analysis = await loop.run_in_executor(self.analysis_thread, task) if unsaved else None
            except Exception as error:  # a bug in a rule must not end the session, nor leave findings behind
                self._report_error(error)
                analysis = None
            if not source.changed:
                source.analysis = analysis
                try:
                    self._show_findings(source_name, source, unsaved)
                except Exception as error:  # nor leave those waiting who ask about the file
                    self._report_error(error)
        source.task = None
        if not self.unsaved_texts(source_name):
            del self.sources[source_name]

    def _show_findings(self, source_name: str, source: AnalysedSource, unsaved: dict[str, str]) -> None:
        """Show the findings of a source in its files, and none in those that have none now; one is in `unsaved`."""
        found: dict[str, list[Finding]] = {path: [] for path in unsaved}
        for finding in each_place(source.analysis.findings) if source.analysis else ():
            path = self.resolve_path(finding.location.source) if finding.location else min(unsaved)
            found.setdefault(path, []).append(finding)
        for path in source.shown | found.keys():
            file = self.files.get(path)
            # Otherwise it belongs to another source now.
            if path in found or file is None or file.source in (None, source_name):
                self._show_findings_of_file(path, found.get(path, []))
        source.shown = set(found)


def path_from_uri(uri: str) -> str:
    """The resolved path of a file, or the address itself if it names no file (`untitled:…`)."""
    path = to_fs_path(uri)
    return os.path.realpath(path) if path else uri
