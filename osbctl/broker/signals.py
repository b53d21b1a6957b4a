"""Handles signals to stop and to reload in a thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue


class Signals:
    """Queue of received signals. Create it in the main thread; `call` starts the thread that handles them.

    A signal may interrupt a Python handler, and then wait forever for a lock that the handler holds (`Event.set`).
    `SimpleQueue.put` is reentrant C code, so it is the handler itself.
    """

    def __init__(self) -> None:
        self._came: SimpleQueue[int] = SimpleQueue()

    def collect(self, *numbers: int) -> None:
        """Queue these signals from now on, instead of their default action."""
        for number in numbers:
            signal.signal(number, self._came.put)  # type: ignore[arg-type]  # the frame is its `block`, which it ignores

    def ignore(self, *numbers: int) -> None:
        """Ignore these signals from now on: the interpreter restores the default action before it has ended."""
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    def call(self, functions: Mapping[int, Callable[[], None]]) -> None:
        """Call the function of each signal, also of those already queued, in a thread."""
        threading.Thread(target=self._work, args=(functions,), name="signals", daemon=True).start()

    def _work(self, functions: Mapping[int, Callable[[], None]]) -> None:
        while True:
            functions[self._came.get()]()
