"""Words of the command line that may name registered brokers beside sources: `data`, `data@2026-11-01`, `data@-1`."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from osbctl.cli.connection import BrokerConnection
    from osbctl.sources.document import Document


def is_registered(word: str, database: str | None) -> bool:
    """Whether `word` names a registered broker, and no file that exists.

    Raises:
        UsageError, RegistryError: the database that is named cannot be used.
    """
    if os.path.exists(word) or (find_spec("sqlalchemy") is None and not database):  # noqa: PTH110
        return False
    from osbctl.registry import location

    return location.is_registered(word, database)


def read(connection: BrokerConnection, word: str, database: str | None, at: str = "") -> Document:
    """What the registry has stored of the broker that `word` names, else the source that it names.

    Raises:
        OsbctlError: it cannot be read.
    """
    if not is_registered(word, database):
        return connection.read(word, at)
    from osbctl.registry.location import registered
    from osbctl.sources.parse import parse_document

    return parse_document(registered(word, database).catalog, f"{word} (stored)")
