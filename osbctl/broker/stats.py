"""How a process does: what it has counted since its start, and what it has in hand at this moment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from osbctl.broker.access_log import Entry

BUCKETS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5)
"""Upper ends of the histogram of durations, in seconds."""


class Stats:
    """Written by the main loop (reloads: by the watcher), read by whoever asks; no locks are needed."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.authentications: Counter[tuple[str, str]] = Counter()
        self.reloads: Counter[tuple[str, str]] = Counter()
        self.seconds = 0.0
        self.buckets = [0] * len(BUCKETS)
        self.handshakes_failed = 0
        self.turned_away = 0
        self.cut = 0

    def request(self, entry: Entry) -> None:
        """Count an answered request: its status, its credential, its duration."""
        self.requests[entry.status] += 1
        self.seconds += entry.started
        for index, end in enumerate(BUCKETS):
            if entry.started <= end:
                self.buckets[index] += 1
                break
        if entry.decision is not None:
            self.authentications[entry.decision.outcome, entry.decision.label] += 1


@dataclass(frozen=True, slots=True)
class Standing:
    """How the process stands now.

    `waiting` counts requests that wait for their password; `days_left` are the certificate's, None without one.
    `catalog` is the tag of what is served and the time of its last change (seconds since 1970).
    `why_not` says why the process is not ready to serve; empty where it is.
    """

    stats: Stats
    connections: int = 0
    waiting: int = 0
    days_left: float | None = None
    catalog: tuple[str, int] | None = None
    why_not: str = ""
