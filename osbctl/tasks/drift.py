"""Work of `osbctl drift`: differences between the stored and the current catalog of brokers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from osbctl.client.catalog_client import parse_catalog_response
from osbctl.comparison.collector import add_locations
from osbctl.comparison.drift import find_drift, stored_catalog_notes
from osbctl.comparison.instances import check_plan_ids
from osbctl.errors import OsbctlError, UsageError
from osbctl.parallel import run_in_parallel
from osbctl.platforms import Platform
from osbctl.registry.records import mask_client_secrets
from osbctl.sources.document import Document
from osbctl.sources.exports import StoredCatalog
from osbctl.tasks.compare import Comparison, add_refusals, plan_ids

if TYPE_CHECKING:
    from osbctl.registry.store import Registry
    from osbctl.tasks.registered_broker_client import RegisteredBrokerClient


def compare_with_stored(
    stored: StoredCatalog,
    current: Document,
    platforms: frozenset[Platform],
    used_plans: frozenset[str] | None = None,
    instances_file: str = "",
) -> Comparison:
    """Compare a stored catalog with the current one of the broker.

    `platforms` empty: the one that stores it, else all. `used_plans` are the plans with instances, None if unknown;
    `instances_file` is where they are from, empty if it may list plans of other brokers.

    Raises UsageError (an export of another platform), SourceError (of another broker), ConfigError (other instances).
    """
    compared = _select_platforms(stored, platforms)
    sentences = stored_catalog_notes(stored, current.catalog)
    if used_plans and instances_file:
        plans = plan_ids(stored.document, current) | {row.plan or "" for row in stored.kept}
        sentences += check_plan_ids(used_plans, plans, instances_file)
    if stored.without_secrets:
        data = mask_client_secrets(current.data)
        if data is not current.data:
            sentences.append("secrets of dashboard clients are not stored, so they are not compared")
            current = current._replace(data=data)
    changes = find_drift(stored, current.catalog, platforms=compared, used_plans=used_plans)
    if compared != {stored.platform}:
        stored = replace(stored, kept=(), taken_ids={})
    used = {row.plan or "" for row in stored.kept} if used_plans is None else used_plans
    # The platform may refuse a field that it does not store, which no change shows.
    changes = add_refusals(
        stored.document.data,
        current.data,
        changes,
        compared,
        is_stored=True,
        used=used,
        kept=stored.kept,
        others=stored.taken_ids,
    )
    return Comparison(stored.document.name, current.name, add_locations(changes, stored.document, current), sentences)


def compare_registered_brokers(
    registry: Registry,
    client: RegisteredBrokerClient,
    platforms: frozenset[Platform],
    used_plans: frozenset[str] | None,
    jobs: int,
) -> Iterator[tuple[str, Comparison | OsbctlError]]:
    """Check each registered broker, `jobs` at a time: its name with its drift, or with the error that prevented it."""

    def compare_broker(name: str) -> Comparison:
        return compare_with_stored(*read_registered_sides(registry, name, client), platforms, used_plans)

    return run_in_parallel(compare_broker, registry.names(), jobs)


def read_registered_sides(
    registry: Registry, name: str, client: RegisteredBrokerClient
) -> tuple[StoredCatalog, Document]:
    """The stored catalog of a registered broker, as its platform keeps it, and its catalog now.

    Raises UnknownBrokerError, SourceError (also if a catalog has the password).
    """
    broker = registry.broker(name)
    answer, sent = client.fetch(broker.row)
    document = parse_catalog_response(answer, client.options.max_bytes)
    client.check_no_password(answer.body, document.data, sent)
    client.check_no_password(broker.catalog, broker.data, sent)
    stored = StoredCatalog(
        broker.document,
        broker.row.platform,
        kept=broker.kept,
        without_secrets=True,
        taken_ids=registry.find_taken_ids(broker.row, document.data, broker),
    )
    return stored, document


def _select_platforms(stored: StoredCatalog, platforms: frozenset[Platform]) -> frozenset[Platform]:
    """The platforms to compare for. Raises UsageError: the export is of a platform that was not asked for."""
    if stored.shape and stored.platform and platforms and platforms != {stored.platform}:
        raise UsageError(f"this is an export of {stored.platform.label}", "leave --platform out")
    return platforms or frozenset(Platform if stored.platform is None else {stored.platform})
