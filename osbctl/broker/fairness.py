"""The order of service: which client is next and why, and which connection is closed if there is no room.

Two things are short: CPU time of the main loop, and hashes of passwords. Each goes to the client that has used least of
it lately: a new client comes first, and one that asks for much only delays itself.

The main loop serves connections in steps (`Scheduler`). Connections wait in the share of their client, an address: one
share for those with a correct password, one for the others. The share that has spent least is served for a slice of
time, then the next; the time that its steps took is charged to it. A correct password makes time cheap. Within a share,
new connections come first, then each in turn: so a new one is served among many of its own address.

Passwords wait in a queue of their own (`PasswordQueue` of `osbctl.broker.authenticator`).
"""

import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeVar

_log = logging.getLogger("osbctl.broker")
Value = TypeVar("Value")

TURN_SECONDS = 0.010  # CPU time between two looks at the sockets, and so the wait of a new client at each of its steps
SLICE_SECONDS = 0.001  # CPU time for a share before the next one is chosen; a step that has begun ends
NEW_CONNECTION_SECONDS = 0.005  # CPU time until a connection is no longer new; a handshake and a request take 1 ms
HALF_LIFE_SECONDS = 5.0  # CPU time that was used so long ago counts half
PROVEN_WEIGHT = 1 / 16  # part of the CPU time of connections with a correct password that is charged

KNOWN_CLIENTS = 10_000  # whose use and guesses are remembered


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


class Usage:
    """An amount of something that was used, of which half is forgotten after each `half_life` (seconds)."""

    __slots__ = ("_amount", "_half_life", "_then")

    def __init__(self, half_life: float) -> None:
        self._amount, self._then, self._half_life = 0.0, 0.0, half_life

    def at(self, now: float) -> float:
        return self._amount * 0.5 ** ((now - self._then) / self._half_life) if self._amount else 0.0

    def add(self, amount: float, now: float) -> None:
        self._amount, self._then = self.at(now) + amount, now

    def set(self, amount: float, now: float = 0.0) -> None:
        self._amount, self._then = amount, now


class Share:
    """The connections of a client that have, or have not, shown a correct password (`proven`).

    `connections` is in order of arrival; `waiting_new` and `waiting` are those that can go on.
    """

    __slots__ = ("connections", "is_queued", "proven", "used", "waiting", "waiting_new")

    def __init__(self, *, proven: bool) -> None:
        self.proven, self.used, self.is_queued = proven, Usage(HALF_LIFE_SECONDS), False
        self.connections: dict[Any, None] = {}
        self.waiting_new: deque[Any] = deque()
        self.waiting: deque[Any] = deque()


class Scheduler:
    """The queue of connections (`osbctl.broker.channel.Channel`) that can go on.

    `now` is the monotonic time of this turn, `cpu_clock` the CPU time of the main loop: that of other programs is
    charged to no client.
    """

    def __init__(self, cpu_clock: Callable[[], float] = time.thread_time) -> None:
        self.now = time.monotonic()
        self._cpu_clock = cpu_clock
        self._queue: list[tuple[float, int, Share]] = []
        self._numbers = count()  # of equal shares, the one that has waited longest comes first
        self._woken: deque[Any] = deque()

    @property
    def is_idle(self) -> bool:
        return not self._queue and not self._woken

    def wake(self, connection: Any) -> None:
        """Queue a connection whose request has been decided. From any thread."""
        self._woken.append(connection)

    def add(self, connection: Any) -> None:
        """Queue a connection, unless it waits already."""
        if connection.waits:
            return
        connection.waits = True
        share: Share = connection.share
        (share.waiting_new if connection.spent < NEW_CONNECTION_SECONDS else share.waiting).append(connection)
        if not share.is_queued:
            self._push(share)

    def _push(self, share: Share) -> None:
        share.is_queued = True
        heappush(self._queue, (share.used.at(self.now), next(self._numbers), share))

    def run_turn(self) -> None:
        """Serve those who wait, for at most `TURN_SECONDS` and the rest of a slice."""
        self.now = time.monotonic()
        while self._woken:
            self.add(self._woken.popleft())
        now = self._cpu_clock()
        end = now + TURN_SECONDS
        while self._queue and now < end:
            now = self._serve(heappop(self._queue)[2], now)

    def _serve(self, share: Share, began: float) -> float:
        """Serve a share for a slice; returns the CPU time at its end."""
        now = began
        while now < began + SLICE_SECONDS and (share.waiting_new or share.waiting):
            connection = (share.waiting_new or share.waiting).popleft()
            connection.waits = False
            try:
                goes_on = connection.run_step()
            except Exception:  # nothing may end the main loop
                _log.exception("a request failed outside of the application")
                connection.handle_close()
                goes_on = False
            before, now = now, self._cpu_clock()
            connection.spent += now - before
            if goes_on:
                self.add(connection)
        share.used.add((now - began) * (PROVEN_WEIGHT if share.proven else 1), self.now)
        share.is_queued = False
        if share.waiting_new or share.waiting:
            self._push(share)
        return now


