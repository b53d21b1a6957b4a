"""Stands where waitress expects a pool of threads, and runs requests in the main loop.

A catalog request never blocks. What would (a slow password hash) is parked by the gate and resumed.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Protocol

_log = logging.getLogger("osbctl.broker")


class Connection(Protocol):
    """A connection with a complete request (see `osbctl.broker.channel.Channel`)."""

    def run(self) -> None:
        """Answer the request, or park it."""

    def handle_close(self) -> None:
        """Close the connection."""


class Dispatcher:
    """Connections whose request is ready, each answered in turn."""

    def __init__(self) -> None:
        self.ready: deque[Connection] = deque()

    def add_task(self, channel: Connection) -> None:
        """Called by waitress where a request is complete. Safe from any thread."""
        self.ready.append(channel)

    def run(self) -> None:
        """Answer what is ready now; what becomes ready meanwhile waits for the next turn."""
        for _ in range(len(self.ready)):
            channel = self.ready.popleft()
            try:
                channel.run()
            except Exception:  # nothing may end the main loop
                _log.exception("a request failed outside of the application")
                channel.handle_close()

    def set_thread_count(self, count: int) -> None:
        """waitress's interface; there are no threads."""

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> bool:  # noqa: ARG002
        """waitress's interface."""
        self.ready.clear()
        return True
