"""State that the connections of one listener share: limits, rules, counters, and the state of the process."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from osbctl.broker.decision import Ask
from osbctl.broker.logs import AccessLog, Entry
from osbctl.broker.proxy import ProxyRule
from osbctl.broker.settings import Settings
from osbctl.broker.tls import Tls

BUCKETS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5)
"""Upper ends of the histogram of durations, in seconds."""


@dataclass
class Stats:
    """Written by the main loop (reloads: by the watcher), read by any thread; no locks are needed."""

    requests: Counter[str] = field(default_factory=Counter)
    authentications: Counter[tuple[str, str]] = field(default_factory=Counter)
    reloads: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * len(BUCKETS))
    handshakes_failed: int = 0
    turned_away: int = 0
    cut: int = 0

    def request(self, entry: Entry) -> None:
        """Count an answered request: its status, its credential, its duration."""
        self.requests[entry.status] += 1
        self.seconds += entry.started
        index = bisect_left(BUCKETS, entry.started)
        if index < len(BUCKETS):
            self.buckets[index] += 1
        if entry.decision is not None:
            self.authentications[entry.decision.outcome, entry.decision.label] += 1


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """State of the process.

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


class ConnectionSlots:
    """The connections (`osbctl.broker.channel.Channel`) of listeners that share one limit. `each` is the limit of a
    client, 0 for none.
    """

    def __init__(self, limit: int, each: int = 0) -> None:
        self.limit, self.each = limit, each
        self.holders: dict[Any, None] = {}
        """In the order in which they came."""
        self.held: Counter[str] = Counter()

    @property
    def free(self) -> int:
        """Number of free places."""
        return self.limit - len(self.holders)

    def full(self, client: str) -> bool:
        """Return whether a client (see `client_of`) has as many connections as it may."""
        return 0 < self.each <= self.held[client]

    def enter(self, holder: Any) -> None:
        self.holders[holder] = None
        self.held[holder.client] += 1

    def leave(self, holder: Any) -> None:
        if holder in self.holders:
            del self.holders[holder]
            self.held[holder.client] -= 1
            if not self.held[holder.client]:
                del self.held[holder.client]

    def first_to_go(self, count: int) -> list[Any]:
        """Those whose places others get, `count` at most.

        First who has shown no right password: of the client with most such connections the oldest, and so on; an
        answer of 401 costs nothing, so asking buys no place. The only one of a client is left until it had time to ask.
        Who has shown a right password and is idle goes while three quarters of the places are with their like.
        """
        newer: Counter[str] = Counter()
        unproven, idle = [], []
        for number, holder in enumerate(reversed(self.holders)):
            if not holder.proven:
                others, newer[holder.client] = newer[holder.client], newer[holder.client] + 1
                if others or not holder.settling:
                    unproven.append((-others, -number, holder))
            elif holder.silent_since is not None:
                idle.append((holder.silent_since, number, holder))
        going = [holder for *_, holder in sorted(unproven)]
        if newer.total() <= self.limit // 4:
            going += [holder for *_, holder in sorted(idle)]
        return going[:count]


@dataclass
class Shared:
    """`ask` is the gate (None: no credentials required), `tls` None for a plain listener, `proxy` the rule behind one.

    `draining` is set at the end; `steps` counts those of each client without a right password in this turn of the loop.
    """

    settings: Settings
    stats: Stats
    ask: Ask | None = None
    tls: Tls | None = None
    proxy: ProxyRule | None = None
    access_log: AccessLog | None = None
    draining: bool = False
    steps: Counter[str] = field(default_factory=Counter)
    places: ConnectionSlots = field(init=False)

    def __post_init__(self) -> None:
        # Behind a proxy all connections are the proxy's.
        each = 0 if self.proxy else self.settings.connections_per_address
        self.places = ConnectionSlots(self.settings.connection_limit(), each)

    def answered(self, entry: Entry, sent_bytes: int) -> None:
        """An answer was sent, or cut: count and log it."""
        entry.close(sent_bytes)
        self.stats.request(entry)
        if self.access_log is not None:
            self.access_log.add(entry)
