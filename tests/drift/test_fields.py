"""One changed field is exactly one finding, where the platform stores it; else none, and it is listed as not stored."""

import copy
import json
from itertools import product
from typing import Any

import pytest

from osbctl.changes import Level
from osbctl.commands.drift import compare_with_stored
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.drift import find_drift, stored_catalog_notes
from osbctl.paths import pointer
from osbctl.platforms import Platform, State
from osbctl.platforms.updates import StoredRow
from osbctl.sources.document import parse_document
from osbctl.sources.exports import StoredCatalog
from tests.case import each
from tests.comparison.make import catalog, plan, service
from tests.comparison.test_parameters import FIRST_PROHIBITED
from tests.corpus import EVERY_CASE
from tests.drift.make import CATALOG, full_plan, with_field
from tests.drift.test_round_trip import stored
from tests.fragments import changed
from tests.platforms.known import CF, K8S, KNOWN, KORIFI, SM
from tests.sources.exports.make import export_as, read

ALL = {*KNOWN}


SERVICE: list[tuple[str, Any, set[Platform]]] = [
    ("id", "another", ALL),
    ("name", "base", ALL),
    ("description", "told otherwise", ALL),
    ("bindable", False, ALL),
    ("plan_updateable", False, ALL),
    ("instances_retrievable", False, ALL - {K8S}),
    ("bindings_retrievable", False, ALL - {K8S}),
    ("allow_context_updates", False, ALL - {K8S}),
    ("tags", ["sql"], ALL),
    ("tags", ["sql", "fast", "new"], ALL),
    ("tags", ["fast", "sql"], ALL),
    ("requires", None, ALL),
    ("metadata/displayName", "Data", ALL),
    ("metadata/shareable", False, ALL),
    ("metadata/other/deep", [1, {"x": 0}], ALL),
    ("dashboard_client/id", "d", set()),
    ("x-unknown", 2, set()),
]
PLAN: list[tuple[str, Any, set[Platform]]] = [
    ("id", "another", ALL),
    ("name", "tiny", ALL),
    ("description", "told otherwise", ALL),
    ("free", False, ALL),
    ("bindable", False, ALL - {KORIFI}),  # which takes a silent plan for one that is not bindable
    ("bindable", True, {KORIFI}),
    ("plan_updateable", False, {CF, SM}),
    ("metadata/bullets", ["two"], ALL),
    ("metadata/costs", [], ALL),
    ("schemas/service_instance/create/parameters/properties/size/type", "string", ALL),
    ("schemas/service_instance/update/parameters/properties/size/type", "string", ALL),
    ("schemas/service_binding/create/parameters/properties/role/maxLength", 3, ALL),
    ("schemas/service_binding", None, ALL),
    ("maintenance_info/version", "1.3.0", {CF, SM}),
    ("maximum_polling_duration", 60, {CF, SM}),
    ("binding_rotatable", False, set()),
]


CASES = [(case, of_plan) for of_plan, cases in ((False, SERVICE), (True, PLAN)) for case in cases]


@pytest.mark.parametrize("platform", KNOWN)
@pytest.mark.parametrize(
    ("case", "of_plan"),
    CASES,
    ids=[f"{'plan' if of_plan else 'service'}.{case[0]}={case[1]}" for case, of_plan in CASES],
)
def test_one_field(case: tuple[str, Any, set[Platform]], of_plan: bool, platform: Platform) -> None:
    field, value, stored_by = case
    kept, broker = stored(platform, CATALOG), with_field(field, value, of_plan)
    changes = find_drift(kept, broker)
    assert [bool(c.message) for c in changes] == [True] * (platform in stored_by), [c.message for c in changes]
    for change in changes:
        assert {effect.platform for effect in change.effects} <= {platform}
        assert change.old_path[:2] == ("services", 0)
        assert (change.plan is not None) is of_plan
    if not stored_by:
        assert field.split("/")[0] in "".join(stored_catalog_notes(kept, broker))


@pytest.mark.parametrize("platform", KNOWN)
def test_what_comes_and_goes(platform: Platform) -> None:
    kept = stored(platform, CATALOG)
    for change, rule in (
        (lambda services: services[0]["plans"].pop(), "change-plan-removed"),
        (lambda services: services[0]["plans"].append(full_plan("p9", "huge")), "change-plan-added"),
        (lambda services: services.pop(), "change-service-removed"),
        (lambda services: services.append({"id": "s9", "name": "new", "plans": []}), "change-service-added"),
    ):
        broker = copy.deepcopy(CATALOG)
        change(broker["services"])
        (found,) = find_drift(kept, broker)
        assert found.rule == rule


