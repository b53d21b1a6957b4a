"""Drift between the stored and the current catalog of one broker, or of all registered ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from osbctl.client.catalog_client import parse_catalog_response
from osbctl.comparison.collector import with_places
from osbctl.comparison.drift import find_drift, notes
from osbctl.errors import SourceError, UsageError
from osbctl.parallel import in_parallel
from osbctl.platforms import Platform
from osbctl.registry.secrets import without_client_secrets
from osbctl.sources.document import Document
from osbctl.sources.exports.merge import StoredCatalog
from osbctl.tasks.compare import Comparison, doubts_of, now_refused, plan_ids

if TYPE_CHECKING:
    from osbctl.registry.records import RegisteredBroker
    from osbctl.registry.store import Registry
    from osbctl.tasks.registered_broker_client import RegisteredBrokerClient


@dataclass(frozen=True, slots=True)
class DriftView:
    """Options of drift.

    `platforms` empty: the one that stores it, else all. `instances`: plans that have instances, None if unknown.
    `instances_file`: their source, empty if it may contain plans of other brokers.
    """

    platforms: frozenset[Platform] = frozenset()
    instances: frozenset[str] | None = None
    instances_file: str = ""


@dataclass(frozen=True, slots=True)
class CheckedBroker:
    """Drift of one registered broker, or the reason why there is none."""

    name: str
    drift: Comparison | None
    error: str = ""


def compare_with_stored(stored: StoredCatalog, broker: Document, view: DriftView) -> Comparison:
    """The drift between two sides that are at hand.

    Raises:
        UsageError: an export is to be looked at as another platform.
        SourceError: the export is that of another broker.
        ConfigError: the instances are those of no plan of either side.
    """
    platforms = _platforms(stored, view)
    data = without_client_secrets(broker.data) if stored.without_secrets else broker.data
    hidden = ["secrets of dashboard clients are not stored, so they are not compared"] * (data is not broker.data)
    broker = broker._replace(data=data) if hidden else broker
    doubts = []
    if view.instances_file:
        plans = plan_ids(stored.document, broker) | {plan for _, plan in stored.kept}
        doubts = doubts_of(view.instances, view.instances_file, plans)
    sentences = [*notes(stored, broker.catalog), *doubts, *hidden]
    changes = find_drift(stored, broker.catalog, platforms=platforms, instances=view.instances)
    if changes:
        changes += now_refused(stored.document.data, data, changes, platforms)
    return Comparison(stored.document.name, broker.name, with_places(changes, stored.document, broker), sentences)


def check_registered(
    registry: Registry, client: RegisteredBrokerClient, view: DriftView, jobs: int
) -> Iterator[CheckedBroker]:
    """Check each registered broker, `jobs` at a time; yield results as they finish. Failures do not stop others."""
    from osbctl.registry.errors import UnknownBrokerError

    def check(name: str) -> CheckedBroker:
        try:
            stored = registry.broker(name)
            answer = registered_catalog(stored, client)
        except (SourceError, UnknownBrokerError) as error:  # the latter: removed since the names were read
            return CheckedBroker(name, None, error.message + (f" ({error.advice})" if error.advice else ""))
        return CheckedBroker(name, compare_with_stored(stored_in_registry(stored), answer, view))

    return (checked for _, checked in in_parallel(check, registry.names(), jobs))


def registered_catalog(broker: RegisteredBroker, client: RegisteredBrokerClient) -> Document:
    """The catalog of a registered broker as it is now.

    Raises:
        SourceError: there is none, or it or the stored one may not be shown.
    """
    # No tag is sent: whether the broker's answer is what is stored is the very question.
    answer = client.fetch(broker.row, "")
    assert answer
    document = parse_catalog_response(answer, client.options.max_bytes)
    client.check_secret(answer.body, document.data, broker.row)
    client.check_secret(broker.catalog, broker.data, broker.row)
    return document


def stored_in_registry(broker: RegisteredBroker) -> StoredCatalog:
    """Stored catalog of a registered broker, as its platform keeps it."""
    services = {service.id: service.name for service in broker.offered.services}
    services |= {one.service_id: one.name for one in broker.kept if not one.plan_id}
    kept = {
        (one.service_id, one.plan_id): services.get(one.service_id, one.service_id)
        + (f"/{one.name}" if one.plan_id else "")
        for one in broker.kept
    }
    return StoredCatalog(broker.document, broker.row.platform, kept=kept, without_secrets=True)


def _platforms(stored: StoredCatalog, view: DriftView) -> frozenset[Platform]:
    if stored.shape and stored.platform and view.platforms and view.platforms != {stored.platform}:
        raise UsageError(f"this is an export of {stored.platform.label}", "leave --platform out")
    return view.platforms or frozenset(Platform if stored.platform is None else {stored.platform})
