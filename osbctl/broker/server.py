"""The main loop, and waitress's server on each listening socket in it.

We do not use waitress's loop: it has one listener, hands each request to a thread, spins while a thread sends, and has
no deadlines for handshakes and slow clients. waitress still accepts connections and buffers responses.
"""

import contextlib
import logging
import math
import os
import select
import socket
import sys
import time
from typing import Any

from waitress import wasyncore  # type: ignore[import-untyped]
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]
from waitress.server import TcpWSGIServer  # type: ignore[import-untyped]

from osbctl.broker.catalog_app import Application
from osbctl.broker.channel import Channel, Shared
from osbctl.broker.fairness import Client, Scheduler
from osbctl.broker.proxy import client_prefix, normalize_address
from osbctl.broker.settings import Settings
from osbctl.broker.tls_channel import TlsChannel

_log = logging.getLogger("osbctl.broker")

ACCEPTS_A_TURN = 64
"""Maximum. A process with few connections accepts one at a time, so that others on the same socket get their share."""


class PolledSockets(dict[int, Any]):
    """waitress's map of descriptors to channels, and what each is polled for; a new one for input."""

    def __init__(self) -> None:
        super().__init__()
        self._poll = select.poll()
        self._events: dict[int, int] = {}

    def __setitem__(self, descriptor: int, channel: Any) -> None:
        super().__setitem__(descriptor, channel)
        self.watch(descriptor, select.POLLIN | select.POLLPRI)

    def __delitem__(self, descriptor: int) -> None:
        super().__delitem__(descriptor)
        self.watch(descriptor, 0)

    def watch(self, descriptor: int, events: int) -> None:
        """Poll for these events from now on; 0 for none."""
        if events == self._events.get(descriptor, 0):
            return
        if events:
            self._poll.register(descriptor, events)
            self._events[descriptor] = events
        else:
            self._poll.unregister(descriptor)
            del self._events[descriptor]

    def wait(self, seconds: float) -> list[tuple[Any, int]]:
        """Wait for events for at most so long; returns channels with their events."""
        return [(self[descriptor], events) for descriptor, events in self._poll.poll(seconds * 1000)]