@pytest.mark.parametrize("platform", KNOWN)
def test_order_of_offerings_and_plans_is_no_drift(platform: Platform) -> None:
    broker = copy.deepcopy(CATALOG)
    broker["services"].reverse()
    broker["services"][1]["plans"].reverse()
    assert find_drift(stored(platform, CATALOG), broker) == []


@pytest.mark.parametrize("platform", KNOWN)
@pytest.mark.parametrize("field", ["metadata", "schemas", "maintenance_info", "tags", "requires"])
def test_absent_null_and_empty_are_one(platform: Platform, field: str) -> None:
    empty: list[Any] = [None, [] if field in ("tags", "requires") else {}]
    old = copy.deepcopy(CATALOG)
    for thing in (old["services"][0], *old["services"][0]["plans"]):
        thing.pop(field, None)
    kept = stored(platform, old)
    for value in empty:
        broker = copy.deepcopy(old)
        things = [broker["services"][0]] if field in ("tags", "requires") else broker["services"][0]["plans"]
        for thing in things:
            thing[field] = value
        assert find_drift(kept, broker) == []


@each("platform, omitted", [
    (CF, {"free": True, "bindable": True, "plan_updateable": True}),
    (SM, {"free": True, "bindable": True, "plan_updateable": True}),
    (K8S, {"free": False, "bindable": True}),
    (KORIFI, {"free": False, "bindable": False, "plan_updateable": False}),
])  # fmt: skip
def test_what_a_plan_leaves_out_is_taken_as_the_platform_takes_it(platform: Platform, omitted: dict[str, bool]) -> None:
    silent = copy.deepcopy(CATALOG)
    del silent["services"][0]["plans"][0]["free"]
    spoken = copy.deepcopy(silent)
    spoken["services"][0]["plans"][0].update(omitted)
    assert find_drift(stored(platform, silent), spoken) == []
    assert find_drift(stored(platform, spoken), silent) == []
    for name, value in omitted.items():
        other = copy.deepcopy(silent)
        other["services"][0]["plans"][0][name] = not value
        assert [pointer(c.new_path) for c in find_drift(stored(platform, silent), other)] == [
            f"/services/0/plans/0/{name}"
        ]


@pytest.mark.parametrize("platform", [CF, SM])
def test_a_plan_that_no_longer_says_what_it_costs_is_risky_as_in_diff(platform: Platform) -> None:
    (change,) = find_drift(stored(platform, with_field("free", False, True)), with_field("free", None, True))
    assert (change.rule, change.level) == ("change-paid-to-free", Level.RISKY)


def gone(platform: Platform, *paths: tuple[str | int, ...]) -> StoredCatalog:
    """The export of `CATALOG` with these fields of its files set: rows that the platform keeps as removed."""
    files: Any = export_as(platform, CATALOG)
    for path in paths:
        files = changed(files, path, platform is K8S)
    return read(*files)


ROWS = tuple(StoredRow("s1", one["id"], one, State.INACTIVE) for one in CATALOG["services"][0]["plans"][1:])
REGISTERED = changed(CATALOG, ("services", 0, "plans"), CATALOG["services"][0]["plans"][:1])


@each("kept", [
    gone(CF, (1, "resources", 1, "available")),
    gone(K8S, (0, "items", 2, "status", "removedFromBrokerCatalog")),
    StoredCatalog(parse_document(json.dumps(REGISTERED).encode(), "a.json"), CF, kept=ROWS),
])  # fmt: skip
def test_a_removed_plan_that_is_offered_again_is_compared(kept: StoredCatalog) -> None:
    def found(broker: Any) -> dict[str, str]:
        changes = find_drift(kept, broker)
        assert len({change.rule for change in changes}) == len(changes)
        return {change.rule.removeprefix("change-"): change.message for change in changes}

    back = {"plan-added": "the broker offers it again, the platform keeps it as removed"}
    assert found(CATALOG) == back
    renamed = changed(with_field("name", "huge", True), ("services", 0, "plans", 1, "free"), False)
    assert found(renamed) == back | {
        "plan-renamed": 'renamed from "large" to "huge"', "free-to-paid": "free changed from true to false",
    }  # fmt: skip
    assert "plan-added" not in found(REGISTERED)
    assert found(changed(CATALOG, ("services", 0, "plans"), CATALOG["services"][0]["plans"][::-1])) == back


