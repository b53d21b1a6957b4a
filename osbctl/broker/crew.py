"""What a parent knows of its workers: each tells it about once a second how it stands.

A worker that died is not forgotten: what it had counted by its last word stays counted.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from osbctl.broker.standing import Standing, together
from osbctl.broker.stats import Stats

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger("osbctl.broker")

LONGEST = 1 << 16
"""Bytes of a message. Its size depends on the number of labels and statuses, not on the load."""

SILENT_SECONDS = 10.0
"""A worker that says nothing for so long hangs."""


class Crew:
    """`count` workers. All is called in the parent, but for what `aboard` returns."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lines: dict[int, socket.socket] = {}
        self._last: dict[int, tuple[float, Standing]] = {}
        self._gone = Stats()

    def line(self, index: int) -> socket.socket:
        """Before the fork of a worker: the end of its line, which the parent closes afterwards."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        ours.setblocking(False)
        theirs.setblocking(False)
        self._lines[index] = ours
        return theirs

    def aboard(self, line: socket.socket) -> Callable[[Standing], None]:
        """In the worker: give up what is the parent's, and return what tells it how the worker stands."""
        for ours in self._lines.values():
            ours.close()

        def say(standing: Standing) -> None:
            # Nobody reads, or not fast enough: the next word tells more anyway.
            with contextlib.suppress(OSError):
                line.send(standing.as_json())

        return say

    def lost(self, index: int) -> None:
        """A worker has ended."""
        self._hear(index)
        self._lines.pop(index).close()
        if index in self._last:
            self._gone.add(self._last.pop(index)[1].stats)

    def standing(self) -> Standing:
        """How all of them stand. Not ready unless each is; silent ones are not."""
        for index in self._lines:
            self._hear(index)
        since = time.monotonic() - SILENT_SECONDS
        words = [standing for when, standing in self._last.values() if when > since]
        whole = together([*words, Standing(self._gone)])
        missing = self._count - len(words)
        return whole if not missing else replace(whole, why_not=f"{missing} of {self._count} workers do not answer")

    def _hear(self, index: int) -> None:
        """Take what a worker has said; the last word counts."""
        message = b""
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while said := self._lines[index].recv(LONGEST):
                message = said
        if not message:
            return
        try:
            self._last[index] = (time.monotonic(), Standing.of(message))
        except (ValueError, KeyError, TypeError):  # cut: more labels than a message holds
            _log.error("worker %d said what cannot be read", index)
