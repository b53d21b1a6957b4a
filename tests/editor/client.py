"""An editor: pygls' own client, talking over stdio to `osbctl lsp` in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

SECONDS = 20.0
"""Time limit of one response: generous, since the machine may be busy."""

SESSION: list[tuple[asyncio.Runner, Editor]] = []
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

    async def quiet(self, uri: str) -> list[types.Diagnostic]:
        """The server's latest diagnostics for a file that is not open."""
        async with asyncio.timeout(SECONDS):
            self.news.clear()
            await self.news.wait()
        return list(self.said[uri].diagnostics)


@asynccontextmanager
async def editing(
    encodings: list[str] | None = None, program: tuple[str, ...] = ("-m", "osbctl"), **capabilities: Any
) -> AsyncIterator[Editor]:
    """An editor with a running server."""
    client = LanguageClient("tests", "1")
    editor = Editor(client)
    await client.start_io(sys.executable, *program, "lsp", "--stdio")
    try:
        async with asyncio.timeout(SECONDS):
            general = types.GeneralClientCapabilities(position_encodings=encodings)  # type: ignore[arg-type]
            can = types.ClientCapabilities(general=general, **capabilities)
            await client.initialize_async(types.InitializeParams(capabilities=can))
            client.initialized(types.InitializedParams())
        yield editor
        async with asyncio.timeout(SECONDS):
            await client.shutdown_async(None)
        client.exit(None)
        assert client._server
        async with asyncio.timeout(SECONDS):
            assert await client._server.wait() == 0
    except BaseException:
        assert client._server
        client._server.kill()
        raise
    finally:
        async with asyncio.timeout(SECONDS):
            await client.stop()


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
