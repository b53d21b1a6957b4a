"""Words of the command line that may name registered brokers beside sources: `data`, `data@2026-11-01`, `data@-1`."""

from __future__ import annotations

from dataclasses import dataclass

from osbctl.cli import options as common
from osbctl.cli.connection import BrokerConnection
from osbctl.registry.location import stored
from osbctl.sources.document import Document


@dataclass(frozen=True, slots=True)
class NamedSources:
    """The options by which a word leads to a catalog: in the registry, at an address, or in a source."""

    connection: BrokerConnection
    database: common.Database = None

    def read(self, word: str, at: str = "") -> Document:
        """What the registry has stored of the broker that `word` names, else the source or address that it names.

        Raises:
            OsbctlError: it cannot be read.
        """
        return stored(word, self.database) or self.connection.read(word, at)
