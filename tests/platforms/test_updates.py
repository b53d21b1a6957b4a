"""Recorded updates: what `diff` and the registry say against what each platform's own code did with the same catalogs.

The rows are read where they are, and never copied. What two catalogs cannot tell is left out by a reason that the
row itself shows, and counted.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from osbctl.changes import Level
from osbctl.commands.diff import add_refusals
from osbctl.commands.drift import compare_with_stored
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.platforms import Identity, Platform, State
from osbctl.platforms.golang import normalize_field_names
from osbctl.platforms.shared_identities import ids_unique_on_platform
from osbctl.platforms.verdict import judge
from osbctl.registry.reconcile import reconcile
from osbctl.registry.records import BrokerRow, RefreshOutcome, RegisteredBroker
from osbctl.sources.document import parse_document
from osbctl.sources.exports import StoredCatalog
from tests.corpus import CORPUS, EVERY_CASE, needs_corpus
from tests.platforms.known import KNOWN

REFERENCE = "reference-instance"
AT = "2026-01-02T03:04:05Z"
NOTHING: dict[str, Any] = {"services": []}
SHARE = 1 if EVERY_CASE else 7
"""One row in so many is played: all in `make test-every-case`."""


class Step(NamedTuple):
    """One update of one broker: what came before, the new catalog, and what the platform did."""

    case: str
    before: dict[str, Any]
    new: dict[str, Any]
    used: frozenset[str]
    refused: bool
    unknown: str


@cache
def recorded_rows() -> list[dict[str, Any]]:
    assert CORPUS
    with gzip.open(CORPUS / "updates.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for at, line in enumerate(lines) if at % SHARE == 0]


def platform_rows(platform: Platform) -> list[dict[str, Any]]:
    rows = [row for row in recorded_rows() if row["platform"] == platform]
    if not rows and platform not in KNOWN:
        pytest.skip("no updates of the platform are recorded")
    return rows


def used_plan_ids(state: list[dict[str, Any]], broker: str) -> frozenset[str]:
    plans = [plan for service in state if service.get("broker", broker) == broker for plan in service["plans"] or ()]
    return frozenset(plan["id"] for plan in plans if plan.get("instances"))


def update_steps(row: dict[str, Any]) -> Iterator[Step]:
    """The updates of a row that follow a registration; `unknown` names what the two catalogs cannot tell."""
    accepted: dict[str, dict[str, Any]] = {}
    state: list[dict[str, Any]] = []
    reasons: list[str] = []
    for step, outcome in zip(row["steps"], row["outcomes"], strict=True):
        broker = step["broker"]
        reasons += ["what is shared or referenced"] * bool({"shared", "references"} & step.keys())
        if "catalog" in step:
            refused = outcome["outcome"] != "accepted"
            if broker in accepted:
                unknown = _leftover_reason(accepted[broker], state, broker) or (reasons[0] if reasons else "")
                unknown = "other brokers" if len(accepted) > 1 else unknown
                yield Step(
                    row["case"], accepted[broker], step["catalog"], used_plan_ids(state, broker), refused, unknown
                )
            if refused:
                reasons += ["leftovers in UAA"] * ("dashboard_client" in json.dumps(row["steps"]))
            else:
                accepted[broker] = step["catalog"]
        state = outcome["state"]


def _leftover_reason(catalog: dict[str, Any], state: list[dict[str, Any]], broker: str) -> str:
    """A reason where the platform has something that the catalog before does not offer."""
    ours = [service for service in state if service.get("broker", broker) == broker]
    has = {
        (service["id"], plan["id"]) for service in ours for plan in service["plans"] or () if plan["name"] != REFERENCE
    }
    offered = {
        (service.get("id") or "", plan.get("id") or "")
        for service in catalog.get("services") or () if service
        for plan in service.get("plans") or () if plan
    }  # fmt: skip
    return "what is kept beside the catalog" if has != offered else ""


@needs_corpus
@pytest.mark.fuzz
@pytest.mark.parametrize("platform", Platform)
def test_diff_says_whether_an_update_is_refused(platform: Platform) -> None:
    wrong, unknown, count = [], Counter[str](), 0
    for step in (step for row in platform_rows(platform) for step in update_steps(row)):
        view = frozenset({platform})
        changes = compare_catalogs(step.before, step.new, platforms=view, used_plans=step.used)
        changes = add_refusals(step.before, step.new, changes, view) if changes else []
        count += 1
        if any(change.level is Level.REFUSED for change in changes) != step.refused:
            unknown[step.unknown] += 1
            wrong += [step.case] if not step.unknown else []
    assert wrong == []
    assert unknown.total() <= 0.015 * count, unknown
    assert count >= 600 // SHARE


class Broker(NamedTuple):
    """A registered broker as the registry has it, without a database."""

    stored: RegisteredBroker

    @classmethod
    def new(cls, name: str, platform: Platform) -> "Broker":
        row = BrokerRow(name, "https://x", "u", "2.14", platform, 1, 0, 0, 0, AT, AT, RefreshOutcome.ADDED, 1)
        return cls(RegisteredBroker(row, json.dumps(NOTHING).encode()))

    def refresh(
        self, catalog: dict[str, Any], used: frozenset[str], others: dict[tuple[Identity, str], str]
    ) -> "tuple[Broker, bool]":
        platform = self.stored.row.platform
        refusals = judge(platform, catalog).refusals
        result = reconcile(self.stored, catalog, platform, used, AT, refusals=refusals, taken_ids=others)
        stored = RegisteredBroker(self.stored.row, json.dumps(result.stored).encode(), result.kept)
        return Broker(stored), result.refused

    def drift_is_refused(
        self, catalog: dict[str, Any], used: frozenset[str], others: dict[tuple[Identity, str], str]
    ) -> bool | None:
        """Return whether `drift` says that an update is refused; None if it finds no change."""
        row, current = self.stored.row, parse_document(json.dumps(catalog).encode(), "now")
        kept = self.stored.kept
        stored = StoredCatalog(self.stored.document, row.platform, kept=kept, without_secrets=True, taken_ids=others)
        found = compare_with_stored(stored, current, frozenset(), used)
        return any(change.level is Level.REFUSED for change in found.changes) if found.changes else None

    def active_objects(self) -> set[tuple[str, str | None, str]]:
        """Service offering, plan and name of all that is active; an orphan has no service offering."""
        platform = self.stored.row.platform
        catalog = normalize_field_names(platform, self.stored.data)
        found = set()
        for service in catalog.get("services") or ():
            found.add((service.get("id") or "", None, service.get("name") or ""))
            plans = service.get("plans") or ()
            found |= {(service.get("id") or "", plan.get("id") or "", plan.get("name") or "") for plan in plans}
        for one in self.stored.kept:
            if one.state in (State.OFFERED, State.ORPHANED):
                found.add((*one.key, one.name))
        return found


def recorded_objects(state: list[dict[str, Any]], broker: str, platform: Platform) -> set[tuple[str, str | None, str]]:
    """As `Broker.active_objects`, of a recorded state."""
    found: set[tuple[str, str | None, str]] = set()
    for service in state:
        if service.get("active") and service["broker"] == broker:
            found.add((service["id"], None, service["name"]))
        for plan in service["plans"] or ():
            if plan["active"] and plan.get("broker", service.get("broker")) == broker:
                own = platform is Platform.SERVICE_MANAGER and plan["name"] == REFERENCE  # of a random id
                found.add((service["id"], REFERENCE if own else plan["id"], plan["name"]))
    return found


def clear_missing_services(found: set[tuple[str, str | None, str]]) -> set[tuple[str, str | None, str]]:
    """The same with nothing as the service offering of a plan whose own is not among them: what has gone, has no id."""
    there = {service for service, plan, _ in found if plan is None}
    return {(service if service in there else "", plan, name) for service, plan, name in found}


@needs_corpus
@pytest.mark.fuzz
@pytest.mark.parametrize("platform", Platform)
def test_registry_and_drift_play_the_platform(platform: Platform) -> None:
    wrong, unknown, count = [], Counter[str](), 0
    for row in platform_rows(platform):
        brokers: dict[str, Broker] = {}
        state: list[dict[str, Any]] = []
        leftovers = False
        for step, outcome in zip(row["steps"], row["outcomes"], strict=True):
            name = step["broker"]
            if "references" in step or "shared" in step:
                leftovers = True
            if "catalog" in step:
                is_update = name in brokers
                broker = brokers.get(name) or Broker.new(name, platform)
                used = used_plan_ids(state, name)
                others = {
                    identity: other
                    for other, theirs in brokers.items() if other != name
                    for identity in ids_unique_on_platform(theirs.stored.document.catalog, platform)
                }  # fmt: skip
                brokers[name], refused = broker.refresh(step["catalog"], used, others)
                ours, theirs = brokers[name].active_objects(), recorded_objects(outcome["state"], name, platform)
                count += 1
                told = refused == (outcome["outcome"] != "accepted")
                drift = broker.drift_is_refused(step["catalog"], used, others) if is_update else None
                wrong += [f"drift: {row['case']}"] if drift not in (refused, None) else []
                if not told or clear_missing_services(ours) != clear_missing_services(theirs):
                    unknown["what is known"] += 1
                    wrong += [row["case"]] if not leftovers else []
                    break
                leftovers |= refused and "dashboard_client" in json.dumps(row["steps"])
            state = outcome["state"]
    assert wrong == []
    assert unknown.total() <= 0.005 * count, unknown
    assert count >= 1_000 // SHARE
