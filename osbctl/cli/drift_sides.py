"""The two sides of `osbctl drift`: where the words lead, and what comes of comparing them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from osbctl.cli.connection import is_address, read_answer
from osbctl.errors import UsageError
from osbctl.platforms import Platform
from osbctl.reports.changes import DRIFT

if TYPE_CHECKING:
    from osbctl.changes import Change
    from osbctl.cli.brokers.reaching import Reach
    from osbctl.cli.connection import Connection
    from osbctl.registry.records import BrokerRow, RegisteredBroker
    from osbctl.reports.changes import DiffReport
    from osbctl.sources.document import Document
    from osbctl.sources.exports.read import StoredAs
    from osbctl.sources.exports.stored import StoredCatalog


@dataclass(frozen=True, slots=True)
class Found:
    """What was found: the names of both sides, the changes, and what else there is to know, a sentence each."""

    old: str
    new: str
    changes: list[Change]
    notes: list[str]

    def complete(self, report: DiffReport) -> DiffReport:
        """`report` in the words of drift, with the notes."""
        return replace(report, words=DRIFT, notes=self.notes)


@dataclass(frozen=True, slots=True)
class Reaching:
    """The options that say how a broker is reached."""

    connection: Connection
    credentials: str | None
    database: str | None

    def at_address(self, url: str) -> Document:
        """The catalog of the broker at `url`.

        Raises:
            SourceError: there is none to be had.
        """
        return self.connection.document(url)

    def reach(self, *, single: bool) -> Reach:
        """How registered brokers are reached; `single` as in `Passwords`.

        Raises:
            UsageError: the options do not suit registered brokers.
        """
        from osbctl.cli.brokers.passwords import Passwords
        from osbctl.cli.brokers.reaching import Reach, make_access

        options = self.connection
        if options.user:
            raise UsageError("a registered broker has a user of its own", "leave --user out")
        access = make_access(options.ca_file, options.client_cert, options.insecure, options.timeout)
        passwords = Passwords(stdin=options.password_stdin, credentials=self.credentials, single=single)
        return Reach(replace(access, max_bytes=options.max_bytes), passwords)

    def registered(self, row: BrokerRow, reach: Reach) -> Document:
        """The catalog of a registered broker; errors as `at_address`."""
        # No tag is sent: whether the broker's answer is what is stored is the very question.
        answer = reach.fetch(row, "")
        assert answer
        return read_answer(answer, self.connection.max_bytes)

    def documents(self, word: str) -> list[Document]:
        """What a source holds that is an export, or a part of one, or a catalog."""
        from osbctl.sources.exports.files import read_documents
        from osbctl.sources.limits import Limits

        return read_documents(word, Limits(bytes=self.connection.max_bytes))

    def source(self, word: str) -> Document:
        """The catalog in a source."""
        from osbctl.sources.limits import Limits
        from osbctl.sources.read import read_source

        return read_source(word, limits=Limits(bytes=self.connection.max_bytes))

    def names_one(self, word: str, *, among_files: bool = True) -> bool:
        """Whether `word` names a registered broker and is no address; `among_files`: nor a file that exists."""
        from osbctl.cli.brokers.options import is_registered

        if word == "-" or ":" in word or (among_files and os.path.exists(word)):  # noqa: PTH110
            return False
        return is_registered(word, self.database)

    def from_registry(self, name: str) -> RegisteredBroker:
        """What the registry has of the broker `name`."""
        from osbctl.cli.brokers.options import open_registry

        with open_registry(self.database) as registry:
            return registry.broker(name)


@dataclass(frozen=True, slots=True)
class Sides:
    """Finds and compares the two sides as the options say.

    `instances_file` is where `instances` came from, empty where they may be those of other brokers, too.
    """

    reaching: Reaching
    platforms: list[Platform] | None
    instances: frozenset[str] | None
    stored_as: StoredAs | None
    stored_broker: str
    instances_file: str = ""

    def find(self, broker: str | None, stored: list[str]) -> Found:
        """The drift between the broker and what is stored, each as the words of the command line name it.

        Raises:
            OsbctlError: a side cannot be read.
        """
        if broker is None:
            raise UsageError("name a broker, or --all", "osbctl drift BROKER STORED...")
        if [broker, *stored, "-" if self.reaching.connection.password_stdin else ""].count("-") > 1:
            raise UsageError("standard input can be one thing only", "name files for the others")
        known = self.reaching.names_one(broker, among_files=bool(stored))
        if not stored and not known:
            raise UsageError(
                f"no registered broker {_shown(broker)}, and no STORED is named", "osbctl drift BROKER STORED..."
            )
        kept = self._stored(stored) if stored else stored_in_registry(self.reaching.from_registry(broker))
        if known:
            row = self.reaching.from_registry(broker).row
            return self.compare(kept, self.reaching.registered(row, self.reaching.reach(single=True)))
        at_hand = self.reaching.at_address if is_address(broker) else self.reaching.source
        return self.compare(kept, at_hand(broker))

    def compare(self, kept: StoredCatalog, broker: Document) -> Found:
        """The drift between two sides that are at hand."""
        from osbctl.cli.diff import now_refused
        from osbctl.comparison.drift.find import find_drift, notes
        from osbctl.comparison.places import with_places

        view = self._view(kept)
        told = [*notes(kept, broker.data), *self._doubts(kept.document, broker)]
        if kept.without_secrets:
            broker = _without_secrets(broker, told)
        changes = find_drift(kept, broker.data, platforms=view, instances=self.instances)
        if changes:
            changes += now_refused(kept.document.data, broker.data, changes, view)
        placed = with_places(changes, kept.document, broker)
        return Found(kept.document.name, broker.name, placed, told)

    def _doubts(self, *sides: Document) -> list[str]:
        from osbctl.catalog import Catalog
        from osbctl.comparison.instances import doubts

        if not (self.instances and self.instances_file):
            return []
        plans = {plan.id for side in sides for plan in Catalog.of(side.data).plans}
        return list(filter(None, [doubts(self.instances, plans, self.instances_file)]))

    def _stored(self, words: list[str]) -> StoredCatalog:
        from osbctl.sources.exports.read import stored_catalog

        if len(words) == 1 and self.stored_as is None and self.reaching.names_one(words[0]):
            return stored_in_registry(self.reaching.from_registry(words[0]))
        documents = [document for word in words for document in self.reaching.documents(word)]
        return stored_catalog(documents, self.stored_as, self.stored_broker)

    def _view(self, stored: StoredCatalog) -> frozenset[Platform]:
        if stored.shape and self.platforms and set(self.platforms) != {stored.platform}:
            raise UsageError(f"this is an export of {stored.shape.platform.label}", "leave --platform out")
        if self.platforms:
            return frozenset(self.platforms)
        return frozenset(Platform if stored.platform is None else {stored.platform})


def _without_secrets(broker: Document, told: list[str]) -> Document:
    """The broker's side as the registry would have stored it; `told` gets a sentence where that is another."""
    from osbctl.registry.secrets import without_secrets

    data = without_secrets(broker.data)
    if data is broker.data:
        return broker
    told.append("secrets of dashboard clients are not stored, so they are not compared")
    return replace(broker, data=data)


def stored_in_registry(broker: RegisteredBroker) -> StoredCatalog:
    """What the registry has stored of a broker, seen as the platform that it is registered for."""
    from osbctl.catalog import Catalog
    from osbctl.sources.exports.stored import StoredCatalog
    from osbctl.sources.parse import parse_document

    services = {service.id: service.name for service in Catalog.of(broker.data).services}
    services |= {one.service_id: one.name for one in broker.kept if not one.plan_id}
    kept = {
        (one.service_id, one.plan_id): services.get(one.service_id, one.service_id)
        + (f"/{one.name}" if one.plan_id else "")
        for one in broker.kept
    }
    document = parse_document(broker.catalog, f"{broker.row.name} (stored)")
    return StoredCatalog(document, broker.row.platform, kept=kept, without_secrets=True)


def _shown(word: str) -> str:
    # An address may hold a password.
    return "at an address" if "://" in word else repr(word)
