"""Places for connections: how many there are, who holds them, and who goes when all are taken."""

from __future__ import annotations

from collections import Counter
from typing import Any


class Places:
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
