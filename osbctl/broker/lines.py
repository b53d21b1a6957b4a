"""Lines for a descriptor, written by a thread: whoever has something to log never waits for who reads it."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class LineWriter(Generic[T]):
    """A bounded queue and the thread that writes it to `descriptor`. What does not fit is counted and said.

    `line` makes text of an item, in that thread. `seconds` are between two writes, `limit` is the most items kept.
    """

    def __init__(self, descriptor: int, line: Callable[[T], str], *, seconds: float = 0.1, limit: int = 10_000) -> None:
        self._descriptor, self._line, self._seconds, self._limit = descriptor, line, seconds, limit
        self._items: deque[T] = deque()
        self._lost = 0
        self._some = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write_on, name="lines", daemon=True)
        self._thread.start()

    def add(self, item: T) -> None:
        """Queue an item. Never waits."""
        if len(self._items) >= self._limit:
            self._lost += 1
            return
        self._items.append(item)
        if not self._some.is_set():
            self._some.set()

    def close(self) -> None:
        """Write what is left, for at most two seconds, and end the thread."""
        self._stop.set()
        self._some.set()
        self._thread.join(2)

    def _write_on(self) -> None:
        while not self._stop.is_set():
            self._some.wait()
            self._stop.wait(self._seconds)
            self._some.clear()
            self._write()
        self._write()

    def _write(self) -> None:
        lines = [self._line(self._items.popleft()) for _ in range(len(self._items))]
        lost, self._lost = self._lost, 0
        if lost:
            lines.append(json.dumps({"event": "lost", "lines": lost}))
        try:
            for part in _parts(lines):
                _write_all(self._descriptor, part)
        except OSError:
            self._lost += len(lines)


def _parts(lines: list[str], size: int = 4096) -> list[bytes]:
    """Whole lines in pieces of at most `size` bytes (PIPE_BUF): processes that share a pipe mix none."""
    parts: list[bytes] = []
    for line in lines:
        data = line.encode() + b"\n"
        if parts and len(parts[-1]) + len(data) <= size:
            parts[-1] += data
        else:
            parts.append(data)
    return parts


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
