"""Stands where waitress expects a pool of threads, and runs requests in the main loop.

A catalog request never blocks. What would (a slow password hash) is parked by the gate and resumed.
"""

from __future__ import annotations

import logging
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from osbctl.broker.channel import Channel

_log = logging.getLogger("osbctl.broker")


class Admission(Protocol):
    """What the dispatcher asks of a gate (see `osbctl.broker.gate.Gate.admit`)."""

    def __call__(self, header: str | None, address: str, resume: Callable[[], None], /) -> bool:
        """True: run the request now. False: it is parked; any thread will call `resume()` once."""
        ...


class Dispatcher:
    """Requests that are ready, each answered in turn, one for a connection at a time."""

    def __init__(self, admission: Admission | None = None) -> None:
        self.admission = admission
        self.ready: deque[Channel] = deque()

    def add_task(self, channel: Channel) -> None:
        """Called by waitress where a request is complete. Safe from any thread."""
        self.ready.append(channel)

    def run(self) -> None:
        """Answer what is ready now; what becomes ready meanwhile waits for the next turn."""
        for _ in range(len(self.ready)):
            channel = self.ready.popleft()
            if channel.socket is None or not channel.requests:
                continue
            try:
                self._run_one(channel)
            except Exception:  # nothing may end the main loop
                _log.exception("a request failed outside of the application")
                channel.handle_close()

    def _run_one(self, channel: Channel) -> None:
        if channel.total_outbufs_len:
            # One answer at a time: pipelining buys no memory.
            channel.waiting = True
        elif channel.passed or self._admitted(channel):
            channel.serve_one()

    def _admitted(self, channel: Channel) -> bool:
        request = channel.requests[0]
        channel.server.judge(channel, request)
        if request.error is not None or self.admission is None:
            return True
        resume = partial(channel.server.resume, channel, request)
        return self.admission(request.headers.get("AUTHORIZATION"), str(channel.addr[0]), resume)

    def set_thread_count(self, count: int) -> None:
        """waitress's interface; there are no threads."""

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> bool:  # noqa: ARG002
        """waitress's interface."""
        self.ready.clear()
        return True
