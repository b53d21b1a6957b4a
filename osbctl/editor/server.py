"""The language server: requests and notifications of an editor, each with its handler."""

import asyncio
import json
import os
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

import osbctl
from osbctl.editor.actions import FIX_ALL, ActionBuilder
from osbctl.editor.completion import completions, hover, new_catalog
from osbctl.editor.open_files import OpenFiles, path_from_uri
from osbctl.editor.text_document import TextDocument, make_diagnostic
from osbctl.findings import Finding
from osbctl.paths import JsonPath, get_at, value_at
from osbctl.sources.folder.source_tree import LOCK
from osbctl.sources.read import VariablesOf
from osbctl.text import escape_line

MAX_SYMBOLS = 10_000
"""Symbols of one file; an editor has no use for more."""


def find_id_in_lock(file: TextDocument, offset: int, lock: TextDocument) -> types.Range | None:
    """The range in `lock`, the catalog.lock of the source folder, that has the id at `offset`."""
    path = file.path_at(offset)
    if file.document is None or not path or path[-1] != "id":
        return None
    id_ = str(value_at(file.document.data, path))
    start = lock.body.find(json.dumps(id_, ensure_ascii=False))
    return lock.range(start + 1, start + 1 + len(id_)) if start >= 0 else None


def document_symbols(file: TextDocument, catalog_path: JsonPath = ()) -> list[types.DocumentSymbol]:
    """A symbol for each service offering with its plans; for each plan in a file of one service offering."""
    data = get_at(file.document.data, catalog_path) if file.document else None
    if not isinstance(data, dict):
        return []
    if isinstance(data.get("services"), list):
        return list(_list_symbols(file, data, (*catalog_path, "services"), types.SymbolKind.Class))
    return list(_list_symbols(file, data, (*catalog_path, "plans"), types.SymbolKind.Field))


def _list_symbols(
    file: TextDocument, parent: dict[str, Any], path: JsonPath, kind: types.SymbolKind
) -> Iterator[types.DocumentSymbol]:
    objects = parent.get(str(path[-1]))
    for index, value in enumerate(objects[:MAX_SYMBOLS] if isinstance(objects, list) else ()):
        span = file.spans.get((*path, index))
        if span is None or not isinstance(value, dict):
            continue
        name = file.spans.get((*path, index, "name"))
        end = span.start + len(file.body[span.start : span.end].rstrip())
        yield types.DocumentSymbol(
            name=_label(value.get("name")) or f"number {index + 1}",
            kind=kind,
            range=file.range(span.start, end),
            selection_range=file.range(name.start, name.end) if name else file.range(span.start, span.start),
            detail=_label(value.get("id")),
            children=list(_list_symbols(file, value, (*path, index, "plans"), types.SymbolKind.Field)),
        )


def _label(value: Any) -> str:
    """A name or id on one line. Empty if it is missing, null, or neither text nor a number."""
    is_shown = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return escape_line(str(value)).strip() if is_shown else ""


class _Protocol(LanguageServerProtocol):
    """The protocol with positions in UTF-16, which every editor has (LSP 3.17, "Position Encoding Kind")."""

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        if params.capabilities.general:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))


