"""Several processes behind one port, and the parent that keeps them alive.

The parent serves the admin listener, and no catalog. Each worker has its own listening socket (SO_REUSEPORT) and the
kernel spreads connections over them. When the parent is gone, even killed, the workers drain and end.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from osbctl.broker.crew import Crew
from osbctl.errors import OsbctlError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from types import FrameType
    from typing import TypeAlias

    from osbctl.broker.standing import Standing

    Orphaned: TypeAlias = Callable[[Callable[[], None]], None]
    Say: TypeAlias = Callable[[Standing], None]
    Work: TypeAlias = Callable[[int, Orphaned, Say], int]

_log = logging.getLogger("osbctl.broker")

DEATHS, WITHIN_SECONDS = 5, 60.0
"""A worker is restarted, but when so many died within that time something is wrong with all of them."""


class Supervisor:
    """Runs `work(index, orphaned, say)` in `count` children; it returns the exit code of its process.

    `orphaned(callback)` starts a thread in the worker that calls back when the parent is gone; `say` tells the parent
    how the worker stands. `turn(seconds)` is what the parent does meanwhile.
    SIGTERM and SIGINT end all, SIGHUP is handed on. `drain_seconds` after the end, workers are killed.
    """

    def __init__(
        self,
        count: int,
        work: Work,
        drain_seconds: float,
        turn: Callable[[float], None] = time.sleep,
    ) -> None:
        self._count, self._work, self._patience, self._turn = count, work, drain_seconds + 5, turn
        self._crew = Crew(count)
        self._children: dict[int, int] = {}
        self._deaths: list[float] = []
        self._stopping = False
        self._end = 0.0
        self._alive_read, self._alive_write = os.pipe()

    def run(self) -> int:
        """Start the workers and watch them until told to stop. Returns the exit code."""
        watched = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
        before = {number: signal.signal(number, self._signalled) for number in watched}
        try:
            for index in range(self._count):
                self._start(index)
            worst = 0
            while self._children:
                worst = max(worst, self._reap())
                self._kill_late()
                self._turn(0.05)
            return worst
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._alive_read)
            os.close(self._alive_write)

    def standing(self) -> Standing:
        """How the workers stand, together."""
        standing = self._crew.standing()
        return replace(standing, why_not="draining") if self._stopping else standing

    def _signalled(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if number == signal.SIGHUP:
            self._tell(signal.SIGHUP)
        else:
            self._stop()

    def _stop(self) -> None:
        if not self._stopping:
            self._stopping = True
            self._end = time.monotonic() + self._patience
        self._tell(signal.SIGTERM)

    def _tell(self, number: signal.Signals) -> None:
        for pid in list(self._children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def _start(self, index: int) -> None:
        # Until a worker has its own handlers, a signal must neither be lost nor run the parent's.
        ours = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
        signal.pthread_sigmask(signal.SIG_BLOCK, ours)
        line = self._crew.line(index)
        try:
            pid = os.fork()
            if pid == 0:
                self._child(index, line)
            self._children[pid] = index
        finally:
            line.close()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ours)

    def _child(self, index: int, line: socket.socket) -> None:
        code = 1
        try:
            os.close(self._alive_write)
            code = self._work(index, self._orphaned, self._crew.aboard(line))
        except OsbctlError as error:
            _log.error("worker %d cannot run: %s", index, error.message)
        except BaseException:
            _log.exception("worker %d failed", index)
        finally:
            os._exit(code)

    def _orphaned(self, callback: Callable[[], None]) -> None:
        """In a worker: call back when the parent is gone. The pipe ends when its only writer does."""

        def wait() -> None:
            os.read(self._alive_read, 1)
            callback()

        threading.Thread(target=wait, name="parent", daemon=True).start()

    def _reap(self) -> int:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0
        index = self._children.pop(pid, None)
        if index is None:
            return 0
        self._crew.lost(index)
        code = os.waitstatus_to_exitcode(status)
        if self._stopping:
            return 0 if code == 0 else 1
        return self._replace(index, code)

    def _replace(self, index: int, code: int) -> int:
        now = time.monotonic()
        self._deaths = [then for then in self._deaths if now - then < WITHIN_SECONDS] + [now]
        _log.error("worker %d ended unexpectedly (%d)", index, code)
        if len(self._deaths) > DEATHS:
            _log.error("%d workers ended within %d seconds; giving up", len(self._deaths), WITHIN_SECONDS)
            self._stop()
            return 1
        self._start(index)
        return 0

    def _kill_late(self) -> None:
        if self._stopping and time.monotonic() > self._end:
            self._tell(signal.SIGKILL)