class Server(TcpWSGIServer):  # type: ignore[misc]
    """One listener of a loop. `sock` is a bound IPv4, IPv6 or Unix socket.

    `handle_accept` and `cut_overdue_connections` must not raise: that would close the listener or end the loop.
    """

    accept_again = 0.0
    _map: PolledSockets

    def __init__(self, app: Application, sock: socket.socket, loop: "Loop", shared: Shared) -> None:
        self.shared, self.settings, self.scheduler = shared, shared.settings, loop.scheduler
        self.channel_class = Channel if shared.tls is None else TlsChannel
        info = (sock.family, sock.type, sock.proto, sock.getsockname())
        adj = Adjustments(
            backlog=self.settings.backlog,
            max_request_header_size=self.settings.header_bytes,
            max_request_body_size=self.settings.body_bytes,
            log_socket_errors=False,
            ident="",
            # proxy.py checks these headers; without a proxy they are ignored.
            clear_untrusted_proxy_headers=False,
        )
        # `write_soon` only queues: neither does it send, nor wait for others to send, which the main loop does itself.
        adj.send_bytes = adj.outbuf_high_watermark = sys.maxsize
        super().__init__(
            app, loop.sockets, _sock=sock, dispatcher=loop.scheduler, adj=adj, sockinfo=info, bind_socket=False
        )
        # A full pipe must not stop the thread that wakes the loop: the loop is being woken already.
        os.set_blocking(self.trigger.trigger, False)

    def wake_loop(self) -> None:
        """Wake the loop. From any thread or signal handler."""
        with contextlib.suppress(OSError, IndexError):
            self.trigger.pull_trigger()

    def wake(self, channel: Channel) -> None:
        """Queue a channel whose request was decided, even if it is closed, and wake the loop. From any thread."""
        self.scheduler.wake(channel)
        self.wake_loop()

    def getsockname(self) -> tuple[str, str]:
        name = self.socket.getsockname()
        return ("unix", str(name)) if self.family == socket.AF_UNIX else (str(name[0]), str(name[1]))

    def fix_addr(self, addr: Any) -> tuple[Any, ...]:
        return (normalize_address(addr[0]), addr[1]) if isinstance(addr, tuple) else ("unix", None)

    def set_socket_options(self, conn: socket.socket) -> None:
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.settings.send_buffer_bytes)
        if conn.family != socket.AF_UNIX:
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def poll_socket(self, channel: Channel) -> None:
        """Poll for what the channel waits for, if it is open; for nothing while it waits for its turn."""
        if channel.socket is not None:
            self._map.watch(channel.socket.fileno(), 0 if channel.waits else channel.poll_events)

    def pause_accepting(self, seconds: float) -> None:
        self.accept_again = time.monotonic() + seconds
        self._map.watch(self.socket.fileno(), 0)

    def resume_accepting(self, now: float) -> float:
        """Accept again if a pause is over; returns the remaining seconds of one, or infinity."""
        if self.accept_again and now >= self.accept_again:
            self.accept_again = 0.0
            self._map.watch(self.socket.fileno(), select.POLLIN)
        return self.accept_again - now if self.accept_again else math.inf

    def handle_accept(self) -> None:
        """Accept connections, in place of others if there is no room."""
        for _ in range(min(ACCEPTS_A_TURN, 1 + len(self.active_channels) // 4)):
            if not self.shared.connections.free_count and not self._make_room():
                self.pause_accepting(self.settings.full_seconds)  # all are new, or being answered
                return
            if not self._accept_connection():
                return

    def _make_room(self, client: Client | None = None) -> bool:
        """Close a connection in favour of a new one of this client, or of any."""
        channel = self.shared.connections.choose_eviction(client)
        if channel is not None:
            self.shared.stats.cut += 1
            channel.abort()
        return channel is not None

    def _accept_connection(self) -> bool:
        """Accept a connection; returns whether there may be more."""
        try:
            pair = self.accept()
        except OSError as error:  # out of descriptors or memory: accepting again at once would only spin
            self.pause_accepting(self.settings.sweep_seconds)
            _log.warning("cannot accept connections for a moment: %s", error)
            return False
        if pair is None:
            return False
        conn, name = pair
        try:
            addr = self.fix_addr(name)
            client = self.shared.connections.find_client(client_prefix(addr[0]))
            if self.shared.connections.has_reached_limit(client) and not self._make_room(client):
                self.shared.stats.rejected += 1
                conn.close()
                return True
            self.set_socket_options(conn)
            self.channel_class(self, conn, addr, self.adj, client, map=self._map)
        except Exception as error:
            conn.close()
            _log.debug("a connection was lost while it was set up: %s", error)
        return True

    def cut_overdue_connections(self, now: float) -> None:
        """Close every connection whose deadline has passed.

        waitress's `maintenance` is not used: it counts from the last byte, and waits for sockets to become writable.
        """
        for channel in list(self.active_channels.values()):
            try:
                if channel.is_overdue(now):
                    if channel.is_idle:
                        channel.handle_close()
                    else:
                        self.shared.stats.cut += 1
                        channel.abort()
            except Exception:
                _log.exception("a connection could not be closed")

    def stop_accepting(self) -> None:
        """Take connections from the backlog, then close the listener. Connections stay open."""
        self.shared.draining = True
        for _ in range(min(self.settings.backlog, self.shared.connections.free_count)):
            if not self._accept_connection():
                break
        wasyncore.dispatcher.close(self)

    def handle_close(self) -> None:
        """Ignore poll events: only `stop_accepting` closes a listener."""
        _log.error("the listener reports an error; it is kept")


class Loop:
    """The main loop: one thread for all sockets. `servers` serve the catalog; `admin` stay up while they drain.

    `stop()` may be called from any thread or signal handler, as it takes no lock; the second call ends draining.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sockets, self.scheduler = PolledSockets(), Scheduler()
        self.servers: list[Server] = []
        self.admin: list[Server] = []
        self._stops = 0
        self._next_sweep = 0.0

    def stop(self) -> None:
        """Begin to drain; the second call ends the loop now."""
        self._stops += 1
        for server in self.servers[:1]:
            server.wake_loop()

    def run(self) -> int:
        """Serve until `stop()`, then drain. Returns the number of connections cut during a response."""
        while not self._stops:
            self.run_turn(self.settings.sweep_seconds)
        return self.drain()

    def run_turn(self, wait_seconds: float) -> None:
        """Wait for sockets for at most `wait_seconds`, accept connections, serve those who wait. Never raises."""
        servers = (*self.servers, *self.admin)
        try:
            now = time.monotonic()
            wait_seconds = min(wait_seconds, *(server.resume_accepting(now) for server in servers))
            for channel, events in self.sockets.wait(0 if not self.scheduler.is_idle else wait_seconds):
                self._handle_events(channel, events)
            self.scheduler.run_turn()
        except Exception:  # a failure must not end the service, or spin
            _log.exception("a turn of the main loop failed")
            time.sleep(0.05)
        if now >= self._next_sweep:
            self._next_sweep = now + self.settings.sweep_seconds
            for server in servers:
                server.cut_overdue_connections(now)

    def _handle_events(self, channel: Any, events: int) -> None:
        """Queue a connection; let a listener or the trigger of `wake_loop` act at once."""
        if not isinstance(channel, Channel):
            wasyncore.readwrite(channel, events)
        elif channel.waits:  # for its turn
            channel.server.poll_socket(channel)
        elif events & select.POLLPRI:
            channel.handle_close()  # urgent data has no meaning in HTTP, and poll would report it forever
        else:
            self.scheduler.add(channel)

    def drain(self) -> int:
        """Stop accepting, close idle connections, finish responses. Returns the number of remaining connections."""
        for server in self.servers:
            server.stop_accepting()
        began = time.monotonic()
        while self._open_channels() and self._stops < 2:
            age = time.monotonic() - began
            if age > self.settings.drain_seconds:
                break
            for channel in self._open_channels():
                channel.close_gracefully(age > self.settings.drain_grace_seconds)
            self.run_turn(0.05)
        left = self._open_channels()
        for channel in left:
            channel.abort()
        self.close()
        return len(left)

    def close(self) -> None:
        for server in (*self.servers, *self.admin):
            for channel in list(server.active_channels.values()):
                channel.handle_close()
            server.close()

    def _open_channels(self) -> list[Channel]:
        return [channel for server in self.servers for channel in list(server.active_channels.values())]
