"""One connection, served wholly in the main loop: absolute deadlines, one request and one answer at a time."""

from __future__ import annotations

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
from osbctl.broker.proxy import client_of
from osbctl.broker.settings import Settings
from osbctl.broker.shared_state import Shared
from osbctl.broker.task import AnswerTask, ForbiddenRequest, RefusalTask

RECORD = 16384
"""The largest TLS record (RFC 8446 §5.1), and what one read or write takes."""

_BLANK_LINES = re.compile(rb"\A(?:\r\n)+")


class Phase(Enum):
    """State of a connection."""

    HANDSHAKE = auto()  # TLS: nothing can be asked yet
    IDLE = auto()
    READING = auto()  # a part of a request has come
    READY = auto()  # a request is complete and waits for its turn
    PARKED = auto()  # the gate decides on it
    ANSWERING = auto()  # its answer is being sent
    LINGERING = auto()  # all was sent; read on for a moment
    CLOSED = auto()


_SILENT = (Phase.IDLE, Phase.READING)
_READABLE = (*_SILENT, Phase.HANDSHAKE, Phase.LINGERING)
_DEADLINES = {
    Phase.HANDSHAKE: "handshake_seconds",
    Phase.IDLE: "idle_seconds",
    Phase.READING: "request_seconds",
    Phase.READY: "parked_seconds",
    Phase.PARKED: "parked_seconds",
    Phase.LINGERING: "linger_seconds",
}


