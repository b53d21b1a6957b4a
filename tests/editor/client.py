"""An editor: pygls' own client, talking to the language server in a thread, or to `osbctl lsp` over stdio."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from osbctl.commands.settings import variables_lookup
from osbctl.editor.server import EditorServer

SECONDS = 60.0
"""Time limit of one response: generous, since the machine may be busy."""

SESSION: list[tuple[asyncio.Runner, "Editor"]] = []
"""The editor that tests share, while the fixture `one_server` is there."""

T = TypeVar("T")


class Editor:
    """Opens files, changes them, and keeps what the server last said of each."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.said: dict[str, types.PublishDiagnosticsParams] = {}
        self.log: list[str] = []
        self.news = asyncio.Event()
        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._heard(params))
        client.feature(types.WINDOW_LOG_MESSAGE)(lambda params: self.log.append(params.message))
        client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self.log.append(params.message))
        self.versions: dict[str, int] = {}
        self.encoding: str | None = None

    def _heard(self, params: types.PublishDiagnosticsParams) -> None:
        self.said[params.uri] = params
        self.news.set()

    def open(self, path: Path | str, text: str | None = None) -> str:
        uri = path.as_uri() if isinstance(path, Path) else path
        self.versions[uri] = 0
        item = types.TextDocumentItem(uri, "yaml", 0, path.read_text() if text is None else text)  # type: ignore[union-attr]
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> None:
        self.versions[uri] += 1
        which = types.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(which, [whole]))

    def close(self, uri: str) -> None:
        del self.versions[uri]
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def heard(self, uri: str) -> list[types.Diagnostic]:
        """The server's diagnostics for the current text."""
        async with asyncio.timeout(SECONDS):
            while uri not in self.said or self.said[uri].version != self.versions.get(uri):
                self.news.clear()
                await self.news.wait()
        return list(self.said[uri].diagnostics)


@asynccontextmanager
async def editing(encodings: list[str] | None = None) -> AsyncIterator[Editor]:
    """An editor, and a server in a thread: the start of a process costs half a second."""
    editor = Editor(LanguageClient("tests", "1"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = asyncio.create_task(asyncio.to_thread(serve, listening))
        await editor.client.start_tcp(*listening.getsockname())
        async with session(editor, encodings):
            yield editor
        async with asyncio.timeout(SECONDS):
            assert await serving == 0


def serve(listening: socket.socket) -> int:
    """Serve one editor; the exit code."""
    connection, _ = listening.accept()
    with connection, connection.makefile("rb") as received, connection.makefile("wb") as sent:
        return EditorServer(variables_lookup()).run(received, sent)


@asynccontextmanager
async def editing_in_a_process() -> AsyncIterator[tuple[Editor, int]]:
    """An editor with a server that it started, and the id of that process."""
    editor = Editor(LanguageClient("tests", "1"))
    await editor.client.start_io(sys.executable, "-m", "osbctl", "lsp", "--stdio")
    server = editor.client._server
    assert server
    try:
        async with session(editor):
            yield editor, server.pid
        async with asyncio.timeout(SECONDS):
            assert await server.wait() == 0
    except BaseException:
        server.kill()
        raise


@asynccontextmanager
async def session(editor: Editor, encodings: list[str] | None = None) -> AsyncIterator[None]:
    """The first and last messages of an editor to a server."""
    client = editor.client
    try:
        async with asyncio.timeout(SECONDS):
            general = types.GeneralClientCapabilities(position_encodings=encodings)  # type: ignore[arg-type]
            params = types.InitializeParams(types.ClientCapabilities(general=general))
            editor.encoding = (await client.initialize_async(params)).capabilities.position_encoding
            client.initialized(types.InitializedParams())
        yield
        async with asyncio.timeout(SECONDS):
            await client.shutdown_async(None)
    finally:
        client.exit(None)
        try:
            async with asyncio.timeout(SECONDS):
                await client.stop()
        finally:  # a server that failed still reads, and its thread would hang
            client.protocol.writer.close()


def in_editor(look: Callable[[Editor], Awaitable[T]]) -> T:
    """Do this with the editor that tests share: nothing is logged, and the files are closed in the end."""
    runner, editor = SESSION[0]

    async def run() -> T:
        try:
            async with asyncio.timeout(60):
                answer = await look(editor)
            assert editor.log == []
            return answer
        finally:
            for uri in [*editor.versions]:
                editor.close(uri)
            editor.said.clear()
            editor.log.clear()

    return runner.run(run())
