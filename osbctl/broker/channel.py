"""One connection in the main loop: absolute deadlines, one request and one response at a time."""

import contextlib
import re
import socket
import time
from enum import Enum, auto
from functools import partial
from typing import Any

from waitress.channel import HTTPChannel  # type: ignore[import-untyped]

from osbctl.broker.decision import Decision, RequestOutcome
from osbctl.broker.logs import Entry
from osbctl.broker.parser import StrictParser
from osbctl.broker.proxy import client_prefix
from osbctl.broker.shared_state import Shared
from osbctl.broker.task import ForbiddenRequest, RefusalTask, ResponseTask

RECORD = 16384
"""Size of the largest TLS record (RFC 8446 §5.1), and of one read or write."""

_BLANK_LINES = re.compile(rb"\A(?:\r\n)+")


class Phase(Enum):
    HANDSHAKE = auto()  # TLS
    IDLE = auto()
    READING = auto()  # part of a request has arrived
    READY = auto()  # a request is complete and waits for its turn
    AUTHENTICATING = auto()  # its credentials are being checked
    ANSWERING = auto()  # its response is being sent
    LINGERING = auto()  # all was sent; keep reading for a moment
    CLOSED = auto()


_WAITING = (Phase.IDLE, Phase.READING)
_READABLE = (*_WAITING, Phase.HANDSHAKE, Phase.LINGERING)
_DEADLINES = {
    Phase.HANDSHAKE: "handshake_seconds",
    Phase.IDLE: "idle_seconds",
    Phase.READING: "request_seconds",
    Phase.READY: "authentication_seconds",
    Phase.AUTHENTICATING: "authentication_seconds",
    Phase.LINGERING: "linger_seconds",
}


