"""The language server: what an editor sends goes to the open files, what was found goes to the editor.

One thread judges, so that the loop that reads keeps up with the typing; of what is typed meanwhile, only the last
state is judged. What was found in a text that is no longer that of the editor is never shown.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

import osbctl
from osbctl.editor.actions import FIX_ALL, Mender
from osbctl.editor.analysis import DEFAULT_OPTIONS, Analysis, analyse, source_of
from osbctl.editor.completion import completions
from osbctl.editor.definition import definition
from osbctl.editor.diagnostics import diagnostic
from osbctl.editor.hover import hover
from osbctl.editor.outline import symbols
from osbctl.editor.texts import Place, Text
from osbctl.editor.written import Written, written
from osbctl.files import read_bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from osbctl.findings import Finding

PAUSE = 0.015
"""Seconds without a change before a source is judged: keys that are held down are not judged one by one."""

MAX_BYTES = 50_000_000


@dataclass(slots=True)
class Open:
    """A file that is open in the editor. `source` is what it belongs to, None where osbctl has no say on it."""

    uri: str
    text: str
    version: int | None
    source: str | None


@dataclass(slots=True)
class Judged:
    """A source with open files: what was found last, where it was shown, and whether it has changed since."""

    analysis: Analysis | None = None
    shown: set[str] = field(default_factory=set)
    changed: bool = False
    task: asyncio.Task[None] | None = None


class EditorServer:
    """The open files, and the sources that they belong to."""

    def __init__(self) -> None:
        self.protocol = LanguageServer(
            "osbctl", osbctl.__version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self.files: dict[str, Open] = {}
        self.sources: dict[str, Judged] = {}
        self._judge = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judge")
        self._register()

    def run(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        """Serve until the editor says that it is done, or hangs up."""
        try:
            self.protocol.start_io(stdin, stdout)
        finally:
            self._judge.shutdown(wait=False, cancel_futures=True)

    def _register(self) -> None:
        handlers: dict[str, Callable[..., object]] = {
            types.INITIALIZED: self._initialized,
            types.TEXT_DOCUMENT_DID_OPEN: self._opened,
            types.TEXT_DOCUMENT_DID_CHANGE: self._changed,
            types.TEXT_DOCUMENT_DID_CLOSE: self._closed,
            types.TEXT_DOCUMENT_DID_SAVE: self._saved,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._saved,
            types.TEXT_DOCUMENT_HOVER: self._hover,
            types.TEXT_DOCUMENT_COMPLETION: self._completion,
            types.TEXT_DOCUMENT_DEFINITION: self._definition,
            types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: self._symbols,
            types.TEXT_DOCUMENT_CODE_ACTION: self._actions,
        }
        options = {
            types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=['"', " "]),
            types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]),
        }
        for method, handler in handlers.items():
            # pygls marks what it is given, and a method takes no mark
            self.protocol.feature(method, options.get(method))(partial(handler))

    async def _initialized(self, _: types.InitializedParams) -> None:
        """Ask to be told of what changes on disk."""
        asked = self.protocol.client_capabilities.workspace
        watch = asked.did_change_watched_files if asked else None
        if watch and watch.dynamic_registration:
            names = ("**/osbctl.toml", "**/pyproject.toml", "**/catalog.lock", "**/*.{yaml,yml,json}")
            watchers = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(name) for name in names])
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            await self.protocol.client_register_capability_async(
                types.RegistrationParams([types.Registration("osbctl-files", method, watchers)])
            )

    # Files: what the editor tells.

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        told = params.text_document
        self._take(told.uri, told.text, told.version)

    def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        for change in params.content_changes[-1:]:  # each is the whole text
            self._take(params.text_document.uri, change.text, params.text_document.version)

    def _take(self, uri: str, text: str, version: int | None) -> None:
        path = path_of(uri)
        before = self.files.get(path)
        source = source_of(path, text)
        if before and before.source not in (None, source) and source is None and before.source == path:
            source = path  # a catalog stays one while it is written anew
        self.files[path] = Open(uri, text, version, source)
        for one in {source, before.source if before else None} - {None}:
            self._refresh(str(one))

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        file = self.files.pop(path_of(params.text_document.uri), None)
        if file and file.source:
            self._refresh(file.source)

    def _saved(self, _: object) -> None:
        """What is on disk has changed: a configuration, a lock, a file of a folder that is not open."""
        for source in self.sources:
            self._refresh(source)

    # Sources: what is found.

    def _refresh(self, source: str) -> None:
        judged = self.sources.setdefault(source, Judged())
        judged.changed = True
        if judged.task is None:
            judged.task = asyncio.ensure_future(self._settle(source, judged))

    async def _settle(self, source: str, judged: Judged) -> None:
        try:
            while judged.changed:
                await asyncio.sleep(PAUSE)
                judged.changed = False
                await self._once(source, judged)
        finally:
            judged.task = None
            if not self._files_of(source):
                self.sources.pop(source, None)

    async def _once(self, source: str, judged: Judged) -> None:
        files = self._files_of(source)
        if not files:
            judged.analysis = None
            self._show(judged, {})
            return
        unsaved = {path: file.text for path, file in files.items()}
        loop = asyncio.get_running_loop()
        analysis, shown = await loop.run_in_executor(self._judge, self._found, source, unsaved)
        if not judged.changed:
            judged.analysis = analysis
            self._show(judged, {path: [] for path in files} | shown)

    def _found(self, source: str, unsaved: dict[str, str]) -> tuple[Analysis, dict[str, list[types.Diagnostic]]]:
        analysis = analyse(source, unsaved, self.encoding)
        shown: dict[str, list[types.Diagnostic]] = {}
        for finding in analysis.findings:
            path = os.path.realpath(finding.location.source) if finding.location else min(unsaved)
            file = self.text(path, unsaved)
            shown.setdefault(path, []).append(diagnostic(finding, file))
        return analysis, shown

    def _show(self, judged: Judged, shown: dict[str, list[types.Diagnostic]]) -> None:
        for path in judged.shown | shown.keys():
            file = self.files.get(path)
            self.protocol.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    uri_of(path, file), shown.get(path, []), version=file.version if file else None
                )
            )
        judged.shown = set(shown)

    # What the editor asks.

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        path, file, analysis = await self._judged(params.text_document.uri)
        if file is None:
            return None
        offset = file.offset(Place(params.position.line, params.position.character))
        found = [finding for finding, start, end in _in_file(analysis, path, file) if start <= offset <= end]
        return hover(file, offset, found, analysis, self._place(path))

    def _completion(self, params: types.CompletionParams) -> list[types.CompletionItem]:
        path = path_of(params.text_document.uri)
        file = self.files.get(path)
        if file is None or file.source is None:
            return []
        judged = self.sources.get(file.source)
        options = judged.analysis.options if judged and judged.analysis else DEFAULT_OPTIONS
        return completions(Text(file.text, self.encoding), params.position, options.api_version, self._place(path))

    async def _definition(self, params: types.DefinitionParams) -> types.Location | None:
        path, file, _ = await self._judged(params.text_document.uri)
        if file is None:
            return None
        offset = file.offset(Place(params.position.line, params.position.character))
        folder = self.files[path].source if self._place(path) else None
        found = definition(file, offset, folder, lambda name: self.text(name, self._unsaved()))
        return types.Location(uri_of(found[0].name, self.files.get(found[0].name)), found[1]) if found else None

    async def _symbols(self, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        _, file, _ = await self._judged(params.text_document.uri)
        return symbols(file) if file else []

    async def _actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        path, file, analysis = await self._judged(params.text_document.uri)
        if file is None or analysis is None or analysis.document is None:
            return []
        lines = range(params.range.start.line, params.range.end.line + 1)
        found = [finding for finding, start, _ in _in_file(analysis, path, file) if file.line_of(start) in lines]
        unsaved = {name: one.text for name, one in self._files_of(analysis.source).items()}
        mender = Mender(
            analysis,
            analysis.document,
            unsaved,
            self.encoding,
            lambda name: uri_of(os.path.realpath(name), self.files.get(os.path.realpath(name))),
            lambda name: self.text(os.path.realpath(name), unsaved),
        )
        only = params.context.only
        return await asyncio.get_running_loop().run_in_executor(self._judge, _made, mender, file, found, only)

    async def _judged(self, uri: str) -> tuple[str, Written | None, Analysis | None]:
        """An open file, and what was found in its source as it is now."""
        path = path_of(uri)
        while (file := self.files.get(path)) and file.source and (judged := self.sources.get(file.source)):
            if judged.task is None:
                return path, written(path, file.text, self.encoding), judged.analysis
            await asyncio.wait([judged.task])
        return path, None, None

    def _place(self, path: str) -> PurePath | None:
        """Where a file lies in its source folder, None where it is a catalog by itself."""
        source = self.files[path].source
        return PurePath(path).relative_to(source) if source and source != path else None

    def _unsaved(self) -> dict[str, str]:
        return {path: file.text for path, file in self.files.items()}

    def _files_of(self, source: str) -> dict[str, Open]:
        return {path: file for path, file in self.files.items() if file.source == source}

    def text(self, path: str, unsaved: dict[str, str]) -> Written:
        """The file at `path`, as it is in the editor, or else on disk; empty where there is none."""
        if path not in unsaved:
            try:
                return written(path, read_bounded(path, MAX_BYTES).decode("utf-8", "replace"), self.encoding)
            except OSError:
                return written(path, "", self.encoding)
        return written(path, unsaved[path], self.encoding)

    @property
    def encoding(self) -> str:
        """What the editor counts characters in."""
        agreed = self.protocol.workspace.position_encoding
        return agreed.value if isinstance(agreed, types.PositionEncodingKind) else str(agreed)


def _made(mender: Mender, file: Written, found: list[Finding], only: Sequence[str] | None) -> list[types.CodeAction]:
    def wanted(kind: str) -> bool:
        return only is None or any(kind == asked or kind.startswith(f"{asked}.") for asked in only)

    quick = list(mender.actions(file, found)) if wanted(types.CodeActionKind.QuickFix) else []
    # Editors ask wherever the cursor goes: all of the file is looked at where it was asked for, or there is a reason.
    return quick + (list(mender.fix_all()) if wanted(FIX_ALL) and (only or quick) else [])


def _in_file(analysis: Analysis | None, path: str, file: Written) -> Iterator[tuple[Finding, int, int]]:
    """The findings that stand in a file, each with the range that it underlines."""
    for finding in analysis.findings if analysis else ():
        if finding.location and os.path.realpath(finding.location.source) == path:
            yield finding, *file.extent(finding.location)


def path_of(uri: str) -> str:
    """The resolved path of a file, or the address itself where it is no file (`untitled:…`)."""
    path = to_fs_path(uri)
    return os.path.realpath(path) if path else uri


def uri_of(path: str, file: Open | None) -> str:
    """The address that the editor knows a file by."""
    return file.uri if file else from_fs_path(path) or path
