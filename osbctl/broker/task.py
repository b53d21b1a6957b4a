"""What is done for one request: run the application, or say why the request was refused."""

from __future__ import annotations

import json
import time
from functools import lru_cache
from typing import Any

from waitress.task import ErrorTask, WSGITask  # type: ignore[import-untyped]
from waitress.utilities import build_http_date  # type: ignore[import-untyped]

from osbctl.broker.decision import DECISION
from osbctl.broker.logs import Entry

_NAMES = {
    400: ("BadRequest", "the request is malformed"),
    403: ("HttpsRequired", "this broker answers over HTTPS only"),
    413: ("RequestTooLarge", "the body of the request is too large"),
    431: ("HeaderTooLarge", "the header of the request is too large"),
    500: ("InternalError", "the broker failed to answer; its log says why"),
    501: ("BadRequest", "the request asks for something that this broker does not do"),
}


@lru_cache(maxsize=2)
def _http_date(second: int) -> str:
    return str(build_http_date(second))


class Forbidden:
    """In the place of a waitress error: the request did not come the way it must (see `proxy.py`)."""

    code = 403
    reason = "Forbidden"


class _Closing:
    """Both tasks: record what was answered, and announce the end of a connection."""

    request: Any
    status: str
    channel: Any
    """The connection that is answered: `osbctl.broker.channel.Channel`, which knows its tasks."""

    def build_response_header(self) -> bytes:
        if self.channel.must_end:
            self.set_close_on_finish()  # type: ignore[attr-defined]
        head: bytes = super().build_response_header()  # type: ignore[misc]
        self.begin_entry(len(head))
        return head

    def begin_entry(self, head_bytes: int) -> None:
        """Remember what is being answered; the line is written when the answer is sent or cut."""
        request, channel = self.request, self.channel
        channel.entry = Entry(
            time.time(),
            channel.since,
            channel.addr[0],
            getattr(request, "command", "-"),
            getattr(request, "request_uri", "-"),
            self.status[:3],
            channel.sent_bytes + head_bytes,
            request.decision,
            request.headers.get("X_BROKER_API_REQUEST_IDENTITY", ""),
        )


class AnswerTask(_Closing, WSGITask):  # type: ignore[misc]
    """Runs the application. A 304 or 204 does not end the connection, as it does in waitress.

    It has no Content-Length, and waitress takes that for an answer of unknown end; under TLS each
    would cost a handshake (RFC 9112 §6.3: both end with their header).
    """

    wrote_header: bool

    def get_environment(self) -> dict[str, Any]:
        environ: dict[str, Any] = super().get_environment()
        environ[DECISION] = self.request.decision
        return environ

    def set_close_on_finish(self) -> None:
        if self.status[:3] in ("304", "204") and self._may_stay():
            return
        super().set_close_on_finish()

    def build_response_header(self) -> bytes:
        """The usual answer (known length, connection kept) without waitress's sorting and renaming."""
        if self.content_length is None or self.version != "1.1" or not self._may_stay():
            return super().build_response_header()
        fields = "".join([f"{name}: {value}\r\n" for name, value in self.response_headers])
        head = f"HTTP/1.1 {self.status}\r\n{fields}Date: {_http_date(int(self.start_time))}\r\n\r\n"
        self.begin_entry(len(head))
        return head.encode("latin-1")

    def write(self, data: bytes) -> None:
        """Head and body in one piece, where the body is whole: half of the work of sending it."""
        whole = data and self.content_length == len(data) and self.has_body
        if self.wrote_header or not whole:
            super().write(data)
            return
        head = self.build_response_header()
        self.wrote_header = True
        self.content_bytes_written = len(data)
        self.channel.write_soon(head + data)

    def _may_stay(self) -> bool:
        return self.version == "1.1" and not self.request.connection_close and not self.channel.must_end


class RefusalTask(_Closing, ErrorTask):  # type: ignore[misc]
    """Answers a request that never reached the application, in JSON, and ends the connection."""

    def __init__(self, channel: Any, request: Any) -> None:
        super().__init__(channel, request)
        self.version = "1.1"

    def execute(self) -> None:
        error = self.request.error
        self.status = f"{error.code} {error.reason}"
        name, usual = _NAMES.get(error.code, _NAMES[400])  # waitress's own text repeats the request
        body = refusal_body(name, self.request.refusal or usual)
        self.response_headers.append(("Content-Type", "application/json"))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(b"" if getattr(self.request, "command", "") == "HEAD" else body)


def refusal_body(name: str, sentence: str) -> bytes:
    """An OSB error body: `error` is one word, `description` a sentence (OSB 2.17, Service Broker Errors)."""
    return json.dumps({"error": name, "description": sentence}).encode()
