"""Each platform's reaction to a new catalog: the table of changes, row by row."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.platforms import Identity, Platform, State
from osbctl.platforms.updates import StoredRow
from osbctl.platforms.verdict import judge
from osbctl.registry import reconcile as module
from osbctl.registry.reconcile import Reconciliation, reconcile
from osbctl.registry.records import ActionKind, BrokerRow, RefreshOutcome, RegisteredBroker
from osbctl.registry.text import refresh_lines
from tests.platforms.known import CF, K8S, KNOWN, KORIFI, SM
from tests.registry.make import AT, catalog, plan, refresh, service

LATER = "2026-09-09T00:00:00Z"
OLD = catalog(service("s", plan("p", "small"), plan("q", "large")), service("t", plan("r", "only")))


def stored(data: dict[str, Any], *kept: StoredRow, platform: Platform = CF) -> RegisteredBroker:
    counts = len(data["services"]), sum(len(one["plans"]) for one in data["services"])
    row = BrokerRow("db", "https://x", "u", "2.14", platform, 1, *counts, 0, AT, AT, RefreshOutcome.ADDED, 1)
    return RegisteredBroker(row, json.dumps(data).encode(), kept)


def run(new: dict[str, Any], platform: Platform, used: set[str] | None = None, *kept: StoredRow) -> Reconciliation:
    instances = None if used is None else frozenset(used)
    return reconcile(stored(OLD, *kept), new, platform, instances, LATER)


def did(result: Reconciliation) -> list[str]:
    return [f"{one.what} {one.service}" + (f"/{one.plan}" if one.plan else "") for one in result.actions]


def states(result: Reconciliation) -> list[tuple[str, str, str, str]]:
    return [(one.service, one.plan or "", str(one.state), one.since) for one in result.kept]


PLAN_GONE = catalog(service("s", plan("p", "small")), service("t", plan("r", "only")))
SERVICE_GONE = catalog(service("s", plan("p", "small"), plan("q", "large")))
REFUSED = "refused"


@pytest.mark.parametrize(("new", "used", "platform", "expected"), [
    # a plan removed
    (PLAN_GONE, {"p"}, CF, ["deleted service-s/large"]),
    (PLAN_GONE, {"q"}, CF, ["kept service-s/large"]),
    (PLAN_GONE, None, CF, ["deleted service-s/large"]),
    (PLAN_GONE, set(), SM, ["deleted service-s/large"]),
    (PLAN_GONE, {"q"}, SM, REFUSED),
    (PLAN_GONE, set(), K8S, ["deleted service-s/large"]),
    (PLAN_GONE, {"q"}, K8S, ["kept service-s/large"]),
    (PLAN_GONE, set(), KORIFI, ["kept service-s/large"]),
    # a service offering removed
    (SERVICE_GONE, set(), CF, ["deleted service-t", "deleted service-t/only"]),
    (SERVICE_GONE, {"r"}, CF, ["kept service-t", "kept service-t/only"]),
    (SERVICE_GONE, {"r"}, SM, REFUSED),
    (SERVICE_GONE, set(), SM, ["deleted service-t", "deleted service-t/only"]),
    (SERVICE_GONE, {"r"}, K8S, ["kept service-t", "kept service-t/only"]),
    (SERVICE_GONE, set(), KORIFI, ["kept service-t", "kept service-t/only"]),
    # one that loses both plans, of which one is in use
    (catalog(service("t", plan("r", "only"))), {"q"}, CF,
        ["kept service-s", "deleted service-s/small", "kept service-s/large"]),
])  # fmt: skip
def test_what_is_gone(new: dict[str, Any], used: set[str] | None, platform: Platform, expected: Any) -> None:
    result = run(new, platform, used)
    assert (REFUSED if result.refused else did(result)) == expected
    assert {one.plan for one in result.kept if one.plan} <= (used or set()) or platform is KORIFI
    if result.refused:
        assert result.remarks
        assert all(one.level == "refused" for one in result.remarks)


def changed(**services: Any) -> dict[str, Any]:
    """The old catalog with the plans of service offerings replaced."""
    base = {"s": [plan("p", "small"), plan("q", "large")], "t": [plan("r", "only")]} | services
    return catalog(*(service(one, *plans) for one, plans in base.items()))


@pytest.mark.parametrize(("new", "used", "refused_by"), [
    # the table of changes, rows where a platform refuses the whole update
    (changed(t=[plan("r2", "only")]), set(), {CF}),
    (changed(t=[plan("r2", "only")]), {"r"}, {CF, SM}),
    (catalog(service("s", plan("p", "small"), plan("q", "large")),
             service("t2", plan("r2", "only"), name="service-t")), set(), set()),
    (catalog(service("s", plan("p", "small"), plan("q", "large")),
             service("t2", plan("r2", "only"), name="service-t")), {"r"}, {CF, SM}),
    (changed(s=[plan("p", "small")], t=[plan("r", "only"), plan("q", "large")]), set(), {CF}),
    (changed(s=[plan("q", "SMALL")]), set(), {CF}),
    (changed(s=[plan("p", "large"), plan("q", "small")]), set(), {CF, SM}),
    (changed(s=[plan("p", "tiny"), plan("q", "large"), plan("n", "small")]), set(), set()),
    (changed(s=[plan("p", "tiny"), plan("q", "large")]), {"p"}, set()),
    (changed(s=[plan("p", "small", free=False), plan("q", "large")]), {"p"}, set()),
])  # fmt: skip
def test_who_refuses_the_whole_update(new: dict[str, Any], used: set[str], refused_by: set[Platform]) -> None:
    results = {platform: run(new, platform, used) for platform in KNOWN}
    assert {platform for platform, result in results.items() if result.refused} == refused_by
    for platform in refused_by:
        assert (results[platform].actions, results[platform].kept) == ((), ())


def test_new_and_changed_objects_are_told_each() -> None:
    new = changed(s=[plan("p", "small", free=False), plan("q", "large"), plan("n", "new")], u=[plan("v")])
    assert did(run(new, CF)) == [
        "updated service-s/small", "created service-s/new", "created service-u", "created service-u/plan-v",
    ]  # fmt: skip
    new["services"][1]["description"] = "other"
    assert "updated service-t" in did(run(new, CF))


def test_the_same_catalog_does_nothing_on_any_platform() -> None:
    for platform in Platform:
        result = run(OLD, platform, {"p", "q"})
        assert (result.refused, result.actions, result.remarks, result.kept) == (False, (), (), ())


@pytest.mark.parametrize(("platform", "state"), [(CF, "inactive"), (K8S, "flagged"), (KORIFI, "offered")])
def test_what_is_kept_stays_until_its_last_instance_is_gone(platform: Platform, state: str) -> None:
    first = run(PLAN_GONE, platform, {"q"})
    assert states(first) == [("s", "q", state, LATER)]
    assert first.kept[0].data == plan("q", "large")
    broker = stored(PLAN_GONE, *first.kept)
    again = reconcile(broker, PLAN_GONE, platform, None, "2027-01-01T00:00:00Z")
    # The user has not confirmed that the instances are gone.
    assert (again.kept, again.actions, again.remarks) == (first.kept, (), ())
    empty = reconcile(broker, PLAN_GONE, platform, frozenset(), "2027-01-01T00:00:00Z")
    if platform is KORIFI:
        assert (empty.kept, empty.actions) == (first.kept, ())
    else:
        assert (empty.kept, did(empty)) == ((), ["deleted service-s/large"])
    back = reconcile(broker, OLD, platform, None, LATER)
    assert (did(back), back.kept) == (["reactivated service-s/large"], ())


def test_a_service_that_comes_back_leaves_its_kept_plan_beside_it() -> None:
    gone = run(catalog(service("t", plan("r", "only"))), CF, {"q"})
    broker = stored(catalog(service("t", plan("r", "only"))), *gone.kept)
    back = reconcile(broker, PLAN_GONE, CF, frozenset({"q"}), LATER)
    assert did(back) == ["reactivated service-s", "created service-s/small"]
    assert states(back) == [("s", "q", "inactive", LATER)]


def test_a_kept_plan_still_holds_its_name() -> None:
    kept = StoredRow("s", "x", plan("x", "extra"), State.INACTIVE, AT)
    new = changed(s=[plan("p", "small"), plan("q", "large"), plan("n", "Extra")])
    result = run(new, CF, {"x"}, kept)
    assert (result.refused, result.kept) == (True, (kept,))
    assert "Plan names must be unique within a service" in result.remarks[0].message
    assert not run(new, K8S, {"x"}, kept).refused


def test_a_plan_that_moves_stays_under_its_class_on_kubernetes_and_moves_on_korifi() -> None:
    new = changed(s=[plan("p", "small")], t=[plan("r", "only"), plan("q", "large", free=False)])
    stays, moves = run(new, K8S, set()), run(new, KORIFI, set())
    assert [[each["id"] for each in one["plans"]] for one in stays.stored["services"]] == [["p", "q"], ["r"]]
    assert did(stays) == ["updated service-s/large"]
    assert moves.stored == new
    assert did(moves) == ["updated service-t/large"]
    assert did(run(new, SM, set())) == ["created service-t/large", "deleted service-s/large"]


def test_korifi_has_one_of_several_plans_of_one_id() -> None:
    both = catalog(service("s", plan("p", "first")), service("t", plan("p", "second")))
    left = catalog(service("t", plan("p", "second")))
    result = reconcile(stored(both), left, KORIFI, None, LATER)
    assert (did(result), states(result), result.stored) == (["kept service-s"], [("s", "", "offered", LATER)], left)
    moved = reconcile(stored(both), catalog(both["services"][0]), KORIFI, None, LATER)
    assert did(moved) == ["updated service-s/first", "kept service-t"]


CATALOGS = st.dictionaries(
    st.sampled_from("stu"), st.lists(st.sampled_from("pqr"), min_size=1, unique=True), min_size=1
).map(
    lambda services: catalog(
        *(service(one, *(plan(each, one + each) for each in plans)) for one, plans in services.items())
    )
)


@given(st.sampled_from(Platform), st.lists(CATALOGS, min_size=2, max_size=4), st.none() | st.frozensets(st.just("p")))
def test_a_catalog_that_comes_again_does_nothing(
    platform: Platform, catalogs: list[dict[str, Any]], used: frozenset[str] | None
) -> None:
    """Plan ids may be repeated, which Korifi accepts."""
    first, *later = catalogs
    if judge(platform, first).refusals:
        return
    broker = stored(first, platform=platform)
    for data in later:
        refusals = judge(platform, data).refusals
        result = reconcile(broker, data, platform, used, LATER, refusals=refusals)
        broker = stored(result.stored, *result.kept, platform=platform)
        again = reconcile(broker, data, platform, used, LATER, refusals=refusals)
        assert (again.actions, again.stored, again.kept) == ((), result.stored, result.kept)


def test_kubernetes_applies_what_stands_before_the_first_fault_and_leaves_orphans() -> None:
    new = catalog(service("s", plan("n", "new"), {**plan("x"), "description": ""}, plan("p", "small"), name="other"))
    result = reconcile(stored(OLD), new, K8S, frozenset(), LATER, refusals=judge(K8S, new).refusals)
    assert result.refused
    assert did(result) == ["updated other", "created other/new", "deleted service-t", "kept service-t/only"]
    assert states(result) == [("t", "r", "orphaned", LATER)]
    (left,) = result.stored["services"]
    assert (left["name"], [one["id"] for one in left["plans"]]) == ("other", ["p", "q", "n"])
    broker = stored(result.stored, *result.kept, platform=K8S)
    again = reconcile(broker, new, K8S, None, AT, refusals=judge(K8S, new).refusals)
    assert (again.refused, again.actions, again.kept, again.stored) == (True, (), result.kept, result.stored)


def test_korifi_applies_what_stands_before_the_service_offering_at_which_it_panics() -> None:
    faulty = service("t", plan("r", "other"), metadata={"documentationUrl": 5})
    new = catalog(service("s", plan("p", "first")), faulty)
    for key in ("services", "Services"):
        broker = replace(stored(OLD), catalog=json.dumps({"x": 1, key: OLD["services"]}).encode())
        result = reconcile(broker, new, KORIFI, frozenset(), LATER, refusals=judge(KORIFI, new).refusals)
        assert result.refused
        assert did(result) == ["updated service-s/first"]
        assert "documentationUrl" not in json.dumps(result.stored)
        assert [*result.stored] == ["x", "services"], "no second one in the spelling of the broker"
    refused = refresh(RefreshOutcome.REFUSED, platform=KORIFI, actions=result.actions)
    for dry_run, saved in ((False, "saved"), (True, "would save")):
        (told,) = refresh_lines("db", replace(refused, actions=()), dry_run=dry_run)
        assert told == "db: refused as Korifi does; what is stored stays as it was"
        told, _ = refresh_lines("db", refused, dry_run=dry_run)
        assert told == f"db: refused as Korifi does; {saved} up to the first fault: 1 updated"


def test_an_id_of_another_broker_is_refused_in_the_words_of_the_platform() -> None:
    new = changed(u=[plan("v")])
    result = reconcile(stored(OLD), new, K8S, None, LATER, taken_ids={(Identity.SERVICE_ID, "u"): "other"})
    assert (result.refused, [one.message for one in result.remarks]) == (True, ['already exists for Broker "other"'])


def test_a_view_of_another_platform_renames_what_is_kept() -> None:
    first = run(PLAN_GONE, CF, {"q"})
    result = reconcile(stored(PLAN_GONE, *first.kept), PLAN_GONE, K8S, None, "2027-01-01T00:00:00Z")
    assert states(result) == [("s", "q", "flagged", "2027-01-01T00:00:00Z")]


def test_many_changes_are_told_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TOLD", 3)
    result = run(changed(s=[plan("p", "small"), plan("q", "large"), *(plan(f"n{n}") for n in range(10))]), CF)
    assert len(result.actions) == 10
    assert [one.message for one in result.remarks][3:] == ["and 7 more"]


def test_a_secret_that_changed_is_not_told() -> None:
    new = changed()
    new["services"][0]["dashboard_client"] = {"id": "c", "secret": "hunter2-and-more", "redirect_uri": "https://x"}
    for platform in Platform:
        assert "hunter2" not in repr(run(new, platform).remarks)


def test_every_what_and_state_is_reached() -> None:
    results = [run(PLAN_GONE, platform, used) for platform in Platform for used in ({"q"}, set())]
    results += [run(changed(s=[plan("p", "x"), plan("n")]), CF)]
    kept = StoredRow("s", "n", plan("n"), State.INACTIVE, AT)
    results += [run(changed(s=[plan("p", "small"), plan("q", "large"), plan("n")]), CF, None, kept)]
    empty = catalog(service("s", {**plan("p"), "name": ""}, plan("q", "large")))
    results += [reconcile(stored(OLD), empty, K8S, frozenset(), LATER, refusals=judge(K8S, empty).refusals)]
    assert {one.what for result in results for one in result.actions} == set(ActionKind)
    assert {one.state for result in results for one in result.kept} == set(State)
