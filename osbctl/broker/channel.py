"""One connection, served wholly in the main loop: absolute deadlines, one answer at a time."""

from __future__ import annotations

import contextlib
import socket
import time
from functools import partial
from typing import Any

from waitress.channel import HTTPChannel  # type: ignore[import-untyped]

from osbctl.broker.decision import Decision
from osbctl.broker.logs import Entry
from osbctl.broker.parser import StrictParser
from osbctl.broker.proxy import client_of
from osbctl.broker.settings import Settings
from osbctl.broker.sharing import Shared
from osbctl.broker.task import AnswerTask, Forbidden, RefusalTask

RECORD = 16384
"""The largest TLS record (RFC 8446 §5.1), and what one read or write takes."""

LINGER_BYTES = 1 << 20
"""What a refused client may still send before it is cut."""


class Channel(HTTPChannel):  # type: ignore[misc]
    """A plain connection (behind a proxy, on the admin listener), and the ground of `TlsChannel`.

    Nothing here may raise into the loop. `peer` is who is connected, `addr[0]` who asks: the client that a
    trusted proxy names, else the same. `server` is waitress's; what is ours is in `shared`.
    """

    task_class = AnswerTask
    error_task_class = RefusalTask
    parser_class = StrictParser

    handshaking = False
    lingering = False
    refused = False
    waiting = False  # a pipelined request waits until the answer before it is sent
    decision: Decision | None = None  # what the gate says of the request that is answered
    request_started = 0.0
    arrived = 0.0
    linger_until = 0.0
    discarded = 0
    sent_bytes = 0
    sendbuf_len: int
    close_when_flushed: bool = False
    requests: list[Any]
    stall: tuple[float, int] | None = None
    entry: Entry | None = None
    shared: Shared

    def __init__(self, server: Any, sock: Any, addr: tuple[Any, ...], adj: Any, map: Any = None) -> None:
        self.shared = server.shared
        self.peer, self.client = addr[0], client_of(addr[0])
        self.opened = self.idle_since = time.monotonic()
        self.budget = self.shared.settings.turn_bytes
        super().__init__(server, sock, addr, adj, map=map)
        self.sendbuf_len = min(self.sendbuf_len, 1 << 17)

    # What waitress calls when a connection comes and goes.

    def add_channel(self, map: Any = None) -> None:
        super().add_channel(map)
        self.shared.held[self.client] += 1

    def del_channel(self, map: Any = None) -> None:
        if self._fileno is not None:
            self.shared.leave(self.client)
        super().del_channel(map)

    # What the loop asks and does.

    def readable(self) -> bool:
        return self.socket is not None and (self.lingering or bool(super().readable()))

    def writable(self) -> bool:
        return self.socket is not None and not self.lingering and bool(super().writable())

    def handle_read(self) -> None:
        data = None if self.socket is None else self.take()
        if data is None:
            return None
        if self.lingering:
            self.discarded += len(data)
            return self.handle_close() if not data or self.discarded > LINGER_BYTES else None
        if not data:
            return self.handle_close()
        self.budget = self.shared.settings.turn_bytes
        self.received(data)
        if self.will_close:
            return self.handle_close()
        if self.request is None:
            self.request_started = 0.0
        elif not self.request_started:
            self.request_started = time.monotonic()
        return None

    def handle_write(self) -> None:
        self.budget = self.shared.settings.turn_bytes
        self.flush()

    def handle_expt(self) -> None:
        """Urgent data has no meaning in HTTP: end the connection, or poll reports it for ever."""
        self.handle_close()

    # A request, from the parser to the answer.

    def run(self) -> None:
        """The first request is complete, or its decision has come: answer it, or park it."""
        if self.socket is None or not self.requests:
            return
        if self.total_outbufs_len:
            # One answer at a time: pipelining buys no memory.
            self.waiting = True
        elif self.decision is not None or self._may_run(self.requests[0]):
            self._serve()
            self.decision = None

    def _may_run(self, request: Any) -> bool:
        if self.shared.proxy is not None and request.error is None:
            client, refusal = self.shared.proxy.judge(self.peer, request.headers)
            self.addr = (client, None)
            if refusal:
                request.error, request.refusal = Forbidden(), refusal
        if request.error is not None or self.shared.ask is None:
            return True
        header = request.headers.get("AUTHORIZATION")
        self.decision = self.shared.ask(header, self.addr[0], partial(self._resume, request))
        return self.decision is not None

    def _resume(self, request: Any, decision: Decision) -> None:
        """The gate has decided. From any thread; a connection that is gone meanwhile is let be."""
        if self.requests[:1] == [request]:
            self.decision = decision
            self.server.add_ready(self)

    def _serve(self) -> None:
        """Answer the first request and send what the socket takes now."""
        self.budget = self.shared.settings.turn_bytes
        self.service()
        if self.socket is not None:
            self.flush()

    def flush(self) -> None:
        """Send what is ready, whether or not requests wait behind it (all is one thread)."""
        if self.socket is None:
            return
        self._flush_exception(self._flush_some)
        if self.will_close:
            self.handle_close()
        elif not self.total_outbufs_len:
            self._answer_sent()

    def _answer_sent(self) -> None:
        if self.entry is not None:
            self._end_entry()
            self.idle_since = time.monotonic()
            if self.request_started:
                self.request_started = self.idle_since
        if self.close_when_flushed:
            self.close_when_flushed = False
            if self.refused:
                self.linger()
            else:
                self.handle_close()
        elif self.waiting:
            self.waiting = False
            self.server.task_dispatcher.add_task(self)

    # The socket.

    def take(self) -> bytes | None:
        """What has come: bytes, b"" at the end, None where there is nothing now."""
        try:
            data: bytes = self.socket.recv(RECORD)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return b""
        return data

    def send(self, data: bytes, do_close: bool = True) -> int:  # noqa: ARG002
        """Bytes sent, 0 for no progress. Called by waitress's `_flush_some`; never raises."""
        if self.budget <= 0 or self.socket is None or self.lingering:
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
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            return self.handle_close()
        self.lingering = True
        self.linger_until = time.monotonic() + self.shared.settings.linger_seconds
        return None

    def abort(self) -> None:
        """Cut the connection and give the kernel's memory back at once (a reset, no close in order)."""
        if self.socket is not None:
            with contextlib.suppress(OSError):
                # struct linger {on, 0 seconds} (socket(7)): what is unsent is thrown away.
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.lingering = True
        self.handle_close()

    def handle_close(self) -> None:
        if self.socket is None:
            return
        self._end_entry()
        if not self.lingering:
            self.say_goodbye()
        self.handshaking = self.lingering = False
        self.requests = []
        super().handle_close()

    def finish(self, grace_over: bool) -> None:
        """While draining: close if nothing is asked or half asked, else after the answer."""
        if self.requests or self.request_started or self.lingering:
            return
        if self.total_outbufs_len:
            self.close_when_flushed = True
        elif grace_over:  # until then, who asks again is told that the connection ends
            self.handle_close()

    # Deadlines.

    @property
    def silent_since(self) -> float | None:
        """Since when the client owes the rest of its request; None while it is answered."""
        if self.requests or self.total_outbufs_len:
            return None
        return self.request_started or self.idle_since

    def overdue(self, now: float) -> bool:
        """Whether a deadline has passed. `now` is monotonic; asked about once a second."""
        limits: Settings = self.shared.settings
        if self.lingering:
            return now > self.linger_until
        if self.handshaking:
            return now - self.opened > limits.handshake_seconds
        if self.total_outbufs_len:
            return self._stalled(now)
        self.stall = None
        if self.requests:
            return now - self.arrived > limits.parked_seconds
        if self.request_started:
            return now - self.request_started > limits.request_seconds
        return now - self.idle_since > limits.idle_seconds

    def _stalled(self, now: float) -> bool:
        limits: Settings = self.shared.settings
        since, sent = self.stall = self.stall or (now, self.sent_bytes)
        if now - since <= limits.stall_seconds:
            return False
        self.stall = (now, self.sent_bytes)
        return self.sent_bytes - sent < limits.stall_bytes_per_second * limits.stall_seconds

    # The access log.

    def begin_entry(self, task: Any, head_bytes: int) -> None:
        """Remember what is being answered; the line is written when the answer is sent or cut."""
        request = task.request
        self.entry = Entry(
            time.time(),
            self.arrived,
            self.addr[0],
            getattr(request, "command", "-"),
            getattr(request, "request_uri", "-"),
            task.status[:3],
            self.sent_bytes + head_bytes,
            self.decision,
            request.headers.get("X_BROKER_API_REQUEST_IDENTITY", ""),
        )

    def _end_entry(self) -> None:
        entry, self.entry = self.entry, None
        if entry is not None:
            self.shared.answered(entry, self.sent_bytes)
