"""A bounded cache, and rate limits and ranks of clients."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from osbctl.broker.proxy import network_of

Value = TypeVar("Value")


class LruCache(OrderedDict[Any, Value]):
    """A mapping of at most `limit` keys that drops the least recently used one."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def put(self, key: Any, value: Value) -> None:
        """Set a value, as the most recent."""
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
    """Rate limit and refusals of each client (`client_of`); at most `limit` clients are stored.

    A token bucket allows `burst` unknown passwords at first, and `rate` more per second. Refusals are counted for
    clients and networks; they decide the order of the queue ("least attained service").
    """

    def __init__(
        self, rate: float = 2.0, burst: int = 10, limit: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._known: LruCache[_Client] = LruCache(limit)

    def take(self, client: str) -> bool:
        """Take a token of the client; False if it has none left."""
        one, now = self._entry(client), self._clock()
        # Refilled on access.
        one.tokens = min(self._burst, one.tokens + (now - one.then) * self._rate)
        one.then = now
        allowed = one.tokens >= 1
        one.tokens -= allowed
        return allowed

    def refusals(self, client: str) -> int:
        """Number of refusals since the last success, minus 1 if there was a success; 0 for an unknown client."""
        one = self._known.get(client)
        return one.refusals if one else 0

    def record_result(self, client: str, accepted: bool) -> None:
        """Count a correct or wrong password."""
        one = self._entry(client)
        one.refusals = -1 if accepted else one.refusals + 1
        if not accepted:
            self._entry(network_of(client)).refusals += 1

    def rank(self, client: str) -> tuple[int, int]:
        """Sort key of a client in the queue: its own refusals, then those of its network."""
        return self.refusals(client), self.refusals(network_of(client))

    def _entry(self, client: str) -> _Client:
        one = self._known.get(client) or _Client(float(self._burst), self._clock())
        self._known.put(client, one)
        return one
