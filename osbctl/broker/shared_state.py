"""State shared by the connections of a listener: limits, rules and counters."""

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from osbctl.broker.decision import Authenticate
from osbctl.broker.logs import Entry, LineWriter
from osbctl.broker.proxy import ProxyRule
from osbctl.broker.settings import Settings
from osbctl.broker.tls import Tls


@dataclass
class Stats:
    """Counters for metrics. Written by the main loop (reloads: by the watcher), read by any thread without locks."""

    requests: Counter[str] = field(default_factory=Counter)
    authentications: Counter[tuple[str, str]] = field(default_factory=Counter)
    reloads: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: float = 0.0
    handshakes_failed: int = 0
    rejected: int = 0
    cut: int = 0


class ConnectionSlots:
    """Open connections (`osbctl.broker.channel.Channel`), at most `limit`, `per_client` of a client (0: no limit)."""

    def __init__(self, limit: int, per_client: int = 0) -> None:
        self.limit, self.per_client = limit, per_client
        self.channels: dict[Any, None] = {}
        """In order of arrival."""
        self.counts: Counter[str] = Counter()

    @property
    def free_count(self) -> int:
        return self.limit - len(self.channels)

    def has_reached_limit(self, client: str) -> bool:
        """Return whether a client (`client_prefix`) has reached its limit."""
        return 0 < self.per_client <= self.counts[client]

    def add(self, channel: Any) -> None:
        self.channels[channel] = None
        self.counts[channel.client] += 1

    def remove(self, channel: Any) -> None:
        if channel in self.channels:
            del self.channels[channel]
            self.counts[channel.client] -= 1
            if not self.counts[channel.client]:
                del self.counts[channel.client]

    def choose_evictions(self, count: int) -> list[Any]:
        """Choose at most `count` connections to close in favour of new ones.

        Unauthenticated ones, beginning with the oldest of the client that has most; the only connection of a client
        is spared during its grace period. If all are authenticated, the oldest idle ones.
        """
        unauthenticated = [channel for channel in self.channels if not channel.authenticated]
        if not unauthenticated:
            return [channel for channel in self.channels if channel.awaits_request][:count]
        evictable = [each for each in unauthenticated if self.counts[each.client] > 1 or not each.spared_from_eviction]
        evictable.sort(key=lambda channel: -self.counts[channel.client])
        return evictable[:count]


@dataclass
class Shared:
    """State shared by the connections of one listener.

    `authenticate` is None if no credentials are required, `tls` None for plain HTTP, `proxy` None without a proxy.
    `draining` is set at the end; `threads` are needed until then; `steps` counts those of each client's unauthenticated
    connections in this turn.
    """

    settings: Settings
    stats: Stats
    authenticate: Authenticate | None = None
    tls: Tls | None = None
    proxy: ProxyRule | None = None
    access_log: LineWriter[Entry] | None = None
    draining: bool = False
    threads: list[threading.Thread] = field(default_factory=list)
    steps: Counter[str] = field(default_factory=Counter)
    slots: ConnectionSlots = field(init=False)

    def __post_init__(self) -> None:
        # Behind a proxy, all connections come from the proxy.
        per_client = 0 if self.proxy else self.settings.connections_per_address
        self.slots = ConnectionSlots(self.settings.connection_limit(), per_client)

    def record_request(self, entry: Entry, sent_bytes: int) -> None:
        """Finalize the entry of an answered request, count the request and log it."""
        entry.finalize(sent_bytes)
        stats, decision = self.stats, entry.decision
        stats.requests[entry.status] += 1
        stats.seconds += entry.duration
        if decision is not None:
            stats.authentications[decision.outcome, decision.label] += 1
        if self.access_log is not None:
            self.access_log.add(entry)
