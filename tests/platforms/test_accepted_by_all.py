"""Catalogs that `accepted_by_all` accepts are accepted by every platform's own verdict."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

import pytest

from osbctl.paths import value_at
from osbctl.platforms import Platform, PlatformRecord
from osbctl.platforms.outcome import VerdictKind
from osbctl.platforms.verdicts import accepted_by_all, judge_all
from osbctl.tasks.compare import refusals_of
from tests.corpus import EVERY_CASE
from tests.fragments import changed, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.paths import Path

SCHEMA = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}
OPERATION = {"parameters": SCHEMA}


def plan(name: str) -> dict[str, Any]:
    return {
        "id": f"id-{name}",
        "name": name,
        "description": "A plan.",
        "free": True,
        "bindable": True,
        "plan_updateable": False,
        "binding_rotatable": True,
        "maximum_polling_duration": 2**31 - 1,
        "maintenance_info": {"version": "1.20.3", "description": "New <glass> & \u2028 frames."},
        "metadata": {"displayName": "Plan", "bullets": ["a"], "costs": [{"amount": {"usd": 1.5}, "unit": "MONTHLY"}]},
        "schemas": {"service_instance": {"create": OPERATION, "update": OPERATION}, "service_binding": {"create": {}}},
    }


def service(name: str) -> dict[str, Any]:
    flags = ("bindable", "plan_updateable", "instances_retrievable", "bindings_retrievable", "allow_context_updates")
    return {
        "id": f"id-{name}",
        "name": name,
        "description": "A service.",
        **dict.fromkeys(flags, True),
        "tags": ["x" * 64] * 32,
        "requires": ["syslog_drain"],
        "metadata": {"shareable": True, "documentationUrl": "https://example.com", "other": [1]},
        "dashboard_client": {"id": f"{name}-client", "secret": "s", "redirect_uri": "https://example.com"},
        "plans": [plan(f"{name}-small"), plan(f"{name}-large")],
    }


GOOD = {"services": [service("cache"), service("queue")]}
VALUES: list[Any] = [
    None, True, False, 0, -1, 5.0, 2**31, 2**63, 10**400, [], {}, [None], [{}], ["a"], ["x" * 65], ["x"] * 33, {"a": 1},
    "", " ", "\0", "a\0", "a\n", " a", "é", "a" * 63, "a" * 64, "a" * 10_001, "1.2", "1.2.3", "1.2.3\n", "01.2.3",
    "reference-instance", "id-queue", "queue", "QUEUE", "id-cache-large", "cache-large", "Cache-Large", "queue-client",
    "1.2.3.", ["x" * 64] * 33, ["x" * 2_049], {"supportedPlatforms": ["a"], "excludedPlatformNames": ["b"]},
]  # fmt: skip
KEYS = [
    "ID", "Name", "planſ", "Metadata", "labels", "created_at", "catalog_name", "last_operation", "broKer_id", "unknown",
    "supportedPlatforms", "supportsInstanceSharing", "extra", "services", "Services",
]  # fmt: skip


def changes() -> Iterator[tuple[Path, Any]]:
    for path in places(GOOD):
        if not path or 1 in path or "parameters" in path or "tags" in path[:-1]:
            continue
        yield from ((path, value) for value in (..., *VALUES))
        if isinstance(value_at(GOOD, path), dict):
            yield from (((*path, key), value) for key in KEYS for value in VALUES[::5])


@pytest.mark.fuzz
def test_what_is_accepted_by_all_is_accepted_by_each_platform() -> None:
    accepted = [data for data in (changed(GOOD, *change) for change in changes()) if accepted_by_all(data)]
    assert len(accepted) > 1_000
    for data in accepted[:: 1 if EVERY_CASE else 4]:
        kinds = {platform.record.judge(data).kind for platform in Platform}
        assert kinds == {VerdictKind.ACCEPTS}, data


def test_a_catalog_is_left_as_it_is_where_fields_stand_in_two_spellings() -> None:
    rest = [
        {"labels": {"a": ["x" * 300]}},
        {"plans": [{"name": None, "free": False}]},
        {"plans": [{"description": ""}], "bindable": 1},
    ]
    for one in rest:
        for data in (
            {"services": GOOD["services"], "Services": [one]},
            {"SERVICES": [one], "services": GOOD["services"]},
        ):
            before = copy.deepcopy(data)
            assert not accepted_by_all(data)
            judge_all(data)
            assert data == before


def test_platforms_are_not_asked_of_what_all_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(PlatformRecord, "judge")
    assert refusals_of(GOOD, frozenset(Platform)) == []
    with pytest.raises(AttributeError):
        refusals_of(changed(GOOD, ("services", 0, "id"), "id-queue"), frozenset(Platform))


DRAFT_04 = {"$schema": "http://json-schema.org/draft-04/schema#"}
BROKEN = {**DRAFT_04, "properties": {"a": {"type": "strin"}}}
TITLED = [{**DRAFT_04, "title": "b", "$ref": reference} for reference in ("#/title", "#title", "#/%74itle")]
NEAR_THE_BOUND = {**DRAFT_04, "default": [1e300] * 213}  # which Cloud Foundry counts with all its digits
SEVERAL: list[dict[str, Any]] = [
    SCHEMA, {**SCHEMA, "title": "a"}, {}, {"title": "a"}, BROKEN, {**BROKEN, "title": "a", "description": "b"},
    {**BROKEN, "title": 5}, NEAR_THE_BOUND, {**NEAR_THE_BOUND, "title": "a" * 499},
    {**DRAFT_04, "id": "http://a/b"}, {**DRAFT_04, "$ref": "http://a/b#", "title": "c"},
    {**DRAFT_04, "$ref": "http://a/c#"}, {**DRAFT_04, "id": "http://a/c"}, {**DRAFT_04, "$ref": "http://a/c#"},
    *TITLED, *({**DRAFT_04, "$ref": one["$ref"]} for one in TITLED),
]  # fmt: skip


def with_schemas(*schemas: dict[str, Any]) -> dict[str, Any]:
    """`GOOD` with a plan for each parameter schema."""
    holders = [{"service_instance": {"create": {"parameters": copy.deepcopy(schema)}}} for schema in schemas]
    plans = [{**plan(f"p{at}"), "schemas": holder} for at, holder in enumerate(holders)]
    return changed(GOOD, ("services", 0, "plans"), plans)


def test_each_of_several_parameter_schemas_is_judged_by_itself() -> None:
    data = with_schemas(*SEVERAL)
    refused = list(dict.fromkeys(refusal.path[3] for refusal in judge_all(data)[Platform.CLOUD_FOUNDRY].refusals))
    assert refused == [2, 3, 4, 5, 6, 8, 11, *range(14, 20)]
    assert judge_all(data)[Platform.CLOUD_FOUNDRY].doubts == (), "a refusal comes before a doubt"


@pytest.mark.parametrize(
    ("schema", "accepted"),
    [
        ({}, True),
        ({"title": "x" * 1_000}, True),
        ({"title": 1}, False),
        ({"id": "x"}, False),
        ({"$ref": "#"}, False),
        ({"enum": []}, False),
        ({"properties": {"a": {"$schema": DRAFT_04["$schema"]}}}, False),
        ({"properties": {"a": {"type": "int"}}}, False),
        ({"properties": {"a": {"enum": ["x" * 50_000]}}}, True),
        ({"properties": {"a": {"enum": ["x" * 66_000]}}}, False),
        ({"properties": {"a": {"enum": ["<" * 11_000]}}}, False),
        ({"properties": {"a": {"maximum": 1e300}}}, False),
        ({"allOf": [{"type": "object"}]}, True),
    ],
)
def test_a_parameter_schema_is_accepted_by_all_where_cloud_foundry_takes_it_beyond_doubt(
    schema: dict[str, Any], accepted: bool
) -> None:
    data = with_schemas(DRAFT_04, {**DRAFT_04, **schema})
    assert accepted_by_all(data) is accepted
    assert not accepted or Platform.CLOUD_FOUNDRY.record.judge(data).kind is VerdictKind.ACCEPTS


def test_thousands_of_unknown_fields_in_one_object_take_time_in_proportion() -> None:
    data = {"services": [{f"field {n}": n for n in range(30_000)}]}
    start = time.process_time()
    judge_all(data)
    assert time.process_time() - start < 5  # twice that where each field is sought in a list of all
