"""A catalog by the word that names it: a source, or a broker's address."""

from __future__ import annotations

from typing import Any

from osbctl.cli.connection import BrokerConnection, is_address
from osbctl.cli.output import note
from osbctl.sources.document import Document
from osbctl.sources.limits import Limits
from osbctl.sources.read import read_source


def read_catalog(word: str, **where: Any) -> Document:
    """Read the source `word` as `read_source` does, with its options.

    Where the catalog was found is said on standard error, if that is not the top.
    """
    return announced(read_source(word, **where))


def read_addressed(connection: BrokerConnection, word: str, at: str = "") -> Document:
    """Read the catalog of the broker at the address `word`, else the one in the source that it names, there at `at`.

    Raises:
        OsbctlError: it cannot be read.
    """
    if is_address(word):
        return connection.read(word)
    return read_catalog(word, limits=Limits(bytes=connection.max_bytes), at=at)


def announced(document: Document) -> Document:
    """The same; what there is to say of where it was found is said."""
    if document.read_as:
        note(document.read_as)
    return document
