"""A bounded cache, and rate limits and ranks of clients."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from osbctl.broker.proxy import network_prefix

Value = TypeVar("Value")


class BoundedCache(OrderedDict[Any, Value]):
    """A mapping of at most `limit` keys that drops the one whose last `put` is longest ago.

    Reads change nothing, so that the main loop can read without a lock while another thread writes.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def put(self, key: Any, value: Value) -> None:
        """Set a value, as the newest."""
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
    """Rate limit and refusals of each client (`client_prefix`); at most `limit` clients are stored.

    A token bucket allows `burst` unknown passwords at first, and `rate` more per second. Refusals are counted for
    clients and networks; they decide the order of the queue ("least attained service").
    """

    def __init__(
        self, rate: float = 2.0, burst: int = 10, limit: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._known: BoundedCache[_Client] = BoundedCache(limit)

    def take_token(self, client: str) -> bool:
        """Take a token of the client, refilling its bucket before; False if it has none left."""
        entry, now = self._get_or_create_client(client), self._clock()
        # Refilled on access.
        entry.tokens = min(self._burst, entry.tokens + (now - entry.then) * self._rate)
        entry.then = now
        allowed = entry.tokens >= 1
        entry.tokens -= allowed
        return allowed

    def refusal_score(self, client: str) -> int:
        """Number of refusals since the last success, minus 1 if there was a success; 0 for an unknown client."""
        entry = self._known.get(client)
        return entry.refusals if entry else 0

    def record_result(self, client: str, accepted: bool) -> None:
        """Count a correct or wrong password."""
        entry = self._get_or_create_client(client)
        entry.refusals = -1 if accepted else entry.refusals + 1
        if not accepted:
            self._get_or_create_client(network_prefix(client)).refusals += 1

    def queue_rank(self, client: str) -> tuple[int, int]:
        """Sort key of a client in the queue, the lowest first: its own refusals, then those of its network."""
        return self.refusal_score(client), self.refusal_score(network_prefix(client))

    def _get_or_create_client(self, client: str) -> _Client:
        entry = self._known.get(client) or _Client(float(self._burst), self._clock())
        self._known.put(client, entry)
        return entry
