"""The main loop: turns until it is stopped, then drains."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import Any

from waitress import wasyncore  # type: ignore[import-untyped]

from osbctl.broker.channel import Channel
from osbctl.broker.server import Server
from osbctl.broker.settings import Settings

_log = logging.getLogger("osbctl.broker")


class Loop:
    """One thread, all sockets. `servers` answer the catalog; `admin` stays up while they drain.

    `stop()` may be called from any thread or signal handler; once more, and draining is cut short.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.map: dict[int, Any] = {}
        self.servers: list[Server] = []
        self.admin: list[Server] = []
        self.ready: deque[Channel] = deque()
        self.draining = False
        self._stop = threading.Event()
        self._hurry = threading.Event()
        self._next_sweep = 0.0

    def stop(self) -> None:
        """Begin to drain; the second time: end now."""
        (self._hurry if self._stop.is_set() else self._stop).set()
        for server in self.servers[:1]:
            server.wake()

    def run(self) -> int:
        """Serve until `stop()`, then drain. Returns how many connections were cut in mid-answer."""
        while not self._stop.is_set():
            self.turn(self.settings.sweep_seconds)
        return self.drain()

    def turn(self, wait: float) -> None:
        """Wait for sockets at most `wait` seconds, move bytes, answer what is ready. Never raises."""
        if self.ready:
            wait = 0
        for server in self.servers:
            server.shared.steps.clear()
            if server.accept_again:
                wait = min(wait, self.settings.full_seconds)
        try:
            wasyncore.loop(timeout=wait, use_poll=True, map=self.map, count=1)
        except Exception:  # a broken turn must not end the service, nor spin
            _log.exception("a turn of the main loop failed")
            time.sleep(0.05)
        # What becomes ready meanwhile waits for the next turn. A catalog request never blocks; what would is parked.
        for _ in range(len(self.ready)):
            channel = self.ready.popleft()
            try:
                channel.run()
            except Exception:  # nothing may end the main loop
                _log.exception("a request failed outside of the application")
                channel.handle_close()
        now = time.monotonic()
        if now >= self._next_sweep:
            self._next_sweep = now + self.settings.sweep_seconds
            for server in (*self.servers, *self.admin):
                server.sweep(now)

    def drain(self) -> int:
        """Accept no more, close what is idle, finish answers. Returns how many connections were left."""
        self.draining = True
        for server in self.servers:
            server.stop_accepting()
        began = time.monotonic()
        while self._channels() and not self._hurry.is_set():
            age = time.monotonic() - began
            if age > self.settings.drain_seconds:
                break
            for channel in self._channels():
                channel.finish(age > self.settings.drain_grace_seconds)
            self.turn(0.05)
        left = self._channels()
        for channel in left:
            channel.abort()
        self.close()
        return len(left)

    def close(self) -> None:
        """Close everything, without more ado."""
        for server in (*self.servers, *self.admin):
            for channel in list(server.active_channels.values()):
                channel.handle_close()
            server.close()

    def connections(self) -> int:
        """Open connections to the catalog listeners."""
        return sum(len(server.active_channels) for server in self.servers)

    def _channels(self) -> list[Any]:
        return [channel for server in self.servers for channel in list(server.active_channels.values())]