class Channel(HTTPChannel):  # type: ignore[misc]
    """A plain connection (behind a proxy, on the admin listener), and the base of `TlsChannel`.

    Nothing here may raise into the loop. `peer` is the connected address, `addr[0]` the client: the one that a
    trusted proxy names, else the peer. `server` is waitress's; our state is in `shared`.
    `authenticated`: it has sent a correct password, or none is required, or it belongs to a trusted proxy.
    `since` is the start of its phase; from READY to ANSWERING, the time when the request was complete.
    """

    task_class = ResponseTask
    error_task_class = RefusalTask
    parser_class = StrictParser

    phase = Phase.IDLE
    unparsed = b""  # pipelined requests
    unauthenticated_requests = 0
    encrypted = b""  # TLS: output of OpenSSL that the socket has not accepted yet
    sent_bytes = 0
    sendbuf_len: int
    request: Any
    requests: list[Any]
    stall: tuple[float, int] | None = None
    entry: Entry | None = None

    def __init__(self, server: Any, sock: Any, addr: tuple[Any, ...], adj: Any, map: Any = None) -> None:
        self.shared: Shared = server.shared
        self.peer, self.client = addr[0], client_prefix(addr[0])
        proxy = self.shared.proxy
        self.authenticated = self.shared.authenticate is None or (proxy is not None and proxy.trusts(self.peer))
        self.opened = self.since = time.monotonic()
        self.budget = self.shared.settings.turn_bytes
        super().__init__(server, sock, addr, adj, map=map)
        self.sendbuf_len = min(self.sendbuf_len, 1 << 17)

    # Called by waitress for a new and a closed connection.

    def add_channel(self, map: Any = None) -> None:
        super().add_channel(map)
        self.shared.slots.add(self)

    def del_channel(self, map: Any = None) -> None:
        self.shared.slots.remove(self)
        super().del_channel(map)

    # Called by the main loop.

    def readable(self) -> bool:
        return not self.total_outbufs_len and not self.encrypted and self.phase in _READABLE

    def writable(self) -> bool:
        return bool(self.total_outbufs_len or self.encrypted) and self.phase is not Phase.LINGERING

    def handle_read(self) -> None:
        data = self.receive() if self.socket is not None and self._spend_step_budget() else None
        if data == b"":
            self.handle_close()
        elif data and self.phase is not Phase.LINGERING:
            self.budget = self.shared.settings.turn_bytes
            self.unparsed += data
            self._parse_next_request()

    def handle_write(self) -> None:
        self.budget = self.shared.settings.turn_bytes
        self.flush()

    def handle_expt(self) -> None:
        self.handle_close()  # urgent data has no meaning in HTTP, and poll would report it forever

    def _spend_step_budget(self) -> bool:
        """Count a step; False if the unauthenticated connections of this client have none left in this turn."""
        if self.authenticated:
            return True
        self.shared.steps[self.client] += 1
        return self.shared.steps[self.client] <= self.shared.settings.turn_steps

    # A request, from the parser to the answer.

    def _parse_next_request(self) -> None:
        """Parse the next request; data behind it stays in `unparsed` until it is answered."""
        if self.request is None:
            self.unparsed = _BLANK_LINES.sub(b"", self.unparsed)
        while self.unparsed and self.phase in _WAITING:
            request = self.request = self.request or self.parser_class(self.adj)
            self.unparsed = self.unparsed[request.received(self.unparsed) :]
            if request.headers_finished and request.expect_continue and not request.completed:
                # The client waits before it sends the body, which no answer needs (RFC 9110 §10.1.1).
                request.completed = True
                request.connection_close = True
            if request.completed:
                self._queue_complete_request(request)
            elif self.phase is Phase.IDLE:
                self._enter_phase(Phase.READING)
        if self.will_close:
            self.handle_close()

    def _queue_complete_request(self, request: Any) -> None:
        self.request = None
        if not request.empty:
            self.requests.append(request)
            self._enter_phase(Phase.READY)
            self.server.ready.append(self)

    def _enter_phase(self, phase: Phase) -> None:
        self.phase, self.since = phase, time.monotonic()

    def authenticate_or_answer(self) -> None:
        """Continue with a request that is complete or decided: authenticate or answer it."""
        if self.phase is Phase.READY:
            if not self._spend_step_budget():
                self.server.ready.append(self)
                return
            self.phase = Phase.AUTHENTICATING
            if self._begin_authentication(self.requests[0]):
                self._answer_request()
        elif self.phase is Phase.AUTHENTICATING and self.requests[0].decision is not None:
            self._answer_request()

    def _begin_authentication(self, request: Any) -> bool:
        """Apply the proxy rule and check credentials; False if the decision comes later (`_resume_request`)."""
        if self.shared.proxy is not None and request.error is None:
            client, refusal = self.shared.proxy.client_and_refusal(self.peer, request.headers)
            self.addr = (client, None)
            if refusal:
                request.error, request.refusal = ForbiddenRequest(), refusal
        if request.error is not None or self.shared.authenticate is None:
            return True
        header = request.headers.get("AUTHORIZATION")
        request.decision = self.shared.authenticate(header, self.addr[0], partial(self._resume_request, request))
        return request.decision is not None

    def _resume_request(self, request: Any, decision: Decision) -> None:
        """Take the decision on a request, from any thread; ignored if the connection was closed meanwhile."""
        request.decision = decision
        self.server.ready.append(self)
        self.server.wake_loop()

    def _answer_request(self) -> None:
        """Run the task of the first request, and send what the socket accepts."""
        self.phase = Phase.ANSWERING
        self.budget = self.shared.settings.turn_bytes
        decision = self.requests[0].decision
        if decision is not None and decision.outcome is RequestOutcome.ACCEPTED:
            self.authenticated = True
        self.unauthenticated_requests += not self.authenticated
        self.service()
        self.flush()

    @property
    def must_close_after_response(self) -> bool:
        """Return whether to close after this response: while draining, or after too many unauthenticated requests."""
        return self.shared.draining or self.unauthenticated_requests >= self.shared.settings.unauthenticated_requests

    def flush(self) -> None:
        """Send pending data; when all is sent, close, or parse the next request."""
        if self.socket is None:
            return
        if self.total_outbufs_len:
            self._flush_exception(self._flush_some)
        if self.will_close:
            self.handle_close()
        elif self.phase is Phase.ANSWERING and not self.total_outbufs_len and not self.encrypted:
            self._record_finished_request()
            if self.close_when_flushed:
                self.start_lingering()
                return
            self._enter_phase(Phase.IDLE)
            if self.unparsed:
                self._parse_next_request()

    # The socket.

    def receive(self) -> bytes | None:
        """Return received bytes, b"" at the end of input, None if nothing has arrived."""
        try:
            return bytes(self.socket.recv(RECORD))
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return b""

    def send(self, data: bytes, do_close: bool = True) -> int:  # noqa: ARG002
        """Return the number of bytes sent. Called by waitress's `_flush_some`; never raises."""
        if self.budget <= 0 or self.socket is None or self.phase is Phase.LINGERING:
            return 0
        try:
            sent = self.write_some(data)
        except (OSError, ValueError):
            self.will_close = True
            return 0
        self.budget -= sent
        self.sent_bytes += sent
        return sent

    def write_some(self, data: bytes) -> int:
        """Return the number of bytes that the socket accepted; overridden for TLS, which encrypts them."""
        try:
            return int(self.socket.send(data))
        except (BlockingIOError, InterruptedError):
            return 0

    # Ends.

    def send_close_notify(self) -> None:
        """Announce the end of the data to the peer; overridden for TLS."""

    def start_lingering(self) -> None:
        """Send no more, but keep reading for a moment: closing with unread data would destroy the response."""
        self.send_close_notify()
        self._enter_phase(Phase.LINGERING)
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.handle_close()

    def abort(self) -> None:
        """Reset the connection, so that the kernel frees its buffers at once."""
        if self.socket is not None:
            with contextlib.suppress(OSError):
                # struct linger {on, 0 seconds} (socket(7)): unsent data is discarded.
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.phase = Phase.LINGERING
        self.handle_close()

    def handle_close(self) -> None:
        """Log and count the request that was answered, end TLS, and close; do nothing if that is done."""
        if self.socket is None:
            return
        self._record_finished_request()
        if self.phase is not Phase.LINGERING:
            self.send_close_notify()
        self.phase = Phase.CLOSED
        self.requests = []
        super().handle_close()

    def close_gracefully(self, grace_over: bool) -> None:
        """While draining: close an idle connection after the grace period, others after their response."""
        if self.phase is Phase.ANSWERING and not self.unparsed:
            self.close_when_flushed = True
        elif self.phase in (Phase.HANDSHAKE, Phase.IDLE) and grace_over:
            self.handle_close()  # until then, a further request gets a final response

    # Deadlines.

    @property
    def spared_from_eviction(self) -> bool:
        """Return whether not to evict: the connection is new, or its credentials are being checked."""
        young = time.monotonic() - self.opened < self.shared.settings.grace_seconds
        return self.phase is Phase.AUTHENTICATING or young

    @property
    def awaits_request(self) -> bool:
        """Return whether the client owes (the rest of) a request."""
        return self.phase in _WAITING

    def is_overdue(self, now: float) -> bool:
        """Return whether a deadline has passed. `now` is monotonic; call it about once a second: it measures stalls."""
        limits = self.shared.settings
        if not self.authenticated and now - self.opened > limits.unauthenticated_seconds:
            return True
        if self.phase is not Phase.ANSWERING:
            self.stall = None
            return bool(now - self.since > getattr(limits, _DEADLINES[self.phase]))
        since, sent = self.stall = self.stall or (now, self.sent_bytes)
        if now - since <= limits.stall_seconds:
            return False
        self.stall = (now, self.sent_bytes)
        return self.sent_bytes - sent < limits.stall_bytes_per_second * limits.stall_seconds

    def _record_finished_request(self) -> None:
        """Count and log the request that was answered, if any."""
        entry, self.entry = self.entry, None
        if entry is not None:
            self.shared.record_request(entry, self.sent_bytes)
