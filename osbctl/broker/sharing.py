"""What the connections of one listener share: limits and rules, and where they count and log."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from osbctl.broker.access_log import AccessLog, Entry
    from osbctl.broker.decision import Ask
    from osbctl.broker.proxy import ProxyRule
    from osbctl.broker.settings import Settings
    from osbctl.broker.stats import Stats
    from osbctl.broker.tls import Tls


@dataclass
class Shared:
    """`ask` is the gate (None: whoever asks is answered), `tls` None for a plain listener, `proxy` the rule behind one.

    `held` counts the connections of each client, `draining` is set at the end, `handshakes_left` each turn of the loop.
    """

    settings: Settings
    stats: Stats
    ask: Ask | None = None
    tls: Tls | None = None
    proxy: ProxyRule | None = None
    access_log: AccessLog | None = None
    held: Counter[str] = field(default_factory=Counter)
    draining: bool = False
    handshakes_left: int = 0

    def full(self, client: str) -> bool:
        """Whether a client (see `client_of`) has as many connections as it may. Behind a proxy there is no limit."""
        limit = self.settings.connections_per_address
        return 0 < limit <= self.held[client] and self.proxy is None

    def leave(self, client: str) -> None:
        """A connection of the client has ended."""
        self.held[client] -= 1
        if self.held[client] <= 0:
            del self.held[client]

    def answered(self, entry: Entry, sent_bytes: int) -> None:
        """An answer was sent, or cut: count and log it."""
        done = entry.close(sent_bytes)
        self.stats.request(done)
        if self.access_log is not None:
            self.access_log.add(done)