class EditorServer:
    """One session with one editor."""

    def __init__(self, variables_of: VariablesOf | None = None) -> None:
        # Whole texts, no edits: pygls ends lines at U+2028 and others, editors do not.
        whole = types.TextDocumentSyncKind.Full
        self.protocol = LanguageServer("osbctl", osbctl.__version__, whole, protocol_cls=_Protocol)
        self.open = OpenFiles(self._publish_diagnostics, self._log_internal_error, variables_of)
        self._outlines: dict[str, list[types.DocumentSymbol]] = {}
        self._shutdown_requested = False
        self._exit_code = 0
        handlers: dict[str, Callable[..., object]] = {
            types.INITIALIZED: self._on_initialized,
            types.SHUTDOWN: self._on_shutdown,
            types.EXIT: self._on_exit,
            types.TEXT_DOCUMENT_DID_OPEN: self._on_open,
            types.TEXT_DOCUMENT_DID_CHANGE: self._on_change,
            types.TEXT_DOCUMENT_DID_CLOSE: self._on_close,
            types.TEXT_DOCUMENT_DID_SAVE: self._on_disk_change,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._on_disk_change,
            types.TEXT_DOCUMENT_HOVER: self._on_hover,
            types.TEXT_DOCUMENT_COMPLETION: self._on_completion,
            types.TEXT_DOCUMENT_DEFINITION: self._on_definition,
            types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: self._on_document_symbol,
            types.TEXT_DOCUMENT_CODE_ACTION: self._on_code_action,
        }
        options = {
            types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=['"', " "]),
            types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]),
        }
        for method, handler in handlers.items():
            # pygls sets attributes of the handler; a bound method has none that can be set
            self.protocol.feature(method, options.get(method))(partial(handler))

    def run(self, stdin: BinaryIO, stdout: BinaryIO) -> int:
        """Serve until the editor ends the session or hangs up; the exit code (LSP 3.17, "Exit Notification")."""
        try:
            self.protocol.start_io(stdin, stdout)
        finally:
            self.open.analysis_thread.shutdown(wait=False, cancel_futures=True)
        return self._exit_code

    async def _on_initialized(self, _: types.InitializedParams) -> None:
        workspace = self.protocol.client_capabilities.workspace
        watch = workspace.did_change_watched_files if workspace else None
        if watch and watch.dynamic_registration:
            names = ("**/osbctl.toml", "**/pyproject.toml", "**/catalog.lock", "**/*.{yaml,yml,json}")
            watchers = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(name) for name in names])
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            await self.protocol.client_register_capability_async(
                types.RegistrationParams([types.Registration("osbctl-files", method, watchers)])
            )

    def _on_shutdown(self, _: object) -> None:
        self._shutdown_requested = True

    def _on_exit(self, _: object) -> None:
        self._exit_code = 0 if self._shutdown_requested else 1

    def _on_open(self, params: types.DidOpenTextDocumentParams) -> None:
        opened = params.text_document
        self.open.update(opened.uri, opened.text, opened.version)

    def _on_change(self, params: types.DidChangeTextDocumentParams) -> None:
        for change in params.content_changes[-1:]:  # each is the whole text
            self.open.update(params.text_document.uri, change.text, params.text_document.version)

    def _on_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self.open.close(params.text_document.uri)

    def _on_disk_change(self, _: object) -> None:
        """Analyse again after a change of a configuration, a lock, or a file that is not open."""
        for file in list(self.open.files.values()):
            self.open.update(file.uri, file.text, file.version)

    def _publish_diagnostics(self, path: str, findings: list[Finding]) -> None:
        open_file, file = self.open.files.get(path), self.open.read_document(path)
        shown = [make_diagnostic(finding, file) for finding in findings]
        version = open_file.version if open_file else None
        published = types.PublishDiagnosticsParams(self.open.uri(path), shown, version)
        self.protocol.text_document_publish_diagnostics(published)

    def _log_internal_error(self, error: Exception) -> None:
        text = f"internal error: {type(error).__name__}; this is a bug of osbctl"
        self.protocol.window_log_message(types.LogMessageParams(types.MessageType.Error, text))

    async def _on_hover(self, params: types.HoverParams) -> types.Hover | None:
        path, file, analysis = await self.open.wait_for_analysis(params.text_document.uri)
        if file is None:
            return None
        offset = file.offset(params.position)
        found = self.open.findings_in(path, analysis)
        findings = [one for one in found if one.location and offset in range(*file.extent(one.location))]
        return hover(file, offset, findings, analysis, self.open.path_in_folder(path))

    def _on_completion(self, params: types.CompletionParams) -> list[types.CompletionItem]:
        path = path_from_uri(params.text_document.uri)
        file = self.open.files.get(path)
        if file is None:
            return []
        document = self.open.read_document(path)
        begun: list[types.CompletionItem] = []
        if file.source in (None, path):  # no part of a source folder
            supported = "text_document.completion.completion_item.snippet_support"
            snippets = bool(get_capability(self.protocol.client_capabilities, supported))
            begun = new_catalog(document, params.position, snippets=snippets)
        if file.source is None:
            return begun
        return begun + completions(document, params.position, self.open.path_in_folder(path))

    async def _on_definition(self, params: types.DefinitionParams) -> types.Location | None:
        path, file, _ = await self.open.wait_for_analysis(params.text_document.uri)
        folder = self.open.files[path].source if file else None
        if file is None or folder is None or folder == path:
            return None
        lock = os.path.join(folder, LOCK)  # noqa: PTH118
        found = find_id_in_lock(file, file.offset(params.position), self.open.read_document(lock))
        return types.Location(self.open.uri(lock), found) if found else None

    async def _on_document_symbol(self, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        path, file, analysis = await self.open.wait_for_analysis(params.text_document.uri)
        if file and file.document:
            document = analysis.document if analysis else None
            self._outlines[path] = document_symbols(file, document.top if document and not document.embedded else ())
        return self._outlines.get(path, []) if file else []  # the last one, while the text cannot be parsed

    async def _on_code_action(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        path, file, analysis = await self.open.wait_for_analysis(params.text_document.uri)
        if file is None or analysis is None or analysis.document is None or analysis.document.embedded:
            return []
        lines = range(params.range.start.line, params.range.end.line + 1)
        found = self.open.findings_in(path, analysis)
        findings = [one for one in found if one.location and one.location.line - 1 in lines]
        builder = ActionBuilder(analysis, analysis.document, self.open.unsaved_texts(analysis.source), self.open)
        task = partial(builder.build_actions, file, findings, params.context.only)
        return await asyncio.get_running_loop().run_in_executor(self.open.analysis_thread, task)
