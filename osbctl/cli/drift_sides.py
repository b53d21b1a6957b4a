"""Where the words of `osbctl drift` lead: to files, addresses and names in the registry."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Option

from osbctl.cli import options as common
from osbctl.cli.output import note
from osbctl.cli.sources import NamedSources
from osbctl.errors import UsageError
from osbctl.sources.exports.read import StoredAs

if TYPE_CHECKING:
    from osbctl.sources.document import Document
    from osbctl.sources.exports.merge import StoredCatalog
    from osbctl.tasks.reach import Reach


@dataclass(frozen=True, slots=True)
class Sides(NamedSources):
    """Finds the two sides as the options say."""

    stored_as: Annotated[StoredAs | None, Option(help="What STORED is.  [default: by its content]")] = None
    stored_broker: Annotated[str, Option(metavar="NAME", help="The broker, where the export holds several.")] = ""
    credentials: common.Credentials = None

    def find(self, broker: str | None, stored: list[str]) -> tuple[StoredCatalog, Document]:
        """What is stored, and the broker's catalog, each as the words of the command line name it.

        Raises:
            OsbctlError: a side cannot be read.
        """
        from osbctl.tasks.drift import registered_catalog, stored_in_registry

        if broker is None:
            raise UsageError("name a broker, or --all", "osbctl drift BROKER STORED...")
        self.connection.check_stdin(broker, *stored)
        known = self._names_one(broker, among_files=bool(stored))
        if not stored and not known:
            raise UsageError(
                f"no registered broker {_shown(broker)}, and no STORED is named", "osbctl drift BROKER STORED..."
            )
        if not known:
            return self._stored(stored), self.connection.read(broker)
        ours = self.registered(broker)
        kept = self._stored(stored) if stored else stored_in_registry(ours)
        return kept, registered_catalog(ours, self.reach(single=True))

    def reach(self, *, single: bool) -> Reach:
        """How registered brokers are reached; `single` as in `Passwords`.

        Raises:
            UsageError: the options do not suit registered brokers.
        """
        from osbctl.cli.brokers.passwords import Passwords
        from osbctl.tasks.reach import Reach

        options = self.connection
        self.refuse_user()
        passwords = Passwords(stdin=options.password_stdin, credentials=self.credentials, single=single)
        return Reach(options.how.access(max_bytes=options.max_bytes), passwords.of, note)

    def refuse_user(self) -> None:
        """Raise a UsageError where a user is named beside a registered broker."""
        if self.connection.user:
            raise UsageError("a registered broker has a user of its own", "leave --user out")

    def _stored(self, words: list[str]) -> StoredCatalog:
        from osbctl.sources.exports.read import read_documents, stored_catalog
        from osbctl.sources.limits import Limits
        from osbctl.tasks.drift import stored_in_registry

        if len(words) == 1 and self.stored_as is None and self._names_one(words[0]):
            return stored_in_registry(self.registered(words[0]))
        limits = Limits(bytes=self.connection.max_bytes)
        documents = [document for word in words for document in read_documents(word, limits)]
        return stored_catalog(documents, self.stored_as, self.stored_broker)

    def _names_one(self, word: str, *, among_files: bool = True) -> bool:
        """Whether `word` names a registered broker and is no address; `among_files`: nor a file that exists."""
        from osbctl.registry.location import is_missing, is_registered

        is_file = os.path.exists(word)  # noqa: PTH110
        if among_files and is_file:
            return False
        if (among_files or is_file) and is_missing(self.database):  # files can be compared without a registry
            return False
        return is_registered(word, self.database)


def _shown(word: str) -> str:
    # An address may hold a password.
    return "at an address" if "://" in word else repr(word)
