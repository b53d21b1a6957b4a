"""A loaded catalog. The process that loads it needs nothing else of this package."""

from __future__ import annotations

from typing import NamedTuple


class LoadedCatalog(NamedTuple):
    """A validated catalog: JSON in UTF-8, numbers of services and plans; `read_as` as in `Document`."""

    body: bytes
    services: int
    plans: int
    read_as: str = ""
