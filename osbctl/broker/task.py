"""Answers one request: with the application, or with a refusal."""

import logging
from io import BytesIO
from typing import Any

from waitress.buffers import ReadOnlyFileBasedBuffer  # type: ignore[import-untyped]
from waitress.task import Task  # type: ignore[import-untyped]
from waitress.utilities import build_http_date  # type: ignore[import-untyped]

from osbctl.broker.catalog_app import AUTHENTICATION_ERRORS, Response, error_response
from osbctl.broker.decision import REFUSED
from osbctl.broker.logs import Entry
from osbctl.broker.parser import INTERNAL_ERROR, RequestRefusal

_log = logging.getLogger("osbctl.broker")

LARGE_BODY = 65_536
"""A body up to this size (bytes) is copied into the send buffer."""


def send_response(channel: Any, head: bytes, body: bytes) -> None:
    """Send what the socket accepts now, and queue the rest; a large body as a file, which costs no copy."""
    if len(body) <= LARGE_BODY:
        data = head + body
        channel.write_soon(data[0 if channel.total_outbufs_len else channel.send(data) :])
    else:
        channel.write_soon(head)
        file = ReadOnlyFileBasedBuffer(BytesIO(body))
        file.prepare()
        channel.write_soon(file)


class ResponseTask(Task):  # type: ignore[misc]
    """Sends the application's response, or a refusal if the request is not authenticated. `channel` is a `Channel`.

    Unlike in waitress, a 304 does not end the connection (RFC 9112 §6.3: it has no body).
    """

    complete = True

    def execute(self) -> None:
        request, channel = self.request, self.channel
        self.status, headers, body = self.create_response()
        self.response_headers += headers
        identity = request.headers.get("X_BROKER_API_REQUEST_IDENTITY", "")
        if 0 < len(identity) <= 256 and identity.isascii() and identity.isprintable():  # to send back (OSB 2.15)
            self.response_headers.append(("X-Broker-API-Request-Identity", identity))
        if self.has_body:
            self.response_headers.append(("Content-Length", str(len(body))))
        head = self.build_response_header()
        channel.entry = Entry(
            self.start_time,
            channel.since,
            channel.addr[0],
            request.command,
            request.target,
            self.status[:3],
            channel.sent_bytes + len(head),
            request.check.decision if request.check else None,
            identity,
        )
        self.wrote_header = True
        send_response(channel, head, b"" if request.command == "HEAD" else body)

    def create_response(self) -> Response:
        """Call the application if the credentials were accepted, or none are required; else refuse."""
        channel, request = self.channel, self.request
        error = None
        if channel.shared.authenticate is not None:
            decision = (request.check and request.check.decision) or REFUSED  # a missing decision is no permission
            error = AUTHENTICATION_ERRORS.get(decision.outcome)
        response: Response = error or channel.server.application(request)
        return response

    def build_response_header(self) -> bytes:
        if self.request.connection_close or self.channel.shared.draining:
            self.set_close_on_finish()
        elif self.version == "1.0":
            self.response_headers.append(("Connection", "Keep-Alive"))
        fields = "".join([f"{name}: {value}\r\n" for name, value in self.response_headers])
        head = f"HTTP/{self.version} {self.status}\r\n{fields}Date: {build_http_date(int(self.start_time))}\r\n\r\n"
        return head.encode("latin-1")


class RefusalTask(ResponseTask):
    """Refuses a malformed or forbidden request, and ends the connection."""

    def __init__(self, channel: Any, request: Any) -> None:
        super().__init__(channel, request)
        self.version = "1.1"

    def create_response(self) -> Response:
        self.set_close_on_finish()
        error = self.request.error
        refusal = (
            error if isinstance(error, RequestRefusal) else INTERNAL_ERROR
        )  # of waitress, if the application failed
        _log.debug("refused a request: %s", refusal.description)
        return error_response(*refusal)