class Client:
    """The two shares of a client (`client_prefix`)."""

    __slots__ = ("proven", "unproven")

    def __init__(self) -> None:
        self.unproven, self.proven = Share(proven=False), Share(proven=True)

    @property
    def connection_count(self) -> int:
        return len(self.unproven.connections) + len(self.proven.connections)


class Connections:
    """Open connections: at most `limit`, and `per_client` of one client (0: no limit)."""

    def __init__(self, limit: int, per_client: int = 0) -> None:
        self.limit, self.per_client = limit, per_client
        self.all: dict[Any, None] = {}
        """In order of arrival."""
        self._clients: dict[str, Client] = {}
        self._former: BoundedCache[Client] = BoundedCache(KNOWN_CLIENTS)
        """Clients without a connection: what they used still counts."""

    @property
    def free_count(self) -> int:
        return self.limit - len(self.all)

    def find_client(self, name: str) -> Client:
        """Find or create the client of this name (`client_prefix`)."""
        return self._clients.get(name) or self._former.get(name) or Client()

    def has_reached_limit(self, client: Client) -> bool:
        return 0 < self.per_client <= client.connection_count

    def add(self, connection: Any, *, proven: bool) -> None:
        """Add a connection; a `proven` one needs no password of its own."""
        client = self._clients[connection.client_name] = connection.client
        self._former.pop(connection.client_name, None)
        connection.share = client.proven if proven else client.unproven
        connection.share.connections[connection] = self.all[connection] = None

    def prove(self, connection: Any) -> None:
        """Move a connection that has shown a correct password; what its client spent before that is forgiven."""
        if not connection.share.proven:
            client: Client = connection.client
            del client.unproven.connections[connection]
            client.unproven.used.set(0)
            connection.share = client.proven
            client.proven.connections[connection] = None

    def remove(self, connection: Any) -> None:
        if connection in self.all:
            del self.all[connection], connection.share.connections[connection]
            if not connection.client.connection_count:
                self._former.put(connection.client_name, self._clients.pop(connection.client_name))

    def choose_eviction(self, client: Client | None = None) -> Any | None:
        """Choose the connection to close in favour of a new one of this client, or of any. None if all must stay.

        Of the share with most connections without a correct password: the oldest that waits for its peer, else the
        oldest. The only connection of a client is spared while it is young. If all are proven, the oldest idle one.
        """
        shares = [client.unproven] if client else [each.unproven for each in self._clients.values()]
        crowd = max(shares, key=lambda share: len(share.connections), default=None)
        if crowd and len(crowd.connections) > 1:
            return next((each for each in crowd.connections if each.awaits_peer), next(iter(crowd.connections)))
        if client:
            return None
        unproven = [each for each in self.all if not each.share.proven]
        if unproven:
            return next((each for each in unproven if not each.is_spared), None)
        return next((each for each in self.all if each.awaits_peer), None)
