"""What is called usual is accepted by every platform's own verdict, whatever is changed in a catalog."""

from __future__ import annotations

import contextlib
import copy
import time
from typing import TYPE_CHECKING, Any

import pytest

from osbctl.paths import value_at
from osbctl.platforms import Platform
from osbctl.platforms.judge import judge_all
from osbctl.platforms.outcome import Known, VerdictKind
from osbctl.platforms.record import PlatformRecord
from osbctl.platforms.usual import is_usual, odd_fields
from osbctl.tasks.compare import refusals_of
from osbctl.validation.survey import survey_schemas

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


USUAL = {"services": [service("cache"), service("queue")]}
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


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in inside:
        yield from places(inner, (*path, step))


def changed(path: Path, value: Any, data: dict[str, Any] = USUAL) -> dict[str, Any]:
    """`data` with `value` at `path`, or without what stands there where it is `...`."""
    data = copy.deepcopy(data)
    holder: Any = data
    for step in path[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return data


def known(data: dict[str, Any]) -> Known:
    return Known(survey_schemas(data), odd_fields(data))


def changes() -> Iterator[tuple[Path, Any]]:
    for path in places(USUAL):
        if not path or 1 in path or "parameters" in path or "tags" in path[:-1]:
            continue
        yield from ((path, value) for value in (..., *VALUES))
        if isinstance(value_at(USUAL, path), dict):
            yield from (((*path, key), value) for key in KEYS for value in VALUES[::5])


def test_what_is_usual_is_accepted_by_each_platform() -> None:
    usual = [data for data in (changed(*change) for change in changes()) if is_usual(data)]
    assert len(usual) > 120
    for data in usual:
        kinds = {platform.record.judge(data).kind for platform in Platform}
        assert kinds == {VerdictKind.ACCEPTS}, data


def test_a_platform_says_the_same_where_it_looks_at_odd_fields_alone() -> None:
    several, looked = list(changes()), 0
    for number, change in enumerate(several[::3]):
        data = changed(*change)
        with contextlib.suppress(LookupError, TypeError):  # The first change may have taken the place of the second.
            data = changed(*several[number * 7919 % len(several)], data)
        odd = odd_fields(data)
        looked += sum(not {*fields} - {"plans"} for fields in odd.values())
        for platform in Platform:
            judge = platform.record.judge
            assert judge(data, Known(survey_schemas(data), odd)) == judge(data), data
    assert looked > 5_000


def test_what_stands_there_in_two_spellings_is_worked_out_and_left_as_it_is() -> None:
    rest = [
        {"labels": {"a": ["x" * 300]}},
        {"plans": [{"name": None, "free": False}]},
        {"plans": [{"description": ""}], "bindable": 1},
        {"plans": []},
    ]
    for one in rest:
        for data in (
            {"services": USUAL["services"], "Services": [one]},
            {"SERVICES": [one], "services": USUAL["services"]},
        ):
            before = copy.deepcopy(data)
            for platform in Platform:
                judge = platform.record.judge
                assert judge(data, known(data)) == judge(before), data
            assert data == before


def test_only_what_is_usual_is_spared_the_verdicts() -> None:
    assert is_usual(USUAL)
    for path, value in {("services", 0, "id"): "id-queue", ("services", 0, "plans", 0, "name"): "\0"}.items():
        data = changed(path, value)
        assert judge_all(data, survey_schemas(data)) == judge_all(data)
    odd = changed(("services", 0, "plans", 0, "schemas", "service_binding", "create", "parameters"), {"type": "object"})
    assert judge_all(odd)[Platform.CLOUD_FOUNDRY].kind is VerdictKind.REFUSES


def test_the_platforms_are_not_asked_of_what_is_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(PlatformRecord, "judge")
    assert refusals_of(USUAL, frozenset(Platform)) == []
    with pytest.raises(AttributeError):
        refusals_of(changed(("services", 0, "id"), "id-queue"), frozenset(Platform))


@pytest.mark.parametrize("more", [{"plans": [{"schemas": {}}]}, {"dashboard_client": {"id": "b"}}, {"name": 5}])
def test_what_two_spellings_of_services_say_is_read_into_each_other(more: dict[str, Any]) -> None:
    for data in ({**USUAL, "Services": [more]}, {"SERVICES": [more], **USUAL}):
        for platform in Platform:
            assert platform.record.judge(data, known(data)) == platform.record.judge(data)


@pytest.mark.parametrize("key", ["Plans", "planſ"])
@pytest.mark.parametrize(
    "more", [{"maintenance_info": {"version": 5}}, {"schemas": {"service_instance": {"create": 1}}}]
)
def test_what_two_spellings_of_plans_say_is_read_into_each_other(key: str, more: dict[str, Any]) -> None:
    data = changed(("services", 0, key), [more])
    for platform in Platform:
        assert platform.record.judge(data, known(data)) == platform.record.judge(data)


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


def test_what_is_known_of_parameter_schemas_changes_no_verdict() -> None:
    holders = [{"service_instance": {"create": {"parameters": schema}}} for schema in copy.deepcopy(SEVERAL)]
    plans = [{**plan(f"p{at}"), "schemas": holder} for at, holder in enumerate(holders)]
    for some in (plans, plans[::-1], plans[:2], plans[4:6]):
        data = changed(("services", 0, "plans"), some)
        schemas = survey_schemas(data)
        assert schemas.all_plain is (some == plans[:2])
        assert judge_all(data, schemas) == judge_all(data)
    data = changed(("services", 0, "plans"), plans)
    refused = list(dict.fromkeys(refusal.path[3] for refusal in judge_all(data)[Platform.CLOUD_FOUNDRY].refusals))
    assert refused == [2, 3, 4, 5, 6, 8, 11, *range(14, 20)]
    unclear = [one.path[3] for one in judge_all(dict(data))[Platform.CLOUD_FOUNDRY].doubts]
    assert unclear == [], "a refusal comes before a doubt"


def spellings(key: str) -> set[str]:
    """How Go reads the key of a field, too; Unicode's folding has signs of its own for s and k."""
    return {key.upper(), key.title(), key.replace("s", "ſ", 1), key.replace("k", "K", 1)} - {key}


def test_a_field_in_two_spellings_says_the_same_before_all_platforms() -> None:
    looked = 0
    for path in [path for path in places(USUAL) if path and 1 not in path and "parameters" not in path]:
        holder: Path = path[:-1]
        for key in spellings(path[-1]) if isinstance(path[-1], str) else ():
            for value in (None, value_at(USUAL, path), *VALUES[looked % 7 :: 7]):
                before = {key: copy.deepcopy(value), **value_at(USUAL, holder)}
                data = changed(holder, before) if holder else before
                for several in (data, changed((*holder, key), copy.deepcopy(value))):
                    schemas = survey_schemas(several)
                    assert judge_all(several, schemas) == {
                        platform: platform.record.judge(several) for platform in Platform
                    }, several
                    looked += 1
    assert looked > 1_000


def test_of_a_usual_service_offering_cloud_foundry_looks_at_its_plans_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("osbctl.platforms.cloudfoundry.service.check_rows")
    data = changed(("services", 0, "plans", 0, "free"), "yes")
    refusals = Platform.CLOUD_FOUNDRY.record.judge(data, known(data)).refusals
    assert [refusal.path[-1] for refusal in refusals] == ["free"]
    with pytest.raises(NameError):
        Platform.CLOUD_FOUNDRY.record.judge(data)


def test_thousands_of_odd_fields_in_one_object_take_time_in_proportion() -> None:
    data = {"services": [{f"field {n}": n for n in range(30_000)}]}
    start = time.process_time()
    judge_all(data, asked=tuple(Platform))
    assert time.process_time() - start < 5  # twice that where each field is sought in a list of all
