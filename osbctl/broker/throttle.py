"""Two bounded memories: what was decided before, and how much each client has asked lately."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from osbctl.broker.proxy import network_of

Value = TypeVar("Value")


class LruCache(OrderedDict[bytes, Value], Generic[Value]):
    """A mapping that holds at most `limit` keys and forgets the one that was used longest ago."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def put(self, key: bytes, value: Value) -> None:
        """Remember, as the newest."""
        self[key] = value
        self.move_to_end(key)
        if len(self) > self._limit:
            self.popitem(last=False)


@dataclass(slots=True)
class _Client:
    tokens: float
    then: float
    refusals: int = 0


class Clients:
    """Recent cost of each client, as defined by `client_of`; at most `limit` are stored.

    A token bucket each: `burst` unknown passwords at first, `rate` more a second. And a count of refusals, also for
    networks, by which the gate lets those wait who have had most of its time ("least attained service").
    """

    def __init__(
        self, rate: float = 2.0, burst: int = 10, limit: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._limit, self._clock = rate, burst, limit, clock
        self._known: OrderedDict[str, _Client] = OrderedDict()

    def take(self, client: str) -> bool:
        """Take a token of the client; False where it has none left."""
        one, now = self._of(client), self._clock()
        # Filled up when it is looked at, not by a clock of its own.
        one.tokens = min(self._burst, one.tokens + (now - one.then) * self._rate)
        one.then = now
        allowed = one.tokens >= 1
        one.tokens -= allowed
        return allowed

    def refusals(self, client: str) -> int:
        """Refusals since it was last let in; -1 before the first one after that; 0 of who is not known."""
        one = self._known.get(client)
        return one.refusals if one else 0

    def settled(self, client: str, accepted: bool) -> None:
        """A password of the client was right, or wrong."""
        one = self._of(client)
        one.refusals = -1 if accepted else one.refusals + 1
        if not accepted:
            self._of(network_of(client)).refusals += 1

    def rank(self, client: str) -> tuple[int, int]:
        """By which clients are served, the least first: its own refusals, then those of all in its network."""
        return self.refusals(client), self.refusals(network_of(client))

    def _of(self, client: str) -> _Client:
        one = self._known.setdefault(client, _Client(float(self._burst), self._clock()))
        self._known.move_to_end(client)
        if len(self._known) > self._limit:
            self._known.popitem(last=False)
        return one
