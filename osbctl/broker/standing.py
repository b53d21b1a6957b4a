"""How a process stands: what it has counted, and what it has in hand at this moment."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from osbctl.broker.stats import Stats

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Standing:
    """One process, or the sum of several.

    `waiting` counts requests that wait for their password; `days_left` are the certificate's, None without one.
    `catalogs` are the tags of what is served, each with the time of its last change (seconds since 1970): one, but for
    the moment of a reload. `why_not` says why it is not ready to serve; empty where it is.
    """

    stats: Stats = field(default_factory=Stats)
    connections: int = 0
    waiting: int = 0
    days_left: float | None = None
    catalogs: tuple[tuple[str, int], ...] = ()
    why_not: str = ""

    def as_json(self) -> bytes:
        """The form in which a worker tells its parent."""
        told = {name: getattr(self, name) for name in ("connections", "waiting", "days_left", "catalogs", "why_not")}
        return json.dumps({**told, "stats": self.stats.as_data()}).encode()

    @classmethod
    def of(cls, message: bytes) -> Standing:
        """What `as_json` told."""
        data = json.loads(message)
        catalogs = tuple((etag, modified) for etag, modified in data.pop("catalogs"))
        return cls(stats=Stats.of(data.pop("stats")), catalogs=catalogs, **data)


def together(standings: Iterable[Standing]) -> Standing:
    """The sum. The certificate that ends first counts, and the first reason not to be ready."""
    found = list(standings)
    stats = Stats()
    for one in found:
        stats.add(one.stats)
    return Standing(
        stats,
        sum(one.connections for one in found),
        sum(one.waiting for one in found),
        min((one.days_left for one in found if one.days_left is not None), default=None),
        tuple(dict.fromkeys(catalog for one in found for catalog in one.catalogs)),
        next((one.why_not for one in found if one.why_not), ""),
    )
