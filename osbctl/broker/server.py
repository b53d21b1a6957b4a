"""waitress's server on one listening socket, in a main loop that all listeners share.

The loop is our own: waitress's has one listener, hands each request to a thread, spins while a thread sends, and has
no deadlines for handshakes and slow clients. waitress still parses requests and buffers answers.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
import time
from collections import deque
from typing import Any

from waitress import wasyncore  # type: ignore[import-untyped]
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]
from waitress.server import TcpWSGIServer  # type: ignore[import-untyped]

from osbctl.broker.catalog_app import Application
from osbctl.broker.channel import Channel
from osbctl.broker.proxy import client_of, plain_address
from osbctl.broker.settings import Settings
from osbctl.broker.shared_state import Shared
from osbctl.broker.tls_channel import TlsChannel

_log = logging.getLogger("osbctl.broker")

ACCEPTS_A_TURN = 64
"""At most. A process with few connections takes one at a time, so that others on the same socket get their share."""


class Server(TcpWSGIServer):  # type: ignore[misc]
    """One listener.

    Several servers share one `map` (descriptor to channel) and so one loop; `ready` are the channels that it is to run.
    `sock` is bound, and may be an IPv4, IPv6 or Unix socket. Nothing may raise out of `handle_accept`, `readable` or
    `sweep`: the listener would be closed or the loop would end.
    """

    active_channels: dict[int, Channel]
    accepting: bool
    accept_again = 0.0

    def __init__(
        self,
        app: Application,
        sock: socket.socket,
        *,
        loop_map: dict[int, Any],
        ready: deque[Channel],
        shared: Shared,
    ) -> None:
        self.shared, self.settings = shared, shared.settings
        self.channel_class = Channel if shared.tls is None else TlsChannel
        info = (sock.family, sock.type, sock.proto, sock.getsockname())
        adj = adjustments(self.settings)
        self.ready = ready
        super().__init__(app, loop_map, _sock=sock, dispatcher=ready, adj=adj, sockinfo=info, bind_socket=False)
        # A full pipe must not stop the thread that wakes the loop: the loop is being woken already.
        os.set_blocking(self.trigger.trigger, False)

    # Threads.

    def pull_trigger(self) -> None:
        """waitress calls this out of `service()`; here that is the main loop already."""

    def wake(self) -> None:
        """Make the loop turn now. From any thread or signal handler."""
        with contextlib.suppress(OSError, IndexError):
            self.trigger.pull_trigger()

    # Connections.

    def getsockname(self) -> tuple[str, str]:
        name = self.socket.getsockname()
        if self.family == socket.AF_UNIX:
            return ("unix", str(name))
        return (str(name[0]), str(name[1]))

    def fix_addr(self, addr: Any) -> tuple[Any, ...]:
        return (plain_address(addr[0]), addr[1]) if isinstance(addr, tuple) else ("unix", None)

    def set_socket_options(self, conn: socket.socket) -> None:
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.settings.send_buffer_bytes)
        if conn.family != socket.AF_UNIX:
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def readable(self) -> bool:
        return self.accepting and (not self.accept_again or time.monotonic() >= self.accept_again)

    def handle_accept(self) -> None:
        """Accept a connection at once; it keeps its place long enough to send a request."""
        self.accept_again = 0.0
        count, places = min(ACCEPTS_A_TURN, 1 + len(self.active_channels) // 16), self.shared.places
        if places.free < count:
            for channel in places.first_to_go(count - places.free):
                self.shared.stats.cut += 1
                channel.abort()
        if places.free:
            self._accept(min(count, places.free))
        else:  # all have just come, or are being answered
            self.accept_again = time.monotonic() + self.settings.full_seconds

    def _accept(self, count: int) -> None:
        for _ in range(count):
            try:
                pair = self.accept()
            except OSError as error:  # out of descriptors or memory: accepting again at once would only spin
                self.accept_again = time.monotonic() + self.settings.sweep_seconds
                _log.warning("cannot accept connections for a moment: %s", error)
                return
            if pair is None:
                return
            self._welcome(*pair)

    def _welcome(self, conn: socket.socket, name: Any) -> None:
        try:
            addr = self.fix_addr(name)
            if self.shared.places.full(client_of(addr[0])):
                self.shared.stats.turned_away += 1
                conn.close()
                return
            self.set_socket_options(conn)
            self.channel_class(self, conn, addr, self.adj, map=self._map)
        except Exception as error:
            conn.close()
            _log.debug("a connection was lost while it was set up: %s", error)

    def sweep(self, now: float) -> None:
        """Close every connection whose deadline has passed. waitress's `maintenance` is not used: it goes by the last
        byte, and waits for a socket that may never become writable.
        """
        for channel in list(self.active_channels.values()):
            try:
                if channel.overdue(now):
                    self.shared.stats.cut += 1
                    channel.abort()
            except Exception:
                _log.exception("a connection could not be closed")

    def stop_accepting(self) -> None:
        """Take what the kernel has already accepted, then close the listener. Connections stay."""
        self.shared.draining = True
        self._accept(min(self.settings.backlog, self.shared.places.free))
        wasyncore.dispatcher.close(self)

    def handle_close(self) -> None:
        """Ignore poll events: a listener is closed by `stop_accepting` only."""
        _log.error("the listener reports an error; it is kept")


def adjustments(settings: Settings) -> Any:
    """waitress's own settings, as the loop needs them."""
    adj = Adjustments(
        backlog=settings.backlog,
        connection_limit=settings.connection_limit(),
        max_request_header_size=settings.header_bytes,
        max_request_body_size=settings.body_bytes + 1,  # waitress refuses what is not below it
        channel_request_lookahead=0,
        asyncore_use_poll=True,
        log_socket_errors=False,
        ident="",
        # What a proxy says is judged in proxy.py; without one, these headers are ignored.
        clear_untrusted_proxy_headers=False,
    )
    adj.send_bytes = 65536  # header and body in one send; the keyword is deprecated, the attribute is read
    adj.outbuf_high_watermark = sys.maxsize  # its wait would never end in the main loop
    return adj
