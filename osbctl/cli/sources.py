"""A catalog by the word that names it: a source, a broker's address, or a registered broker (`data`, `data@-1`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from osbctl.cli import options as common
from osbctl.cli.connection import BrokerConnection, is_address
from osbctl.cli.output import note
from osbctl.registry.location import stored
from osbctl.sources.document import Document
from osbctl.sources.limits import Limits
from osbctl.sources.read import read_source


def read_catalog(word: str, *, database: str | None = None, **where: Any) -> Document:
    """What the registry has stored of the broker that `word` names, else what `read_source` reads, with its options.

    Where it was found is said on standard error, if that is not its top.
    """
    return stored(word, database) or announced(read_source(word, **where))


def announced(document: Document) -> Document:
    """The same; what there is to say of where it was found is said."""
    if document.read_as:
        note(document.read_as)
    return document


@dataclass(frozen=True, slots=True)
class NamedSources:
    """The options by which a word leads to a catalog: in the registry, at an address, or in a source."""

    connection: BrokerConnection
    database: common.Database = None

    def read(self, word: str, at: str = "") -> Document:
        """What the registry has stored of the broker that `word` names, else as `read_unregistered`."""
        return stored(word, self.database) or self.read_unregistered(word, at)

    def read_unregistered(self, word: str, at: str = "") -> Document:
        """The catalog of the broker at the address `word`, else the one in the source that it names, there at `at`.

        Raises:
            OsbctlError: it cannot be read.
        """
        if is_address(word):
            return self.connection.read(word)
        return announced(read_source(word, limits=Limits(bytes=self.connection.max_bytes), at=at))
