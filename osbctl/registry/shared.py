"""What registered brokers have in common that a platform wants to be one broker's alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.platforms.together import sentences, shared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.registry.store import Registry


def shared_identities(registry: Registry, names: set[str]) -> Iterator[str]:
    """A sentence for each kind of id or name that a broker of `names` shares with another that is registered.

    Reads each stored catalog once. Brokers for different platforms do not meet.
    """
    rows = sorted(registry.brokers(), key=lambda row: row.id)  # the first to be registered comes first
    for platform in sorted({row.platform for row in rows if row.name in names}):
        ours = [row.name for row in rows if row.platform is platform]
        if len(ours) > 1:
            catalogs = ((name, registry.broker(name).offered) for name in ours)
            yield from sentences([one for one in shared(catalogs) if names & {one.first, one.second}], (platform,))
