"""Cloud Foundry's rules one by one, in its own words (Cloud Controller, lib/services/service_brokers/v2)."""

from __future__ import annotations

from typing import Any

import pytest

from osbctl.findings import VerdictKind
from osbctl.validation.platforms import cloudfoundry

PLAN: dict[str, Any] = {"id": "p1", "name": "small", "description": "Small."}
SERVICE: dict[str, Any] = {"id": "s1", "name": "db", "description": "A database.", "bindable": True, "plans": [PLAN]}


def service(**fields: Any) -> dict[str, Any]:
    return {"services": [{**SERVICE, **fields}]}


def plan(**fields: Any) -> dict[str, Any]:
    return service(plans=[{**PLAN, **fields}])


def told(data: dict[str, Any]) -> list[str]:
    return [refusal.message for refusal in cloudfoundry.judge(data).refusals]


LONG = "x" * 10_001
CLIENT = {"id": "ui", "secret": "s", "redirect_uri": "https://ui.example.com"}


@pytest.mark.parametrize(
    "data",
    [
        service(),
        service(plan_updateable=None, tags=[], requires=[], metadata=None, dashboard_client=None),
        service(plan_updateable=False, metadata=False, dashboard_client=False),
        service(dashboard_client=CLIENT, requires=["syslog_drain", "route_forwarding", "volume_mount"]),
        service(tags=["x" * 2_048]),
        service(description="x" * 10_000, unknown={"a": 1}),
        plan(free=None, bindable=None, metadata=False, schemas=False, maintenance_info=False),
        plan(maximum_polling_duration=-5),
        plan(maintenance_info={"version": "1.2.3-rc.1+build.5", "description": "x"}),
        plan(maintenance_info={"version": "not this line\n1.2.3"}),
    ],
)
def test_accepts(data: dict[str, Any]) -> None:
    outcome = cloudfoundry.judge(data)
    assert (outcome.kind, outcome.refusals, outcome.messages) == (VerdictKind.ACCEPTS, (), ())


@pytest.mark.parametrize(
    ("data", "messages"),
    [
        ({}, ["Service broker must provide at least one service"]),
        ({"services": {}}, ["Service broker must provide at least one service"]),
        (service(id=" \u00a0"), ["Service id is required"]),
        (service(name=5), ["Service name must be a string, but has value 5"]),
        (service(description=LONG), ["Service description may not have more than 10000 characters"]),
        (service(bindable=None), ['Service "bindable" field is required']),
        (service(bindable="yes"), ['Service "bindable" field must be a boolean, but has value "yes"']),
        (service(plan_updateable=1), ['Service "plan_updateable" field must be a boolean, but has value 1']),
        (service(tags="a"), ['Service tags must be an array of strings, but has value "a"']),
        (service(tags=["x" * 2_049]), ["Tags for the service db must be 2048 characters or less."]),
        (service(requires=["x"]), ['Service "requires" field contains unsupported value "x"']),
        (service(metadata=[1]), ["Service metadata must be a hash, but has value [1]"]),
        (service(metadata={"shareable": 0}), ["Service metadata shareable must be a boolean, but has value 0"]),
        (service(dashboard_client="x"), ['Service dashboard client attributes must be a hash, but has value "x"']),
        (service(dashboard_client={**CLIENT, "id": None}), ["Service dashboard client id is required"]),
        (service(plans=[]), ["At least one plan is required"]),
        (service(plans=None), ["At least one plan is required"]),
        (service(plans=["x"]), ['Service plans list must be an array of hashes, but has value ["x"]']),
        (plan(free="no"), ['Plan free must be a boolean, but has value "no"']),
        (plan(metadata="x"), ['Plan metadata must be a hash, but has value "x"']),
        (plan(maximum_polling_duration=1.5), ["Maximum polling duration must be an integer, but has value 0.15e1"]),
        (plan(maintenance_info={"version": "1"}), [
            'Maintenance info version must be a Semantic Version, but has value "1"'
        ]),
        (plan(maintenance_info={"version": "1.0.0", "x": 1}), ["Maintenance info contains invalid key(s): x"]),
        (plan(maintenance_info={"version": "1.0.0", "description": "x" * 2_000}), [
            "Maintenance info must serialize to 2000 characters or fewer in JSON, but serializes to 2036 characters"
        ]),
        (plan(maintenance_info={"version": "1.0.0", "x": "x" * 2_000}), [
            "Maintenance info must serialize to 2000 characters or fewer in JSON, but serializes to 2026 characters",
            "Maintenance info contains invalid key(s): x",
        ]),
        (plan(schemas=1), ["Plan schemas must be a hash, but has value 1"]),
        (plan(schemas={"service_instance": {"create": {"parameters": {}}}, "service_binding": {"create": 1}}), [
            "Schemas service_binding.create must be a hash, but has value 1"
        ]),
    ],
)  # fmt: skip
def test_refuses_in_its_words(data: dict[str, Any], messages: list[str]) -> None:
    assert told(data) == messages
    assert cloudfoundry.judge(data).kind is VerdictKind.REFUSES


def test_what_must_be_unique() -> None:
    other = {**SERVICE, "plans": [{**PLAN, "id": "p2"}], "dashboard_client": CLIENT}
    assert told({"services": [{**SERVICE, "dashboard_client": CLIENT}, other]}) == [
        "Service ids must be unique",
        "Service names must be unique within a broker",
        "Service dashboard_client id must be unique",
    ]
    twins = told(service(plans=[PLAN, PLAN]))
    assert "Plan ids must be unique. Service db already has a plan with id 'p1'" in twins
    assert "Plan names must be unique within a service. Service db already has a plan named small" in twins
    assert len(twins) == 3


def test_lines_are_indented_as_its_own() -> None:
    data = service(name="", plans=[{**PLAN, "name": None, "schemas": {"service_instance": 1}}])
    assert cloudfoundry.judge(data).messages == (
        "Service ",
        "  Service name is required",
        "  Plan ",
        "    Plan name is required",
        "    Schemas",
        "      Schemas service_instance must be a hash, but has value 1",
    )


@pytest.mark.parametrize(
    "data",
    [
        {"services": None},
        {"services": "x"},
        {"services": {"a": 1}},
        {"services": [None]},
        {"services": ["x"]},
        service(plans={"a": 1}),
        service(plans=[1]),
        plan(maintenance_info=True),
        plan(maintenance_info=[1]),
    ],
)
def test_crashes(data: dict[str, Any]) -> None:
    outcome = cloudfoundry.judge(data)
    assert outcome.kind is VerdictKind.CRASHES
    assert [refusal.rule for refusal in outcome.refusals] == ["cloudfoundry-crash"]
