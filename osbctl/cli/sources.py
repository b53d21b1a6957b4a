"""Words of the command line that may name registered brokers beside sources: `data`, `data@2026-11-01`, `data@-1`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated

from typer import Argument

from osbctl.cli import options as common
from osbctl.cli.connection import BrokerConnection
from osbctl.sources.document import Document

REGISTERED = "what the registry has of a broker: NAME, NAME@2026-11-01, NAME@-1."
_SOURCE = f"A JSON or YAML file, a source folder, - for standard input, REV:path for a file in git, or {REGISTERED}"
Source = Annotated[str, Argument(metavar="SOURCE", help=_SOURCE, show_default=False)]


def from_registry(word: str, database: str | None) -> Document | None:
    """What the registry has stored of the broker that `word` names; None where it names none.

    Raises:
        OsbctlError: it cannot be read.
    """
    if not is_registered(word, database):
        return None
    from osbctl.registry.location import registered
    from osbctl.sources.parse import parse_document

    return parse_document(registered(word, database).catalog, f"{word} (stored)")


def is_registered(word: str, database: str | None) -> bool:
    """Whether `word` names a registered broker, and no file that exists.

    Raises:
        UsageError, RegistryError: the database that is named cannot be used.
    """
    # Whoever never installed the registry can name files all the same.
    if os.path.exists(word) or (find_spec("sqlalchemy") is None and not database):  # noqa: PTH110
        return False
    from osbctl.registry import location

    return location.is_registered(word, database)


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
        return from_registry(word, self.database) or self.connection.read(word, at)
