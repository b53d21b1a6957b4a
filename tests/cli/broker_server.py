"""A server whose answers a test gives, and a broker whose catalog and manners a test may change at any time."""

import json
import ssl
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.broker.harness import until

Answer = tuple[int, dict[str, str], bytes]
USER, PASSWORD = "platform", "kn0wn-S3cret-p4ss"
BASIC = b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class FakeBroker:
    """`statuses` holds what was answered, `most` how many requests there were at once at most; `delay` is in seconds.

    With `quotes` it takes no credentials. An error quotes them.
    """

    url: str

    def __init__(self, catalog: dict[str, Any]) -> None:
        self.lock, self.now, self.hurry = threading.Lock(), 0, threading.Event()
        self.reset(catalog)

    def reset(self, catalog: dict[str, Any]) -> None:
        """Answer what still waits, and be as new, with this catalog."""
        self.hurry.set()
        assert until(lambda: self.now == 0)
        self.hurry.clear()
        self.delay, self.quotes, self.most = 0.0, False, 0
        self.statuses: list[int] = []
        vars(self).pop("answer", None)
        self.put(catalog)

    def put(self, catalog: dict[str, Any]) -> None:
        self.body = json.dumps(catalog).encode()

    def answer(self, headers: Any) -> tuple[int, bytes]:
        self.hurry.wait(self.delay)
        sent = headers.get("Authorization", "Basic ").removeprefix("Basic ")
        if sent != BASIC or self.quotes:
            password = b64decode(sent).decode().partition(":")[2]
            return 401, json.dumps({"description": f"not {password}, {sent}"}).encode()
        return 200, self.body

    def reply(self, method: str, path: str, headers: Any, body: bytes) -> Answer:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            status, body = self.answer(headers)
            self.statuses.append(status)
        finally:
            with self.lock:
                self.now -= 1
        return status, {}, body


@contextmanager
def broker(catalog: dict[str, Any], pair: tuple[Path, Path] | None = None) -> Iterator[FakeBroker]:
    made = FakeBroker(catalog)
    with listening(made.reply, pair) as made.url:
        yield made


@contextmanager
def listening(answer: Callable[[str, str, Any, bytes], Answer], pair: tuple[Path, Path] | None = None) -> Iterator[str]:
    """The address of a server that answers as the function says: method, path, headers and body in, `Answer` out."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, body = answer(self.command, self.path, self.headers, sent)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = reply  # noqa: N815

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
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"{'https' if pair else 'http'}://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(60)
