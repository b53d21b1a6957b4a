"""All platforms: whatever stands in a catalog, they come to an outcome, and to the same one again."""

import copy
import itertools
import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.paths import JsonPath
from osbctl.platforms import Platform
from osbctl.platforms.verdict import Outcome, VerdictKind, judge_all
from tests.case import each
from tests.comparison.make import catalog, plan, service
from tests.corpus import EVERY_CASE
from tests.fragments import changed, places

SCHEMA = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "type": "object",
    "properties": {"a": {"$ref": "#/definitions/x"}},
    "definitions": {"x": {"type": "string", "maxLength": 4}},
    "required": ["a"],
}
GOOD = catalog(
    service(
        "s1",
        "svc",
        plan(
            "p1",
            "p",
            free=True,
            metadata={"supportedPlatforms": ["kubernetes"]},
            maintenance_info={"version": "1.2.3"},
            maximum_polling_duration=60,
            schemas={
                "service_instance": {"create": {"parameters": SCHEMA}, "update": {"parameters": SCHEMA}},
                "service_binding": {"create": {"parameters": SCHEMA}},
            },
        ),
        plan("p2", "q"),
        tags=["a"],
        requires=["syslog_drain"],
        metadata={"shareable": True, "documentationUrl": "https://example.com"},
        dashboard_client={"id": "a", "secret": "b", "redirect_uri": "c"},
    )
)
ODD = [None, True, False, 0, -1, 1.5, 1e30, "", " ", "id", "#", "http://[", [], ["a"], [None], {}, {"a": 1}]
KEYS = st.sampled_from([*SCHEMA, "$ref", "id", "extends", "not", "allOf"]) | st.text()
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
_, *PLACES = places(GOOD)


def check_outcome(outcome: Outcome, case: object) -> None:
    if outcome.kind is not VerdictKind.UNCLEAR:
        assert (outcome.kind is VerdictKind.ACCEPTS) == (outcome.refusals == ()), case
    assert all(refusal.path and refusal.message for refusal in outcome.refusals), case


def test_all_platforms_accept_a_good_catalog() -> None:
    outcomes = judge_all(GOOD)
    assert list(outcomes) == list(Platform)
    assert {outcome.kind.value for outcome in outcomes.values()} == {"accepts"}


@pytest.mark.fuzz
def test_every_odd_value_in_every_place() -> None:
    for path, odd in itertools.islice(itertools.product(PLACES, ODD), None, None, 1 if EVERY_CASE else 3):
        for outcome in judge_all(changed(GOOD, path, odd)).values():
            check_outcome(outcome, (path, odd))


@pytest.mark.fuzz
@given(st.sampled_from(PLACES), VALUES, st.sampled_from(PLACES), VALUES)
def test_any_graft_comes_to_one_outcome(first: JsonPath, one: Any, second: JsonPath, other: Any) -> None:
    data = changed(GOOD, first, one)
    with suppress(KeyError, IndexError, TypeError):
        data = changed(data, second, other)
    before = json.dumps(data)
    data = json.loads(before)  # the keys of objects are texts, also where an index was put
    outcomes = judge_all(data)
    assert json.dumps(data) == before
    assert judge_all(data) == outcomes
    for outcome in outcomes.values():
        check_outcome(outcome, data)


def test_a_catalog_is_left_as_it_is_where_fields_stand_in_two_spellings() -> None:
    rest = [
        {"labels": {"a": ["x" * 300]}},
        {"plans": [{"name": None, "free": False}]},
        {"plans": [{"description": ""}], "bindable": 1},
    ]
    for one in rest:
        for data in ({**GOOD, "Services": [one]}, {"SERVICES": [one], **GOOD}):
            before = copy.deepcopy(data)
            judge_all(data)
            assert data == before, one


def test_thousands_of_unknown_fields_in_one_object_take_time_in_proportion() -> None:
    data = {"services": [{f"field {n}": n for n in range(30_000)}]}
    start = time.process_time()
    judge_all(data)
    assert time.process_time() - start < 5  # twice that where each field is sought in a list of all


PLAN = ("services", 0, "plans", 0)
K8S, SM = Platform.KUBERNETES, Platform.SERVICE_MANAGER


@each("platform, path, value, expected", [
    (K8S, ("services", 0, "plans"), [], ["kubernetes-no-plan"]),
    (K8S, (*PLAN, "description"), "", ["kubernetes-description"]),
    (K8S, (*PLAN, "schemas"), {"service_instance": {"create": 1}}, ["kubernetes-type"]),
    (SM, (*PLAN, "description"), "", ["service-manager-required"]),
    (SM, (*PLAN, "name"), "reference-instance", ["service-manager-reserved-name"]),
    (SM, (*PLAN, "maximum_polling_duration"), 2**31 - 1, []),
    (SM, (*PLAN, "maximum_polling_duration"), -(2**31) - 1, ["service-manager-number"]),
    (SM, (*PLAN, "maximum_polling_duration"), 2**63, ["service-manager-type"]),
    (SM, PLAN, None, ["service-manager-crash"]),
    (SM, ("services", 0), None, ["service-manager-crash"]),
    *((SM, (*PLAN, "metadata"), {"supportsInstanceSharing": value}, []) for value in ("true", 1, None, [True])),
])  # fmt: skip
def test_rules_that_neither_recorded_answers_nor_examples_decide(
    platform: Platform, path: JsonPath, value: Any, expected: list[str]
) -> None:
    assert [refusal.rule for refusal in judge_all(changed(GOOD, path, value))[platform].refusals] == expected


def test_service_manager_stops_at_its_first_fault() -> None:
    data = changed(GOOD, (*PLAN, "name"), "")
    data["services"][0]["plans"].append(None)
    outcome = judge_all(data)[Platform.SERVICE_MANAGER]
    assert outcome.kind.value == "refuses"
    assert [refusal.rule for refusal in outcome.refusals] == ["service-manager-required", "service-manager-crash"]


def test_a_quoted_value_is_redacted_by_its_own_path() -> None:
    """Two values may be the same, and a value of several lines is quoted in one."""
    client = {"id": ["hunter2"], "secret": ["hunter2"], "redirect_uri": "https://u:hunter3@x"}
    data = changed(GOOD, ("services", 0, "dashboard_client"), client)
    data = changed(data, ("services", 0, "metadata"), "token=hunter4\n{}")
    data = changed(data, (*PLAN, "metadata"), [{"api_key": "hunter5", "size": 3}])
    outcome = judge_all(data)[Platform.CLOUD_FOUNDRY]
    assert [line.partition(", but has value ")[2] for line in outcome.messages if "but has" in line] == [
        '"token=***\\n{}"', '["(secret)"]', "(secret)", '[{"api_key"=>"(secret)", "size"=>3}]'
    ]  # fmt: skip
    lines = [line.strip() for line in outcome.messages if "but has" in line]
    assert [refusal.message for refusal in outcome.refusals] == lines
