"""One connection in the main loop: absolute deadlines, one request and one response at a time."""

import contextlib
import select
import socket
import time
from enum import Enum, auto
from typing import Any

from waitress.channel import HTTPChannel  # type: ignore[import-untyped]

from osbctl.broker.decision import RequestOutcome
from osbctl.broker.fairness import Client, Share
from osbctl.broker.logs import Entry
from osbctl.broker.parser import RequestParser
from osbctl.broker.proxy import client_prefix
from osbctl.broker.shared_state import Shared
from osbctl.broker.task import RefusalTask, ResponseTask

RECORD = 16384
"""Size of the largest TLS record (RFC 8446 §5.1), and of one read or write."""


class Phase(Enum):
    HANDSHAKE = auto()  # TLS
    IDLE = auto()
    READING = auto()  # part of a request has arrived
    AUTHENTICATING = auto()  # its credentials are being checked
    ANSWERING = auto()  # its response is being sent
    LINGERING = auto()  # all was sent; keep reading for a moment
    CLOSED = auto()


_AWAITING_PEER = (Phase.HANDSHAKE, Phase.IDLE, Phase.READING)
_READABLE = (*_AWAITING_PEER, Phase.LINGERING)
_DEADLINES = {
    Phase.HANDSHAKE: "handshake_seconds",
    Phase.IDLE: "idle_seconds",
    Phase.READING: "request_seconds",
    Phase.AUTHENTICATING: "authentication_seconds",
    Phase.LINGERING: "linger_seconds",
}