class Channel(HTTPChannel):  # type: ignore[misc]
    """A plain connection (behind a proxy, on the admin listener), and the ground of `TlsChannel`.

    Nothing here may raise into the loop. `peer` is who is connected, `addr[0]` who asks: the client that a
    trusted proxy names, else the same. `server` is waitress's; what is ours is in `shared`.
    `proven`: it has shown a right password, or none is asked for, or it is a trusted proxy's and many share it.
    `since` is when its phase began; from READY to ANSWERING, when the request was complete.
    """

    task_class = AnswerTask
    error_task_class = RefusalTask
    parser_class = StrictParser

    phase = Phase.IDLE
    unparsed = b""  # pipelined requests, as they came
    unproven_requests = 0
    sealed = b""  # of TLS: made by OpenSSL, not taken by the socket yet
    sent_bytes = 0
    sendbuf_len: int
    total_outbufs_len: int
    close_when_flushed: bool = False
    request: Any
    requests: list[Any]
    sent_continue: bool
    stall: tuple[float, int] | None = None
    entry: Entry | None = None
    shared: Shared

    def __init__(self, server: Any, sock: Any, addr: tuple[Any, ...], adj: Any, map: Any = None) -> None:
        self.shared = server.shared
        self.peer, self.client = addr[0], client_of(addr[0])
        proxy = self.shared.proxy
        self.proven = self.shared.ask is None or (proxy is not None and proxy.trusts(self.peer))
        self.opened = self.since = time.monotonic()
        self.budget = self.shared.settings.turn_bytes
        super().__init__(server, sock, addr, adj, map=map)
        self.sendbuf_len = min(self.sendbuf_len, 1 << 17)

    # What waitress calls when a connection comes and goes.

    def add_channel(self, map: Any = None) -> None:
        super().add_channel(map)
        self.shared.places.enter(self)

    def del_channel(self, map: Any = None) -> None:
        self.shared.places.leave(self)
        super().del_channel(map)

    # What the loop asks and does.

    def readable(self) -> bool:
        return not self.total_outbufs_len and not self.sealed and self.phase in _READABLE

    def writable(self) -> bool:
        return bool(self.total_outbufs_len or self.sealed) and self.phase is not Phase.LINGERING

    def handle_read(self) -> None:
        data = self.take() if self.socket is not None and self._has_a_turn() else None
        if data == b"":
            self.handle_close()
        elif data and self.phase is not Phase.LINGERING:
            self.budget = self.shared.settings.turn_bytes
            self.unparsed += data
            self._parse()

    def handle_write(self) -> None:
        self.budget = self.shared.settings.turn_bytes
        self.flush()

    def handle_expt(self) -> None:
        """Urgent data has no meaning in HTTP: end the connection, or poll reports it for ever."""
        self.handle_close()

    def _has_a_turn(self) -> bool:
        """Return whether the connection may advance in this turn.

        Few connections of a client may, until each has shown a correct password, so a crowd cannot delay new clients.
        """
        if self.proven:
            return True
        self.shared.steps[self.client] += 1
        return self.shared.steps[self.client] <= self.shared.settings.turn_steps

    # A request, from the parser to the answer.

    def _parse(self) -> None:
        """Take the next request out of what has come; what follows it stays as it is until it is answered."""
        if self.request is None:
            self.unparsed = _BLANK_LINES.sub(b"", self.unparsed)
        while self.unparsed and self.phase in _SILENT:
            request = self.request = self.request or self.parser_class(self.adj)
            self.unparsed = self.unparsed[request.received(self.unparsed) :]
            if request.completed:
                self._complete(request)
            elif self.phase is Phase.IDLE:
                self._enter(Phase.READING)
            if request.expect_continue and not self.sent_continue:
                self.send_continue()
        if self.will_close:
            self.handle_close()

    def _complete(self, request: Any) -> None:
        self.request, self.sent_continue = None, False
        if not request.empty:
            self.requests.append(request)
            self._enter(Phase.READY)
            self.server.ready.append(self)

    def _enter(self, phase: Phase) -> None:
        self.phase, self.since = phase, time.monotonic()

    def run(self) -> None:
        """Its request is complete, or the gate has decided on it: answer it, or park it."""
        if self.phase is Phase.READY:
            if not self._has_a_turn():
                self.server.ready.append(self)
                return
            self.phase = Phase.PARKED
            if self._may_run(self.requests[0]):
                self._serve()
        elif self.phase is Phase.PARKED and self.requests[0].decision is not None:
            self._serve()

    def _may_run(self, request: Any) -> bool:
        if self.shared.proxy is not None and request.error is None:
            client, refusal = self.shared.proxy.judge(self.peer, request.headers)
            self.addr = (client, None)
            if refusal:
                request.error, request.refusal = ForbiddenRequest(), refusal
        if request.error is not None or self.shared.ask is None:
            return True
        header = request.headers.get("AUTHORIZATION")
        request.decision = self.shared.ask(header, self.addr[0], partial(self._resume, request))
        return request.decision is not None

    def _resume(self, request: Any, decision: Decision) -> None:
        """The gate has decided. From any thread; a connection that is gone meanwhile stays as it is."""
        request.decision = decision
        self.server.ready.append(self)
        self.server.wake()

    def _serve(self) -> None:
        """Answer the first request and send what the socket takes now."""
        self.phase = Phase.ANSWERING
        self.budget = self.shared.settings.turn_bytes
        decision = self.requests[0].decision
        if decision is not None and decision.outcome is RequestOutcome.ACCEPTED:
            self.proven = True
        self.unproven_requests += not self.proven
        self.service()
        self.flush()

    @property
    def must_end(self) -> bool:
        """Return whether this answer is the last one: the service ends, or no right password was shown for too long."""
        return self.shared.draining or self.unproven_requests >= self.shared.settings.unproven_requests

    def flush(self) -> None:
        """Send what is ready."""
        if self.socket is None:
            return
        if self.total_outbufs_len:
            self._flush_exception(self._flush_some)
        if self.will_close:
            self.handle_close()
        elif self.phase is Phase.ANSWERING and not self.total_outbufs_len and not self.sealed:
            self._answer_sent()

    def _answer_sent(self) -> None:
        self._end_entry()
        if self.close_when_flushed:
            self.linger()
        else:
            self._enter(Phase.IDLE)
            if self.unparsed:
                self._parse()

    # The socket.

    def take(self) -> bytes | None:
        """Receive: bytes, b"" at the end of input, None if nothing has arrived."""
        try:
            data: bytes = self.socket.recv(RECORD)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return b""
        return data

    def send(self, data: bytes, do_close: bool = True) -> int:  # noqa: ARG002
        """Bytes sent, 0 for no progress. Called by waitress's `_flush_some`; never raises."""
        if self.budget <= 0 or self.socket is None or self.phase is Phase.LINGERING:
            return 0
        try:
            sent = self.put(data)
        except (OSError, ValueError):
            self.will_close = True
            return 0
        self.budget -= sent
        self.sent_bytes += sent
        return sent

    def put(self, data: bytes) -> int:
        try:
            return int(self.socket.send(data))
        except (BlockingIOError, InterruptedError):
            return 0

    # Ends.

    def say_goodbye(self) -> None:
        """Tell the peer that all was sent; TLS has a message for it."""

    def linger(self) -> None:
        """Send no more, but read on for a moment: closing with unread data would destroy the answer."""
        self.say_goodbye()
        self._enter(Phase.LINGERING)
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.handle_close()

    def abort(self) -> None:
        """Cut the connection and give the kernel's memory back at once (a reset, no close in order)."""
        if self.socket is not None:
            with contextlib.suppress(OSError):
                # struct linger {on, 0 seconds} (socket(7)): what is unsent is thrown away.
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.phase = Phase.LINGERING
        self.handle_close()

    def handle_close(self) -> None:
        if self.socket is None:
            return
        self._end_entry()
        if self.phase is not Phase.LINGERING:
            self.say_goodbye()
        self.phase = Phase.CLOSED
        self.requests = []
        super().handle_close()

    def finish(self, grace_over: bool) -> None:
        """While draining: close if nothing is asked or half asked, else after the answer."""
        if self.phase is Phase.ANSWERING and not self.unparsed:
            self.close_when_flushed = True
        elif self.phase in (Phase.HANDSHAKE, Phase.IDLE) and grace_over:
            self.handle_close()  # until then, further requests get a final answer

    # Deadlines.

    @property
    def settling(self) -> bool:
        """Return whether the connection is new, or waits for the decision on its credentials."""
        young = time.monotonic() - self.opened < self.shared.settings.settle_seconds
        return self.phase is Phase.PARKED or young

    @property
    def silent_since(self) -> float | None:
        """Since when the client owes a request, or the rest of it; None while it is answered."""
        return self.since if self.phase in _SILENT else None

    def overdue(self, now: float) -> bool:
        """Return whether a deadline has passed. `now` is monotonic; asked about once a second."""
        limits: Settings = self.shared.settings
        if not self.proven and now - self.opened > limits.unproven_seconds:
            return True
        if self.phase is Phase.ANSWERING:
            return self._stalled(now)
        self.stall = None
        return bool(now - self.since > getattr(limits, _DEADLINES[self.phase]))

    def _stalled(self, now: float) -> bool:
        limits: Settings = self.shared.settings
        since, sent = self.stall = self.stall or (now, self.sent_bytes)
        if now - since <= limits.stall_seconds:
            return False
        self.stall = (now, self.sent_bytes)
        return self.sent_bytes - sent < limits.stall_bytes_per_second * limits.stall_seconds

    def _end_entry(self) -> None:
        entry, self.entry = self.entry, None
        if entry is not None:
            self.shared.answered(entry, self.sent_bytes)
