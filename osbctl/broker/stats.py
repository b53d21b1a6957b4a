"""What has been counted since the start of a process: plain numbers, read by the metrics."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from osbctl.broker.access_log import Entry

BUCKETS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5)
"""Upper ends of the histogram of durations, in seconds."""

_COUNTERS = ("requests", "authentications", "reloads")
_NUMBERS = ("seconds", "handshakes_failed", "turned_away", "cut")


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

    def add(self, other: Stats) -> None:
        """Count what `other` has counted, too."""
        for name in _COUNTERS:
            getattr(self, name).update(getattr(other, name))
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.buckets = [ours + theirs for ours, theirs in zip(self.buckets, other.buckets, strict=True)]

    def as_data(self) -> dict[str, Any]:
        """All of it as values that JSON can hold; `of` reads it."""
        counters = {name: list(getattr(self, name).copy().items()) for name in _COUNTERS}
        return {**counters, **{name: getattr(self, name) for name in _NUMBERS}, "buckets": self.buckets}

    @classmethod
    def of(cls, data: dict[str, Any]) -> Stats:
        """What `as_data` told."""
        stats = cls()
        for name in _COUNTERS:
            told = {tuple(key) if isinstance(key, list) else key: count for key, count in data[name]}
            getattr(stats, name).update(told)
        for name in _NUMBERS:
            setattr(stats, name, data[name])
        stats.buckets = data["buckets"]
        return stats

    def request(self, entry: Entry) -> None:
        """Count an answered request: its status, its credential, its duration."""
        self.requests[entry.status] += 1
        self.seconds += entry.started
        for index, end in enumerate(BUCKETS):
            if entry.started <= end:
                self.buckets[index] += 1
                break
        if entry.label:
            self.authentications["accepted", entry.label] += 1
        elif entry.status == "401":
            self.authentications["refused", ""] += 1
        elif entry.status == "503":
            self.authentications["busy", ""] += 1
