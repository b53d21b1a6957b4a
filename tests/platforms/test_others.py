"""Service Catalog, Service Manager and Korifi; and that no catalog whatever breaks any of the four."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osbctl.platforms import Platform
from osbctl.platforms.judge import judge_all
from osbctl.platforms.outcome import Outcome, VerdictKind
from osbctl.resources import catalogs_folder

PLAN: dict[str, Any] = {"id": "p1", "name": "small", "description": "Small."}
SERVICE: dict[str, Any] = {"id": "s1", "name": "db", "description": "A database.", "bindable": True, "plans": [PLAN]}
GOOD = json.loads((catalogs_folder() / "interface-example.json").read_text(encoding="utf-8"))


def service(**fields: Any) -> dict[str, Any]:
    return {"services": [{**SERVICE, **fields}]}


def plan(**fields: Any) -> dict[str, Any]:
    return service(plans=[{**PLAN, **fields}])


def rules(data: dict[str, Any], platform: Platform) -> list[tuple[str, tuple[str | int, ...]]]:
    outcome = judge_all(data)[platform]
    assert (outcome.kind is VerdictKind.ACCEPTS) == (not outcome.refusals)
    return [(refusal.rule, refusal.path[2:]) for refusal in outcome.refusals]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (service(), []),
        (service(bindable=None, tags=None, plans=[{**PLAN, "free": None}]), []),
        (service(bindable="x", name=1), [("kubernetes-type", ("name",)), ("kubernetes-type", ("bindable",))]),
        (service(Bindable="x"), [("kubernetes-type", ("Bindable",))]),
        (service(dashboard_client={"id": 1}), [("kubernetes-type", ("dashboard_client", "id"))]),
        (service(tags=["a", 1]), [("kubernetes-type", ("tags", 1))]),
        (service(name="a b"), [("kubernetes-name", ("name",))]),
        (service(id="x" * 64), [("kubernetes-name", ("id",))]),
        (service(id="x" * 63), []),
        (service(plans=[]), [("kubernetes-no-plan", ("plans",))]),
        (plan(description=""), [("kubernetes-description", ("plans", 0, "description"))]),
        (service(plans=[None]), [
            ("kubernetes-name", ("plans", 0, "id")),
            ("kubernetes-name", ("plans", 0, "name")),
            ("kubernetes-description", ("plans", 0, "description")),
        ]),
        (plan(maximum_polling_duration="x"), []),
    ],
)  # fmt: skip
def test_kubernetes(data: dict[str, Any], expected: list[Any]) -> None:
    assert rules(data, Platform.KUBERNETES) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (service(), []),
        (service(description=None), []),
        (service(name=""), [("service-manager-required", ("name",))]),
        (plan(description=None), [("service-manager-required", ("plans", 0, "description"))]),
        (plan(maximum_polling_duration=1.5), [("service-manager-type", ("plans", 0, "maximum_polling_duration"))]),
        (plan(maximum_polling_duration=True), [("service-manager-type", ("plans", 0, "maximum_polling_duration"))]),
        (plan(name="reference-instance"), [("service-manager-reserved-name", ("plans", 0, "name"))]),
        (service(plans=[PLAN, {**PLAN, "id": "p2"}]), [("service-manager-unique", ("plans", 1, "name"))]),
        (plan(metadata={"supportedPlatforms": ["a"], "excludedPlatformNames": ["b"]}), [
            ("service-manager-platforms", ("plans", 0, "metadata", "excludedPlatformNames"))
        ]),
        (plan(metadata={"supportedPlatforms": ["a"], "excludedPlatformNames": []}), []),
        (plan(metadata="x"), [("service-manager-type", ("plans", 0, "metadata"))]),
    ],
)  # fmt: skip
def test_service_manager(data: dict[str, Any], expected: list[Any]) -> None:
    assert rules(data, Platform.SERVICE_MANAGER) == expected


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        (service(), VerdictKind.ACCEPTS, []),
        (service(plans=[]), VerdictKind.ACCEPTS, []),
        ({}, VerdictKind.ACCEPTS, []),
        (plan(binding_rotatable=1), VerdictKind.REFUSES, [("korifi-type", ("plans", 0, "binding_rotatable"))]),
        (service(metadata={"documentationUrl": None}), VerdictKind.CRASHES, [
            ("korifi-crash", ("metadata", "documentationUrl"))
        ]),
        (service(metadata={"documentationUrl": "x"}), VerdictKind.ACCEPTS, []),
    ],
)  # fmt: skip
def test_korifi(data: dict[str, Any], kind: VerdictKind, expected: list[Any]) -> None:
    assert judge_all(data)[Platform.KORIFI].kind is kind
    assert rules(data, Platform.KORIFI) == expected


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


KEYS = ["id", "name", "plans", "schemas", "$ref", "$schema", "metadata", "costs", "version", "properties", "services"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner),
    max_leaves=8,
)


def grafted(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    data: Any = copy.deepcopy(GOOD)
    holder = data
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return dict(data)


@settings(max_examples=300)
@given(st.sampled_from(places(GOOD)[1:]), JSON)
def test_no_catalog_breaks_the_judges(path: tuple[str | int, ...], value: Any) -> None:
    data = grafted(path, value)
    first: dict[Platform, Outcome] = judge_all(data)
    assert first == judge_all(copy.deepcopy(data))
    assert list(first) == list(Platform)
