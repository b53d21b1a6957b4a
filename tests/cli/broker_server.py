"""A small broker over HTTP or HTTPS whose catalog and manners a test may change at any time."""

from __future__ import annotations

import hashlib
import json
import ssl
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

USER, PASSWORD = "platform", "kn0wn-S3cret-p4ss"
BASIC = b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class FakeBroker:
    """`statuses` holds what was answered, `most` how many requests there were at once at most; `delay` is in seconds; with `quotes` it takes none. An error quotes it."""

    def __init__(self, url: str, catalog: dict[str, Any]) -> None:
        self.url, self.delay, self.quotes, self.tags = url, 0.0, False, True
        self.body = json.dumps(catalog).encode()
        self.statuses: list[int] = []
        self.now = self.most = 0
        self.lock = threading.Lock()

    def put(self, catalog: dict[str, Any]) -> None:
        self.body = json.dumps(catalog).encode()

    def answer(self, headers: Any) -> tuple[int, bytes, str]:
        time.sleep(self.delay)
        tag = f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'
        sent = headers.get("Authorization", "Basic ").removeprefix("Basic ")
        if sent != BASIC or self.quotes:
            password = b64decode(sent).decode().partition(":")[2]
            return 401, json.dumps({"description": f"not {password}, {sent}"}).encode(), ""
        if headers.get("If-None-Match") == tag and self.tags:
            return 304, b"", tag
        return 200, self.body, tag if self.tags else ""


@contextmanager
def broker(catalog: dict[str, Any], pair: tuple[Path, Path] | None = None) -> Iterator[FakeBroker]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with made.lock:
                made.now += 1
                made.most = max(made.most, made.now)
            status, body, tag = made.answer(self.headers)
            with made.lock:
                made.now -= 1
            made.statuses.append(status)
            self.send_response(status)
            if tag:
                self.send_header("ETag", tag)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: Any) -> None:
            pass  # a client that gave up

    with Server(("127.0.0.1", 0), Handler) as server:
        if pair:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*pair)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        made = FakeBroker(f"{'https' if pair else 'http'}://127.0.0.1:{server.server_port}", catalog)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join(5)
