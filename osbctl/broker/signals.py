"""Signals to stop and to reload, handed over to a thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue


class Signals:
    """Collects signals from the main thread, which must make it; `call` starts the thread that answers them.

    The next signal may interrupt a handler that is written in Python, and wait for ever for a lock that this one holds
    (`Event.set`). `SimpleQueue.put` is C code and reentrant, so it is the handler itself.
    """

    def __init__(self) -> None:
        self._came: SimpleQueue[int] = SimpleQueue()

    def collect(self, *numbers: int) -> None:
        """Collect these from now on, instead of their default action."""
        for number in numbers:
            signal.signal(number, self._came.put)  # type: ignore[arg-type]  # the frame is its `block`, which it ignores

    def ignore(self, *numbers: int) -> None:
        """Ignore these from now on: a handler gives way to the default action before the interpreter has ended."""
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    def call(self, functions: Mapping[int, Callable[[], None]]) -> None:
        """Call the function of each signal that came or comes, in a thread."""
        threading.Thread(target=self._work, args=(functions,), name="signals", daemon=True).start()

    def _work(self, functions: Mapping[int, Callable[[], None]]) -> None:
        while True:
            functions[self._came.get()]()
