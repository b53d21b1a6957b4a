"""waitress's server on one listening socket, in a main loop that all listeners share.

We do not use waitress's loop: it has one listener, hands each request to a thread, spins while a thread sends, and has
no deadlines for handshakes and slow clients. waitress still parses requests and buffers responses.
"""

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
from osbctl.broker.proxy import client_prefix, normalize_address
from osbctl.broker.shared_state import Shared
from osbctl.broker.tls_channel import TlsChannel

_log = logging.getLogger("osbctl.broker")

ACCEPTS_A_TURN = 64
"""Maximum. A process with few connections accepts one at a time, so that others on the same socket get their share."""


class Server(TcpWSGIServer):  # type: ignore[misc]
    """One listener.

    Several servers share one `map` (descriptor to channel) and so one loop; `ready` are the channels to run next.
    `sock` is a bound IPv4, IPv6 or Unix socket. `handle_accept`, `readable` and `cut_overdue_connections` must
    not raise: that would close the listener or end the loop.
    """

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
        adj = Adjustments(
            backlog=self.settings.backlog,
            connection_limit=self.settings.connection_limit(),
            max_request_header_size=self.settings.header_bytes,
            max_request_body_size=self.settings.body_bytes + 1,  # waitress's limit is exclusive
            channel_request_lookahead=0,
            asyncore_use_poll=True,
            log_socket_errors=False,
            ident="",
            # proxy.py checks these headers; without a proxy they are ignored.
            clear_untrusted_proxy_headers=False,
        )
        adj.send_bytes = 65536  # header and body in one send; the keyword is deprecated, the attribute is used
        adj.outbuf_high_watermark = sys.maxsize  # waiting below it would deadlock the main loop
        self.ready = ready
        super().__init__(app, loop_map, _sock=sock, dispatcher=ready, adj=adj, sockinfo=info, bind_socket=False)
        # A full pipe must not stop the thread that wakes the loop: the loop is being woken already.
        os.set_blocking(self.trigger.trigger, False)

    # Threads.

    def pull_trigger(self) -> None:
        """Do nothing: waitress calls this from `service()`, which runs in the main loop here."""

    def wake_loop(self) -> None:
        """Wake the loop. From any thread or signal handler."""
        with contextlib.suppress(OSError, IndexError):
            self.trigger.pull_trigger()

    # Connections.

    def getsockname(self) -> tuple[str, str]:
        name = self.socket.getsockname()
        if self.family == socket.AF_UNIX:
            return ("unix", str(name))
        return (str(name[0]), str(name[1]))

    def fix_addr(self, addr: Any) -> tuple[Any, ...]:
        return (normalize_address(addr[0]), addr[1]) if isinstance(addr, tuple) else ("unix", None)

    def set_socket_options(self, conn: socket.socket) -> None:
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.settings.send_buffer_bytes)
        if conn.family != socket.AF_UNIX:
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def readable(self) -> bool:
        return self.accepting and (not self.accept_again or time.monotonic() >= self.accept_again)

    def handle_accept(self) -> None:
        """Accept connections, evicting others if all slots are taken."""
        self.accept_again = 0.0
        count, slots = min(ACCEPTS_A_TURN, 1 + len(self.active_channels) // 16), self.shared.slots
        if slots.free_count < count:
            for channel in slots.choose_evictions(count - slots.free_count):
                self.shared.stats.cut += 1
                channel.abort()
        if slots.free_count:
            self._accept_connections(min(count, slots.free_count))
        else:  # all are new, or being answered
            self.accept_again = time.monotonic() + self.settings.full_seconds

    def _accept_connections(self, count: int) -> None:
        for _ in range(count):
            try:
                pair = self.accept()
            except OSError as error:  # out of descriptors or memory: accepting again at once would only spin
                self.accept_again = time.monotonic() + self.settings.sweep_seconds
                _log.warning("cannot accept connections for a moment: %s", error)
                return
            if pair is None:
                return
            conn, name = pair
            try:
                addr = self.fix_addr(name)
                if self.shared.slots.has_reached_limit(client_prefix(addr[0])):
                    self.shared.stats.rejected += 1
                    conn.close()
                    continue
                self.set_socket_options(conn)
                self.channel_class(self, conn, addr, self.adj, map=self._map)
            except Exception as error:
                conn.close()
                _log.debug("a connection was lost while it was set up: %s", error)

    def cut_overdue_connections(self, now: float) -> None:
        """Close every connection whose deadline has passed.

        waitress's `maintenance` is not used: it counts from the last byte, and waits for sockets to become writable.
        """
        for channel in list(self.active_channels.values()):
            try:
                if channel.is_overdue(now):
                    self.shared.stats.cut += 1
                    channel.abort()
            except Exception:
                _log.exception("a connection could not be closed")

    def stop_accepting(self) -> None:
        """Take connections from the backlog, then close the listener. Connections stay open."""
        self.shared.draining = True
        self._accept_connections(min(self.settings.backlog, self.shared.slots.free_count))
        wasyncore.dispatcher.close(self)

    def handle_close(self) -> None:
        """Ignore poll events: only `stop_accepting` closes a listener."""
        _log.error("the listener reports an error; it is kept")
