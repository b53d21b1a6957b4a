"""The files that are open in an editor, the sources that they belong to, and what was found in these.

One thread judges, so that the loop that reads keeps up with the typing; of what is typed meanwhile, only the last
state is judged. What was found in a text that is no longer that of the editor is never shown.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath

from pygls.uris import from_fs_path, to_fs_path

from osbctl.editor.analysis import Analysis, analyse, source_of
from osbctl.editor.text_document import TextDocument, written
from osbctl.files import read_bounded
from osbctl.findings import Finding
from osbctl.sources.limits import MAX_BYTES
from osbctl.sources.variables import VariablesOf, no_variables

PAUSE = 0.015
"""Seconds without a change before a source is judged: keys that are held down are not judged one by one."""


@dataclass(slots=True)
class OpenFile:
    """A file that is open in the editor. `source` is what it belongs to, None where osbctl has no say on it."""

    uri: str
    text: str
    version: int | None
    source: str | None


@dataclass(slots=True)
class AnalysedSource:
    """A source with open files: what was found last, where it was shown, and whether it has changed since."""

    analysis: Analysis | None = None
    shown: set[str] = field(default_factory=set)
    changed: bool = False
    task: asyncio.Task[None] | None = None


class OpenFiles:
    """Open files. `show` receives the findings of a file after each analysis, `fail` internal errors."""

    def __init__(
        self,
        show: Callable[[str, list[Finding]], None],
        fail: Callable[[Exception], None],
        variables_of: VariablesOf = no_variables,
    ) -> None:
        self.files: dict[str, OpenFile] = {}
        self.sources: dict[str, AnalysedSource] = {}
        self.encoding = "utf-16"
        self.variables_of = variables_of
        self.edition = 0
        """Another number after each change."""
        self.analysis_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")
        self._show_file = show
        self._fail = fail

    def take(self, uri: str, text: str, version: int | None) -> None:
        """A file was opened, or its text has changed."""
        path = path_of(uri)
        before = self.files[path].source if path in self.files else None
        # A catalog that is written anew stays one.
        source = source_of(path, text, self.encoding) or (path if before == path else None)
        self.files[path] = OpenFile(uri, text, version, source)
        for one in {source, before} - {None}:
            self._refresh(str(one))

    def close(self, uri: str) -> None:
        """A file was closed: what is on disk counts again."""
        file = self.files.pop(path_of(uri), None)
        if file and file.source:
            self._refresh(file.source)

    def look_again(self) -> None:
        """Analyse again after a change on disk: a configuration, a lock, a file that is not open."""
        for file in list(self.files.values()):
            self.take(file.uri, file.text, file.version)

    async def judged(self, uri: str) -> tuple[str, TextDocument | None, Analysis | None]:
        """The path of an open file, the file, and what was found in its source as it is now."""
        path = path_of(uri)
        while (file := self.files.get(path)) and file.source and (judged := self.sources.get(file.source)):
            if judged.task is None:
                return path, written(path, file.text, self.encoding), judged.analysis
            await asyncio.wait([judged.task])
        return path, None, None

    def found_in(self, path: str, analysis: Analysis | None) -> Iterator[Finding]:
        """The findings that are about one file."""
        return (
            f for f in (analysis.findings if analysis else ()) if f.location and self.path(f.location.source) == path
        )

    def unsaved(self, source: str) -> dict[str, str]:
        """The texts of a source's open files, by path."""
        return {path: file.text for path, file in self.files.items() if file.source == source}

    def text(self, path: str) -> TextDocument:
        """The file at `path`, as it is in the editor, or else on disk; empty where there is none."""
        if path in self.files:
            return written(path, self.files[path].text, self.encoding)
        try:
            data = read_bounded(path, MAX_BYTES) if os.path.isfile(path) else b""  # noqa: PTH113  # a FIFO is not read
        except OSError:
            data = b""
        return written(path, data.decode("utf-8", "replace"), self.encoding)

    def place(self, path: str) -> PurePath | None:
        """Path of an open file in its source folder, None if it is a catalog; of a brokerpak, below `brokerpak/`."""
        source = self.files[path].source
        if not source or source == path:
            return None
        judged = self.sources.get(source)
        document = judged.analysis.document if judged and judged.analysis else None
        top = "brokerpak" if document and document.syntax == "brokerpak" else ""
        return PurePath(top, PurePath(path).relative_to(source))

    def path(self, name: str) -> str:
        """The path of a file by the name that a finding has for it."""
        return name if name in self.files else os.path.realpath(name)

    def uri(self, name: str) -> str:
        """The address that the editor knows a file by."""
        path = self.path(name)
        return self.files[path].uri if path in self.files else from_fs_path(path) or path

    def _refresh(self, source: str) -> None:
        self.edition += 1
        judged = self.sources.setdefault(source, AnalysedSource())
        judged.changed = True
        if judged.task is None:
            judged.task = asyncio.ensure_future(self._settle(source, judged))

    async def _settle(self, source: str, judged: AnalysedSource) -> None:
        while judged.changed:
            await asyncio.sleep(PAUSE)
            judged.changed = False
            unsaved = self.unsaved(source)
            loop = asyncio.get_running_loop()
            try:
                task = partial(analyse, source, unsaved, self.encoding, self.variables_of)
                analysis = await loop.run_in_executor(self.analysis_thread, task) if unsaved else None
            except Exception as error:  # a fault of ours ends no session, and nothing that it left is shown
                self._fail(error)
                analysis = None
            if not judged.changed:
                judged.analysis = analysis
                self._show(source, judged, unsaved)
        judged.task = None
        if not self.unsaved(source):
            del self.sources[source]

    def _show(self, source: str, judged: AnalysedSource, unsaved: dict[str, str]) -> None:
        found: dict[str, list[Finding]] = {path: [] for path in unsaved}
        for finding in judged.analysis.findings if judged.analysis else ():
            path = self.path(finding.location.source) if finding.location else min(unsaved)
            found.setdefault(path, []).append(finding)
        for path in judged.shown | found.keys():
            file = self.files.get(path)
            if path in found or file is None or file.source in (None, source):  # else another source has the say on it
                self._show_file(path, found.get(path, []))
        judged.shown = set(found)


def path_of(uri: str) -> str:
    """The resolved path of a file, or the address itself where it is no file (`untitled:…`)."""
    path = to_fs_path(uri)
    return os.path.realpath(path) if path else uri