class Channel(HTTPChannel):  # type: ignore[misc]
    """A plain connection (behind a proxy, on the admin listener), and the base of `TlsChannel`.

    Nothing here may raise into the loop. `peer` is the connected address, `addr[0]` the client: the one that a
    trusted proxy names, else the peer. `server` is waitress's; our state is in `shared`. `since` is the start of its
    phase; from AUTHENTICATING to ANSWERING, the time when the request was complete. The attributes from `client` to
    `spent` are those of `osbctl.broker.fairness`.
    """

    task_class = ResponseTask
    error_task_class = RefusalTask
    parser_class = RequestParser

    phase = Phase.IDLE
    unparsed = b""  # pipelined requests
    encrypted = b""  # TLS: output of OpenSSL that the socket has not accepted yet
    sent_bytes = 0
    sendbuf_len: int
    request: RequestParser | None
    requests: list[RequestParser]
    stall: tuple[float, int] | None = None
    entry: Entry | None = None

    share: Share
    waits = False
    spent = 0.0

    def __init__(
        self, server: Any, sock: Any, addr: tuple[Any, ...], adj: Any, client: Client, map: Any = None
    ) -> None:
        self.shared: Shared = server.shared
        self.peer, self.client_name, self.client = addr[0], client_prefix(addr[0]), client
        self.opened = self.since = time.monotonic()
        self.budget = self.shared.settings.step_bytes
        super().__init__(server, sock, addr, adj, map=map)
        self.sendbuf_len = min(self.sendbuf_len, 1 << 17)

    def add_channel(self, map: Any = None) -> None:
        super().add_channel(map)
        self.shared.connections.add(self, proven=self.shared.needs_no_proof(self.peer))

    def del_channel(self, map: Any = None) -> None:
        self.shared.connections.remove(self)
        super().del_channel(map)

    def run_step(self) -> bool:
        """Go on as far as the socket and the check of a password allow, with one request at most.

        Returns whether there is more to do at once. If not, the socket is polled.
        """
        self.budget = self.shared.settings.step_bytes
        if self.socket is None:
            return False
        if self.total_outbufs_len or self.encrypted:
            self.flush()
        elif self.phase is Phase.AUTHENTICATING:
            self._answer_if_decided(self.requests[0])
        elif self.phase is Phase.IDLE and self.unparsed:
            self._parse_next_request()
        else:
            self.handle_read()
        if self.phase is Phase.IDLE and self.unparsed:
            return True
        self.server.poll_socket(self)
        return False

    @property
    def poll_events(self) -> int:
        """Events to poll the socket for; none while a password is checked, or after the end."""
        if self.total_outbufs_len or self.encrypted:
            return select.POLLOUT if self.phase is not Phase.LINGERING else 0
        return select.POLLIN | select.POLLPRI if self.phase in _READABLE else 0

    def handle_read(self) -> None:
        data = self.receive()
        if data == b"":
            self.handle_close()
        elif data and self.phase not in (Phase.LINGERING, Phase.CLOSED):
            self.unparsed += data
            self._parse_next_request()

    def handle_expt(self) -> None:
        self.handle_close()  # urgent data has no meaning in HTTP, and poll would report it forever

    def _parse_next_request(self) -> None:
        """Parse a request; data behind it stays in `unparsed` until it is answered."""
        request = self.request = self.request or self.parser_class(self.adj)
        self.unparsed = self.unparsed[request.received(self.unparsed) :]
        if request.completed:
            self.request = None
            self.requests.append(request)
            self._enter_phase(Phase.AUTHENTICATING)
            self._begin_check(request)
            self._answer_if_decided(request)
        elif self.phase is Phase.IDLE and request.has_begun:
            self._enter_phase(Phase.READING)

    def _enter_phase(self, phase: Phase) -> None:
        self.phase, self.since = phase, time.monotonic()

    def _begin_check(self, request: RequestParser) -> None:
        """Apply the proxy rule, and begin to check the credentials, if any are required."""
        proxy = self.shared.proxy
        if proxy is not None and request.error is None:
            client, refusal = proxy.client_and_refusal(self.peer, request.headers)
            self.addr = (client, None)
            if refusal:
                request.refuse(refusal, "403 Forbidden", "HttpsRequired")
            elif "X_FORWARDED_FOR" not in request.headers:
                self.shared.warn_of_missing_address()
        if request.error is None and self.shared.authenticate is not None:
            header = request.headers.get("AUTHORIZATION")
            request.check = self.shared.authenticate(header, self.addr[0], self._wake)

    def _wake(self) -> None:
        """Go on in the main loop. From any thread; also if the connection was closed meanwhile."""
        self.server.wake(self)

    def _answer_if_decided(self, request: RequestParser) -> None:
        """Run the task of a request, unless its password is still being checked, and send what the socket accepts."""
        if request.check is not None:
            if request.check.decision is None:
                return
            if request.check.decision.outcome is RequestOutcome.ACCEPTED:
                self.shared.connections.prove(self)
        self.phase = Phase.ANSWERING
        self.service()
        self.flush()

    def flush(self) -> None:
        """Send pending data; when all is sent, close, or wait for the next request."""
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
            else:
                self._enter_phase(Phase.IDLE)

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

    def send_close_notify(self) -> None:
        """Announce the end of the data to the peer; overridden for TLS."""

    def start_lingering(self) -> None:
        """Send no more, but keep reading for a moment: closing with unread data would destroy the response."""
        self.unparsed = b""
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
        if self.unparsed:
            return
        if self.phase is Phase.ANSWERING:
            self.close_when_flushed = True
        elif self.phase in (Phase.HANDSHAKE, Phase.IDLE) and grace_over:
            self.handle_close()  # until then, a further request gets a final response

    @property
    def is_spared(self) -> bool:
        """Return whether not to evict: the connection is new, or its credentials are being checked."""
        young = time.monotonic() - self.opened < self.shared.settings.grace_seconds
        return self.phase is Phase.AUTHENTICATING or young

    @property
    def awaits_peer(self) -> bool:
        """Return whether the client owes a handshake or (the rest of) a request."""
        return self.phase in _AWAITING_PEER

    @property
    def is_idle(self) -> bool:
        """Return whether all requests were answered, at least one: an end now is an ordinary one."""
        return self.phase is Phase.IDLE and self.sent_bytes > 0

    def is_overdue(self, now: float) -> bool:
        """Return whether a deadline has passed. `now` is monotonic; call it about once a second: it measures stalls."""
        limits = self.shared.settings
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
