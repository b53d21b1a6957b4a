"""One connection in the main loop: absolute deadlines, one request and one response at a time."""

import contextlib
import logging
import select
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from io import BytesIO
from typing import Any

from waitress.buffers import ReadOnlyFileBasedBuffer  # type: ignore[import-untyped]
from waitress.channel import HTTPChannel  # type: ignore[import-untyped]
from waitress.utilities import build_http_date  # type: ignore[import-untyped]

from osbctl.broker.authenticator import REFUSED, CredentialCheck, Decision, RequestOutcome
from osbctl.broker.catalog_app import TOO_MANY_CREDENTIALS, UNAUTHORIZED, Response, error_response
from osbctl.broker.fairness import Client, Connections, Share
from osbctl.broker.logs import Entry, LineWriter
from osbctl.broker.parser import RequestParser
from osbctl.broker.proxy import ProxyRule, client_prefix
from osbctl.broker.settings import Settings
from osbctl.broker.tls import Tls

_log = logging.getLogger("osbctl.broker")

RECORD = 16384  # bytes of the largest TLS record (RFC 8446 §5.1), and of one read or write
LARGE_BODY = 65_536  # bytes; up to this size, a body is copied into the send buffer

_REFUSALS = {RequestOutcome.REFUSED: UNAUTHORIZED, RequestOutcome.BUSY: TOO_MANY_CREDENTIALS}
"""Responses to requests without valid credentials; they reveal nothing about the broker."""


@dataclass
class Stats:
    """Counters for metrics. Written by the main loop (reloads: by the watcher), read by any thread without locks."""

    requests: Counter[str] = field(default_factory=Counter)
    authentications: Counter[tuple[str, str]] = field(default_factory=Counter)
    reloads: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: float = 0.0
    handshakes_failed: int = 0
    rejected: int = 0
    cut: int = 0


@dataclass
class Shared:
    """State shared by the connections of one listener.

    `authenticate` (see `Authenticator.check`) is None if no password is required, `tls` None for plain HTTP, `proxy`
    None without a proxy.
    `draining` is set at the end; `threads` are needed until then. `has_warned`: of a proxy that names no clients.
    """

    settings: Settings
    stats: Stats
    authenticate: Callable[[str | None, str, Callable[[], None]], CredentialCheck] | None = None
    tls: Tls | None = None
    proxy: ProxyRule | None = None
    access_log: LineWriter[Entry] | None = None
    draining: bool = False
    threads: list[threading.Thread] = field(default_factory=list)
    connections: Connections = field(init=False)
    has_warned: bool = False

    def __post_init__(self) -> None:
        # Behind a proxy, all connections come from the proxy.
        per_client = 0 if self.proxy else self.settings.connections_per_address
        self.connections = Connections(self.settings.connection_limit(), per_client)


class Phase(Enum):
    """The state of a connection. The value is the name of the deadline in `Settings` by which it must end."""

    HANDSHAKE = "handshake_seconds"  # TLS
    IDLE = "idle_seconds"
    READING = "request_seconds"  # part of a request has arrived
    AUTHENTICATING = "authentication_seconds"  # its credentials are being checked
    ANSWERING = "stall_seconds"  # its response is being sent
    LINGERING = "linger_seconds"  # all was sent; keep reading for a moment
    CLOSED = ""


