"""Two bounded memories: what was decided before, and how much an address has asked lately."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")


class Remembered(OrderedDict[bytes, Value], Generic[Value]):
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


class Buckets:
    """A token bucket for each address: `burst` tokens at first, `rate` more each second.

    An IPv6 client owns a /64 and is counted by it. At most `limit` addresses are remembered.
    """

    def __init__(
        self,
        rate: float = 2.0,
        burst: int = 10,
        limit: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate, self._burst, self._limit, self._clock = rate, burst, limit, clock
        self._tokens: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> bool:
        """Take a token of the address; False where it has none left."""
        who, now = _network(address), self._clock()
        tokens, then = self._tokens.pop(who, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        allowed = tokens >= 1
        self._tokens[who] = (tokens - allowed, now)
        if len(self._tokens) > self._limit:
            self._tokens.popitem(last=False)
        return allowed


def _network(address: str) -> str:
    if ":" not in address:
        return address
    from ipaddress import IPv6Address

    try:
        parsed = IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    # An IPv4 client of a dual-stack socket is one address, not a neighbour of all the others.
    return str(parsed.ipv4_mapped) if parsed.ipv4_mapped else f"{int(parsed) >> 64:x}/64"
