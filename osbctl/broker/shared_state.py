"""State shared by the connections of a listener: limits, rules and counters."""

import logging
import threading
from collections import Counter
from dataclasses import dataclass, field

from osbctl.broker.decision import Authenticate
from osbctl.broker.fairness import Connections
from osbctl.broker.logs import Entry, LineWriter
from osbctl.broker.proxy import ProxyRule
from osbctl.broker.settings import Settings
from osbctl.broker.tls import Tls

_log = logging.getLogger("osbctl.broker")


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


@dataclass
class Shared:
    """State shared by the connections of one listener.

    `authenticate` is None if no password is required, `tls` None for plain HTTP, `proxy` None without a proxy.
    `draining` is set at the end; `threads` are needed until then.
    """

    settings: Settings
    stats: Stats
    authenticate: Authenticate | None = None
    tls: Tls | None = None
    proxy: ProxyRule | None = None
    access_log: LineWriter[Entry] | None = None
    draining: bool = False
    threads: list[threading.Thread] = field(default_factory=list)
    connections: Connections = field(init=False)
    _is_warned: bool = False

    def __post_init__(self) -> None:
        # Behind a proxy, all connections come from the proxy.
        per_client = 0 if self.proxy else self.settings.connections_per_address
        self.connections = Connections(self.settings.connection_limit(), per_client)

    def needs_no_proof(self, peer: str) -> bool:
        """Return whether connections of `peer` count as those of a client with a correct password."""
        return self.authenticate is None or (self.proxy is not None and self.proxy.trusts(peer))

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

    def warn_of_missing_address(self) -> None:
        """Warn once of a proxy that does not name its clients."""
        if not self._is_warned:
            self._is_warned = True
            _log.warning("the proxy sends no X-Forwarded-For: all of its clients count as one, also as guessers")