class Channel(HTTPChannel):  # type: ignore[misc]
    """A plain connection (behind a proxy, on the admin listener), and the base of `TlsChannel`.

    Nothing here may raise into the loop. `peer` is the connected address, `addr[0]` the client: the one that a
    trusted proxy names, else the peer. `server` is waitress's; our state is in `shared`. `since` is the start of its
    phase; from AUTHENTICATING to ANSWERING, the time when the request was complete. `request` is the one that is read
    or answered, `check` that of its credentials. waitress buffers what the socket does not accept (`write_soon`).
    `client`, `share`, `waits` and `spent` are those of `osbctl.broker.fairness`.
    """

    phase = Phase.IDLE
    unparsed = b""  # pipelined requests
    encrypted = b""  # TLS: output of OpenSSL that the socket has not accepted yet
    sent_bytes = 0
    sendbuf_len: int
    request: RequestParser | None
    check: CredentialCheck | None = None
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
        proxy = self.shared.proxy
        needs_no_password = self.shared.authenticate is None or (proxy is not None and proxy.trusts(self.peer))
        self.shared.connections.add(self, proven=needs_no_password)

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
        elif self.phase is Phase.AUTHENTICATING and self.request:
            self._answer_if_decided(self.request)
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
        return select.POLLIN | select.POLLPRI if self.awaits_peer or self.phase is Phase.LINGERING else 0

    def handle_read(self) -> None:
        data = self.receive()
        if data == b"":
            self.handle_close()
        elif data and self.phase not in (Phase.LINGERING, Phase.CLOSED):
            self.unparsed += data
            self._parse_next_request()

    def _parse_next_request(self) -> None:
        """Parse a request; data behind it stays in `unparsed` until it is answered."""
        request = self.request = self.request or RequestParser(self.adj)
        self.unparsed = self.unparsed[request.received(self.unparsed) :]
        if request.completed:
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
        if proxy is not None:
            client, refusal = proxy.client_and_refusal(self.peer, request.headers)
            self.addr = (client, None)  # for the log, of a malformed request too
            if request.error is not None:
                return
            if refusal:
                request.refuse(refusal, "403 Forbidden", "HttpsRequired")
            elif "X_FORWARDED_FOR" not in request.headers and not self.shared.has_warned:
                self.shared.has_warned = True
                _log.warning("the proxy sends no X-Forwarded-For: all of its clients count as one, also as guessers")
        if request.error is None and self.shared.authenticate is not None:
            wake = partial(self.server.wake, self)
            self.check = self.shared.authenticate(request.headers.get("AUTHORIZATION"), self.addr[0], wake)

    def _answer_if_decided(self, request: RequestParser) -> None:
        """Answer a request, unless its password is still being checked, and send what the socket accepts."""
        decision = self.check.decision if self.check else None
        if self.check and decision is None:
            return
        if decision and decision.outcome is RequestOutcome.ACCEPTED:
            self.shared.connections.prove(self)
        self.phase, self.request, self.check = Phase.ANSWERING, None, None
        try:
            response = self._create_response(request, decision)
        except Exception:
            _log.exception("a request could not be answered")
            text = "the broker failed to answer; its log says why"
            request.refuse(text, "500 Internal Server Error", "InternalError")
            response = self._create_response(request, decision)
        self._send_response(request, response, decision)
        self.flush()

    def _create_response(self, request: RequestParser, decision: Decision | None) -> Response:
        """Refuse a request that is malformed, forbidden or without a valid password, or call the application."""
        if request.error is not None:
            _log.debug("refused a request: %s", request.error.description)
            return error_response(*request.error)
        refusal = None
        if self.shared.authenticate is not None:  # a missing decision is no permission
            refusal = _REFUSALS.get((decision or REFUSED).outcome)
        response: Response = refusal or self.server.application(request)
        return response

    def _send_response(self, request: RequestParser, response: Response, decision: Decision | None) -> None:
        """Send what the socket accepts, and queue the rest; a large body as a file, which costs no copy."""
        now = time.time()
        self.close_when_flushed = request.error is not None or request.connection_close or self.shared.draining
        head = encode_head(request, response, now, closes=self.close_when_flushed)
        self.entry = Entry(
            now,
            self.since,
            self.addr[0],
            request.command,
            request.target,
            response.status[:3],
            self.sent_bytes + len(head),
            decision,
            request.headers.get("X_BROKER_API_REQUEST_IDENTITY", ""),
        )
        body = b"" if request.command == "HEAD" else response.body
        if len(body) <= LARGE_BODY:
            data = head + body
            self.write_soon(data[self.send(data) :])
        else:
            self.write_soon(head)
            file = ReadOnlyFileBasedBuffer(BytesIO(body))
            file.prepare()
            self.write_soon(file)
        self.current_outbuf_count = sys.maxsize  # for a new buffer next time: the used one would only grow

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
        self.phase, self.request = Phase.CLOSED, None
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
        return self.phase in (Phase.HANDSHAKE, Phase.IDLE, Phase.READING)

    @property
    def is_idle(self) -> bool:
        """Return whether all requests were answered, at least one: an end now is an ordinary one."""
        return self.phase is Phase.IDLE and self.sent_bytes > 0

    def is_overdue(self, now: float) -> bool:
        """Return whether a deadline has passed. `now` is monotonic; call it about once a second: it measures stalls."""
        limits = self.shared.settings
        if self.phase is not Phase.ANSWERING:
            self.stall = None
            return bool(now - self.since > getattr(limits, self.phase.value))
        since, sent = self.stall = self.stall or (now, self.sent_bytes)
        if now - since <= limits.stall_seconds:
            return False
        self.stall = (now, self.sent_bytes)
        return self.sent_bytes - sent < limits.stall_bytes_per_second * limits.stall_seconds

    def _record_finished_request(self) -> None:
        """Count and log the request that was answered, if any."""
        entry, self.entry = self.entry, None
        if entry is None:
            return
        entry.finalize(self.sent_bytes)
        stats, decision = self.shared.stats, entry.decision
        stats.requests[entry.status] += 1
        stats.seconds += entry.duration
        if decision is not None:
            stats.authentications[decision.outcome, decision.label] += 1
        if self.shared.access_log is not None:
            self.shared.access_log.add(entry)


def encode_head(request: RequestParser, response: Response, now: float, *, closes: bool) -> bytes:
    """The head of a response; `closes`: the connection ends with it. `now` is in seconds since 1970."""
    fields = [*response.headers]
    identity = request.headers.get("X_BROKER_API_REQUEST_IDENTITY", "")
    if 0 < len(identity) <= 256 and identity.isascii() and identity.isprintable():  # to send back (OSB 2.15)
        fields.append(("X-Broker-API-Request-Identity", identity))
    if not response.status.startswith("304"):  # which has no body (RFC 9112 §6.3)
        fields.append(("Content-Length", str(len(response.body))))
    if closes:
        fields.append(("Connection", "close"))
    elif request.version == "1.0":
        fields.append(("Connection", "Keep-Alive"))
    fields.append(("Date", build_http_date(int(now))))
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields])
    return f"HTTP/{request.version} {response.status}\r\n{lines}\r\n".encode("latin-1")
