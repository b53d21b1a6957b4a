"""An end to whatever is done over connections: not even a byte now and then keeps them open."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class Deadline:
    """Within it, connections that it watches are cut when `seconds` are over; those that come later are refused."""

    def __init__(self, seconds: float) -> None:
        self.expired = False
        self._watched: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def watch(self, sock: socket.socket) -> None:
        """Cut this connection in time, by a second descriptor of it. Raises TimeoutError where it comes too late."""
        self._watched.append(sock.dup())
        if self.expired:
            raise TimeoutError

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        for sock in self._watched:
            sock.close()

    def _cut(self) -> None:
        self.expired = True
        for sock in self._watched:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