def test_a_removed_service_offering_that_is_offered_again_is_compared() -> None:
    kept = gone(CF, (0, "resources", 1, "available"))
    other = changed(changed(CATALOG, ("services", 1, "name"), "mq"), ("services", 1, "plans", 0, "free"), False)
    rules = [change.rule.removeprefix("change-") for change in find_drift(kept, other)]
    assert rules == ["service-added", "service-renamed", "free-to-paid"]


@pytest.mark.parametrize("platform", KNOWN)
def test_a_prohibited_update_breaks_as_in_diff(platform: Platform) -> None:
    for old, new, level in FIRST_PROHIBITED:
        assert max(change.level.rank for change in find_drift(stored(platform, old), new)) == level.rank


def test_a_refusal_for_a_field_that_is_not_stored_is_drift() -> None:
    broker = with_field("instances_retrievable", "yes", False)
    assert find_drift(stored(K8S, CATALOG), broker) == []
    current = parse_document(json.dumps(broker).encode(), "broker.json")
    (change,) = compare_with_stored(stored(K8S, CATALOG), current, frozenset()).changes
    assert (change.level, pointer(change.new_path)) == (Level.REFUSED, "/services/0/instances_retrievable")


def test_whole_catalogs_are_compared_as_diff_does() -> None:
    document = parse_document(json.dumps(CATALOG).encode(), "stored.json")
    broker = with_field("binding_rotatable", False, True)
    assert find_drift(StoredCatalog(document), broker) == compare_catalogs(CATALOG, broker) != []
    assert stored_catalog_notes(StoredCatalog(document), broker) == []


@each("platform, of_plan, service_now, plan_now, found", [
    (SM, None, False, None, {"bindable of s"}),  # inherited before and now: one change
    (SM, None, False, True, {"bindable of s"}),  # the plan says what it had: only the offering's own value changes
    (SM, False, True, None, {"bindable of p"}),  # the platform has a value of the plan's own, which goes
    (KORIFI, True, True, None, {"bindable of p"}),  # reads what is left out as false
])  # fmt: skip
def test_what_a_plan_inherits_is_told_once_and_what_it_says_itself_is_told(
    platform: Platform, of_plan: bool | None, service_now: bool, plan_now: bool | None, found: set[str]
) -> None:
    def bindable(of_service: bool, of_plan: bool | None) -> dict[str, Any]:
        own = {} if of_plan is None else {"bindable": of_plan}
        return catalog(service("s", "db", plan("p", "small", **own), bindable=of_service))

    changes = find_drift(stored(platform, bindable(True, of_plan)), bindable(service_now, plan_now))
    objects = {f"{c.field} of {(c.plan or c.service).id}" for c in changes if c.plan or c.service}  # type: ignore[union-attr]
    assert objects == found
    assert ("change-service-default" in {c.rule for c in changes}) == (plan_now is True)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ["bindable", "plan_updateable"])
@pytest.mark.parametrize("platform", [CF, K8S, SM])  # not Korifi, whose plans inherit nothing: `diff` is stricter there
def test_the_difference_of_two_catalogs_is_as_strict_as_the_drift(platform: Platform, name: str) -> None:
    """Wherever the value stands: in the service offering, in all of its plans, or in one of them."""

    def flags(of_service: bool | None, *of_plans: bool | None) -> dict[str, Any]:
        own = [{} if value is None else {name: value} for value in (of_service, *of_plans)]
        made = service("s", "db", plan("p", "small", **own[1]), plan("q", "large", **own[2]), **own[0])
        return catalog({key: value for key, value in made.items() if key != name or of_service is not None})

    sides = [flags(*values) for values in product((None, False, True), repeat=3)]
    for old, new in list(product(sides, sides))[:: 1 if EVERY_CASE else 7]:
        changes = compare_catalogs(old, new, platforms=[platform]), find_drift(stored(platform, old), new)
        levels = [max([*(change.level.rank for change in found), Level.SAFE.rank]) for found in changes]
        assert levels[0] == levels[1], (old, new)
