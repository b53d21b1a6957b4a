"""Kinds of change: each row of the table with a pair of small catalogs."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from osbctl.changes import Level
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.platforms import Platform

from .make import by_rule, catalog, one, plan, service, with_plan

CF, K8S, SM, KORIFI = Platform.CLOUD_FOUNDRY, Platform.KUBERNETES, Platform.SERVICE_MANAGER, Platform.KORIFI
R, B, Y, S = Level.REFUSED, Level.BREAKING, Level.RISKY, Level.SAFE

TWO = catalog(service("s1", "db", plan("p1", "small"), plan("p2", "large")))
TWO_SERVICES = catalog(service("s1", "db", plan("p1", "small")), service("s2", "mq", plan("p2", "small")))
NONE: frozenset[str] = frozenset()
P2 = frozenset({"p2"})
P1 = frozenset({"p1"})


def two(first: dict[str, Any], *more: dict[str, Any]) -> dict[str, Any]:
    return catalog(service("s1", "db", first, *more))


def schema(**keywords: Any) -> dict[str, Any]:
    parameters = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", **keywords}
    return {"schemas": {"service_instance": {"create": {"parameters": parameters}}}}


SMALL = plan("p1", "small")
SWAPPED = catalog(service("s1", "mq", SMALL), service("s2", "db", plan("p2", "small")))
REUSED = catalog(service("s2", "db", plan("p2", "small")))
TAKER_FIRST = catalog(service("s2", "db", plan("p2", "small")), service("s1", "sql", SMALL))
ROWS: list[tuple[str, Any, Any, frozenset[str] | None, str, dict[Platform, Level]]] = [
    ("plan removed", TWO, two(SMALL), None, "plan-removed", {CF: B, K8S: B, SM: B, KORIFI: B}),
    ("plan removed, unused", TWO, two(SMALL), NONE, "plan-removed", {CF: B, K8S: B, SM: B}),
    ("plan removed, used", TWO, two(SMALL), P2, "plan-removed", {CF: B, K8S: B, SM: R}),
    ("plan removed, another used", TWO, two(SMALL), P1, "plan-removed", {SM: B}),
    ("plan id", TWO, two(plan("q", "SMALL"), plan("p2", "large")), None, "plan-id", {CF: R, K8S: B, SM: R}),
    ("plan id, used", TWO, two(plan("q", "small"), plan("p2", "large")), P1, "plan-id", {CF: R, SM: R}),
    ("plan id, unused", TWO, two(plan("q", "small"), plan("p2", "large")), P2, "plan-id", {CF: R, SM: Y}),
    (
        "service id, new plan ids",
        TWO,
        catalog(service("t", "db", plan("q1", "small"), plan("q2", "large"))),
        None,
        "service-id",
        {CF: R, K8S: B, SM: R},
    ),
    ("service id, unused", TWO, catalog(service("t", "db", plan("q1", "small"))), NONE, "service-id", {CF: Y, SM: Y}),
    ("service id, used", TWO, catalog(service("t", "db", plan("q1", "small"))), P1, "service-id", {CF: R, SM: R}),
    (
        "service id, plans kept",
        TWO,
        catalog(service("t", "db", SMALL)),
        NONE,
        "service-id-plans-kept",
        {CF: R, K8S: B, SM: Y},
    ),
    (
        "plan moved",
        TWO_SERVICES,
        catalog(service("s1", "db", plan("p3", "x")), service("s2", "mq", plan("p2", "small"), SMALL)),
        NONE,
        "plan-moved",
        {CF: R, K8S: B, SM: Y},
    ),
    (
        "plan moved, used",
        TWO_SERVICES,
        catalog(service("s1", "db", plan("p3", "x")), service("s2", "mq", plan("p2", "small"), SMALL)),
        P1,
        "plan-moved",
        {CF: R, K8S: B, SM: R},
    ),
    ("name reused", TWO, two(plan("p2", "small")), None, "plan-name-reused", {CF: R, K8S: B, SM: R}),
    (
        "names swapped",
        TWO,
        two(plan("p1", "large"), plan("p2", "small")),
        None,
        "plan-names-swapped",
        {CF: R, K8S: B, SM: R},
    ),
    (
        "names swapped, one in another case",
        TWO,
        two(plan("p1", "Large"), plan("p2", "small")),
        None,
        "plan-names-swapped",
        {CF: R, K8S: B, SM: B},
    ),
    ("service names swapped", TWO_SERVICES, SWAPPED, None, "service-names-swapped", {CF: B, K8S: B, SM: R}),
    ("service names swapped, used", TWO_SERVICES, SWAPPED, frozenset({"p1", "p2"}), "service-names-swapped", {CF: R}),
    ("service names swapped, unused", TWO_SERVICES, SWAPPED, NONE, "service-names-swapped", {CF: B}),
    (
        "service names swapped, one in another case",
        TWO_SERVICES,
        catalog(service("s1", "mq", SMALL), service("s2", "DB", plan("p2", "small"))),
        NONE,
        "service-name-case",
        {CF: R, K8S: B, SM: B},
    ),
    ("service name reused", TWO_SERVICES, REUSED, None, "service-name-reused", {CF: B, SM: R}),
    ("service name reused, used", TWO_SERVICES, REUSED, P1, "service-name-reused", {CF: R}),
    ("service name reused, its own used", TWO_SERVICES, REUSED, P2, "service-name-reused", {CF: B, SM: R}),
    (
        "a service renamed in case alone",
        one(),
        catalog(service("s1", "DB", SMALL)),
        NONE,
        "service-name-case",
        {CF: R, K8S: B},
    ),
    (
        "a new service with the name of an old one but for the case, which is gone",
        one(),
        catalog(service("s2", "DB", plan("p2", "small"))),
        NONE,
        "service-name-case",
        {CF: R},
    ),
    (
        "old one renamed, new one takes the name",
        TWO,
        two(plan("p1", "tiny"), plan("p2", "large"), plan("p3", "small")),
        None,
        "plan-name-passed-on",
        {CF: B, K8S: B, SM: B},
    ),
    (
        "renamed to a name that another one has but for the case",
        TWO,
        two(SMALL, plan("p2", "Small")),
        None,
        "plan-name-taken",
        {CF: R, K8S: B, SM: B},
    ),
    (
        "new one with a name that another one has but for the case",
        two(SMALL),
        two(SMALL, plan("p2", "Small")),
        None,
        "plan-name-taken",
        {CF: R, K8S: S, SM: S},
    ),
    (
        "taker before giver",
        TWO,
        two(plan("p2", "small"), plan("p1", "tiny")),
        None,
        "plan-name-taken",
        {CF: R, K8S: B, SM: R},
    ),
    (
        "giver before taker",
        TWO,
        two(plan("p1", "tiny"), plan("p2", "small")),
        None,
        "plan-name-passed-on",
        {CF: B, K8S: B, SM: B},
    ),
    (
        "new plan before giver, but saved last",
        two(SMALL),
        two(plan("p3", "small"), plan("p1", "tiny")),
        None,
        "plan-name-passed-on",
        {CF: B, K8S: B, SM: B},
    ),
    ("new service before giver", one(), TAKER_FIRST, None, "service-name-passed-on", {CF: B, K8S: B, SM: B}),
    ("new service before giver, used", one(), TAKER_FIRST, P1, "service-name-passed-on", {CF: R, K8S: B}),
    ("service taker before giver", TWO_SERVICES, TAKER_FIRST, P1, "service-name-passed-on", {CF: R, K8S: B, SM: R}),
    ("service taker before giver, unused", TWO_SERVICES, TAKER_FIRST, P2, "service-name-passed-on", {CF: B, K8S: B}),
    (
        "service renamed to a name that another one keeps but for the case",
        TWO_SERVICES,
        catalog(service("s1", "db", SMALL), service("s2", "DB", plan("p2", "small"))),
        P1,
        "service-renamed",
        {CF: B, K8S: B},
    ),
    ("renamed", TWO, two(plan("p1", "tiny"), plan("p2", "large")), None, "plan-renamed", {CF: B, K8S: B, SM: B}),
    ("only the case", TWO, two(plan("p1", "Small"), plan("p2", "large")), None, "plan-renamed", {CF: B}),
    ("service renamed", one(), catalog(service("s1", "sql", SMALL)), None, "service-renamed", {CF: B, K8S: B, SM: B}),
    ("new plan", two(SMALL), TWO, None, "plan-added", {CF: S, K8S: S, SM: S, KORIFI: S}),
    ("new service", one(), TWO_SERVICES, None, "service-added", {CF: S, K8S: S, SM: S}),
    ("service removed", TWO_SERVICES, one(), None, "service-removed", {CF: B, K8S: B, SM: B}),
    ("service removed, used", TWO_SERVICES, one(), P2, "service-removed", {SM: R}),
    ("free to paid", with_plan(), with_plan(free=False), None, "free-to-paid", {CF: B}),
    ("paid to free", with_plan(free=False), with_plan(free=True), None, "paid-to-free", {CF: S, K8S: S, SM: S}),
    (
        "paid is left out",
        with_plan(free=False),
        with_plan(),
        None,
        "paid-to-free",
        {CF: Y, K8S: S, SM: Y, KORIFI: S},
    ),
    ("paid is null", with_plan(free=False), with_plan(free=None), None, "paid-to-free", {CF: Y, K8S: S}),
    (
        "paid is written out",
        with_plan(free=None),
        with_plan(free=False),
        None,
        "free-to-paid",
        {CF: B, K8S: S, SM: Y, KORIFI: S},
    ),
    ("paid, written out", with_plan(free=True), with_plan(free=False), None, "free-to-paid", {CF: B, K8S: Y}),
    (
        "bindable of a plan, left out before",
        with_plan(),
        with_plan(bindable=False),
        None,
        "bindable-withdrawn",
        {CF: B, KORIFI: S},
    ),
    (
        "bindable of a plan, left out now",
        with_plan(bindable=False),
        with_plan(),
        None,
        "capability-granted",
        {CF: S, KORIFI: S},
    ),
    ("bindable", one(), one(bindable=False), None, "bindable-withdrawn", {CF: B, K8S: B}),
    ("bindable of a plan", with_plan(), with_plan(bindable=False), None, "bindable-withdrawn", {CF: B}),
    (
        "updateable",
        one(plan_updateable=True),
        one(),
        None,
        "plan-updateable-withdrawn",
        {CF: B, K8S: B, SM: Y, KORIFI: Y},
    ),
    (
        "updateable of a plan",
        with_plan(plan_updateable=True),
        with_plan(),
        None,
        "plan-updateable-withdrawn",
        {CF: B, K8S: S},
    ),
    (
        "instances retrievable",
        one(instances_retrievable=True),
        one(),
        None,
        "instances-retrievable-withdrawn",
        {CF: B, K8S: S},
    ),
    (
        "bindings retrievable",
        one(bindings_retrievable=True),
        one(),
        None,
        "bindings-retrievable-withdrawn",
        {CF: B, K8S: S, KORIFI: Y},
    ),
    ("context updates", one(allow_context_updates=True), one(), None, "context-updates-withdrawn", {CF: B, K8S: S}),
    (
        "bindable, Korifi",
        with_plan(bindable=True),
        with_plan(bindable=False),
        None,
        "bindable-withdrawn",
        {CF: B, KORIFI: Y},
    ),
    ("bindable dropped, Korifi", with_plan(bindable=True), with_plan(), None, "explicit-dropped", {CF: S, KORIFI: Y}),
    (
        "no version",
        with_plan(maintenance_info={"version": ""}),
        with_plan(maintenance_info=None),
        None,
        "other-field",
        {KORIFI: S},
    ),
    (
        "sharing of instances",
        with_plan(metadata={"supportsInstanceSharing": True}),
        with_plan(metadata={}),
        None,
        "instance-sharing-withdrawn",
        {CF: S, SM: Y},
    ),
    (
        "sharing of instances comes",
        with_plan(),
        with_plan(metadata={"supportsInstanceSharing": True}),
        None,
        "instance-sharing-granted",
        {CF: S, SM: S},
    ),
    (
        "platforms lost",
        with_plan(metadata={"supportedPlatforms": ["a", "b"]}),
        with_plan(metadata={"supportedPlatforms": ["b"]}),
        None,
        "platforms-withdrawn",
        {CF: S, SM: B},
    ),
    (
        "platforms gained",
        with_plan(metadata={"supportedPlatforms": ["b"]}),
        with_plan(metadata={"supportedPlatforms": []}),
        None,
        "metadata",
        {SM: S},
    ),
    (
        "shareable",
        one(metadata={"shareable": True}),
        one(metadata={"shareable": False}),
        None,
        "shareable-withdrawn",
        {CF: B, K8S: S},
    ),
    (
        "binding rotatable",
        with_plan(binding_rotatable=True),
        with_plan(),
        None,
        "binding-rotatable-withdrawn",
        {CF: S, K8S: S, SM: S, KORIFI: S},
    ),
    ("granted", one(), one(plan_updateable=True), None, "capability-granted", {CF: S}),
    (
        "maintenance",
        with_plan(maintenance_info={"version": "1.0.0"}),
        with_plan(maintenance_info={"version": "1.0.1"}),
        None,
        "maintenance-version",
        {CF: Y, K8S: S},
    ),
    (
        "maintenance added",
        with_plan(),
        with_plan(maintenance_info={"version": "1.0.0"}),
        None,
        "maintenance-version",
        {},
    ),
    (
        "requires removed",
        one(requires=["syslog_drain"]),
        one(requires=[]),
        None,
        "requires-removed",
        {CF: B, K8S: S},
    ),
    ("requires added", one(), one(requires=["syslog_drain"]), None, "requires-added", {CF: Y}),
    (
        "schema narrowed",
        with_plan(**schema()),
        with_plan(**schema(required=["a"])),
        None,
        "schema-required-added",
        {CF: B},
    ),
    ("schema added", with_plan(), with_plan(**schema(required=["a"])), None, "schema-added", {CF: B}),
    ("schema relaxed", with_plan(**schema(required=["a"])), with_plan(**schema()), None, "schema-relaxed", {CF: S}),
    (
        "schema default",
        with_plan(**schema(properties={"a": {"default": 1}})),
        with_plan(**schema(properties={"a": {"default": 2}})),
        None,
        "schema-default-changed",
        {CF: Y},
    ),
    ("emptied", one(), catalog(), None, "catalog-emptied", {CF: R, K8S: B}),
    ("without plans", one(), catalog(service("s1", "db")), None, "service-without-plans", {CF: R, K8S: R}),
    (
        "polling lowered",
        with_plan(maximum_polling_duration=60),
        with_plan(maximum_polling_duration=30),
        None,
        "polling-lowered",
        {CF: Y, K8S: S, KORIFI: S},
    ),
    ("polling set", with_plan(), with_plan(maximum_polling_duration=30), None, "polling-lowered", {CF: Y}),
    (
        "polling raised",
        with_plan(maximum_polling_duration=30),
        with_plan(maximum_polling_duration=60),
        None,
        "polling-raised",
        {CF: S},
    ),
    (
        "dashboard",
        one(dashboard_client={"id": "a"}),
        one(dashboard_client={"id": "b"}),
        None,
        "dashboard-client",
        {CF: Y, K8S: S},
    ),
    ("tag removed", one(tags=["a", "b"]), one(tags=["b"]), None, "tag-removed", {CF: Y}),
    ("tag added", one(tags=["b"]), one(tags=["a", "b"]), None, "tag-added", {CF: S}),
    ("tags turned", one(tags=["a", "b"]), one(tags=["b", "a"]), None, "order", {CF: S}),
    ("requires turned", one(requires=["a", "b"]), one(requires=["b", "a"]), None, "order", {CF: S}),
    ("tags that are no texts", one(tags=[1]), one(tags=[2]), None, "other-field", {CF: S}),
    ("a tag that stood there twice", one(tags=["a", "a"]), one(tags=["a"]), None, "order", {CF: S}),
    (
        "polling misshapen",
        with_plan(maximum_polling_duration="a"),
        with_plan(maximum_polling_duration="b"),
        None,
        "other-field",
        {CF: S},
    ),
    ("dashboard gone", one(dashboard_client={"id": "a", "secret": "x"}), one(), None, "dashboard-client", {CF: Y}),
    ("dashboard new", one(), one(dashboard_client={"id": "a", "secret": "x"}), None, "dashboard-client", {CF: Y}),
    ("plans turned", TWO, two(plan("p2", "large"), SMALL), None, "order", {CF: S}),
    (
        "services turned",
        TWO_SERVICES,
        {"services": TWO_SERVICES["services"][::-1]},
        None,
        "order",
        {CF: S},
    ),
    (
        "a dashboard client beside swapped names",
        catalog(service("s1", "db", SMALL, plan("p2", "large"), dashboard_client={"id": "a"})),
        catalog(service("s1", "db", plan("p1", "large"), plan("p2", "small"), dashboard_client={"id": "b"})),
        None,
        "dashboard-client-left",
        {CF: B},
    ),
    ("costs", with_plan(metadata={"costs": [1]}), with_plan(metadata={"costs": [2]}), None, "costs", {CF: Y}),
    ("explicit free dropped", with_plan(free=True), with_plan(), None, "explicit-dropped", {CF: S, K8S: Y, KORIFI: Y}),
    (
        "explicit bindable dropped",
        with_plan(bindable=True),
        with_plan(),
        None,
        "explicit-dropped",
        {CF: S, K8S: S, SM: S, KORIFI: Y},
    ),
    ("explicit added", with_plan(), with_plan(free=True), None, "explicit-added", {CF: S, K8S: S}),
    ("words", one(), one(description="another"), None, "wording", {CF: S}),
    ("image", one(), one(metadata={"imageUrl": "x"}), None, "wording", {CF: S}),
    ("metadata", one(), one(metadata={"vendor": "x"}), None, "metadata", {CF: S}),
    ("unknown", one(), one(colour="red"), None, "other-field", {CF: S}),
    ("unknown at the top", one(), {**one(), "colour": "red"}, None, "other-field", {CF: S}),
    (
        "default that no plan inherits",
        catalog(service("s1", "db", plan("p1", "small", bindable=True))),
        {"services": [{**service("s1", "db", plan("p1", "small", bindable=True)), "bindable": False}]},
        None,
        "service-default",
        {CF: S},
    ),
]


@pytest.mark.parametrize(("old", "new", "instances", "rule", "levels"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_row(old: Any, new: Any, instances: frozenset[str] | None, rule: str, levels: dict[Platform, Level]) -> None:
    found = by_rule(old, new, instances=instances)
    assert f"change-{rule}" in found
    change = found[f"change-{rule}"]
    told = {effect.platform: effect.level for effect in change.effects}
    assert {platform: told[platform] for platform in levels} == levels
    assert len(told) == len(Platform)
    for platform in levels:
        narrowed = by_rule(old, new, platform, instances=instances)[change.rule]
        assert narrowed.level is levels[platform]
        assert [effect.platform for effect in narrowed.effects] == [platform]


SINGLE = {
    "plan id", "plan id, used", "service id, new plan ids", "service id, plans kept", "renamed", "service renamed",
    "new plan", "new service", "plan removed", "service removed", "bindable", "updateable", "free to paid",
    "paid is left out", "paid is written out", "requires turned", "tags that are no texts", "polling misshapen",
    "a tag that stood there twice",
}  # fmt: skip


@pytest.mark.parametrize("row", [row for row in ROWS if row[0] in SINGLE], ids=lambda row: row[0])
def test_one_cause_is_told_once(row: Any) -> None:
    removed = {"change-plan-removed"} if row[0] == "service id, plans kept" else set()
    assert set(by_rule(row[1], row[2])) - removed == {f"change-{row[4]}"}


@pytest.mark.parametrize("row", [row for row in ROWS if row[0] in ("dashboard gone", "dashboard new")])
def test_a_whole_dashboard_client_is_one_change(row: Any) -> None:
    (change,) = compare_catalogs(row[1], row[2])
    assert change.message in ("dashboard client removed", "dashboard client added")
    assert change.field == "dashboard_client"


WRONG_TYPE: list[tuple[str, Any, Any]] = [
    *(
        (f"{name} {value!r}", with_plan(**{name: value}), with_plan(**{name: "no"}))
        for name in ("free", "bindable", "plan_updateable", "binding_rotatable")
        for value in (True, False, None)
    ),
    *((name, one(**{name: True}), one(**{name: "no"})) for name in ("bindable", "instances_retrievable")),
    ("shareable", one(metadata={"shareable": True}), one(metadata={"shareable": "no"})),
    ("tags", one(tags=["a"]), one(tags="a")),
    ("polling", with_plan(maximum_polling_duration=60), with_plan(maximum_polling_duration=True)),
    ("polling, no whole number", with_plan(maximum_polling_duration=60), with_plan(maximum_polling_duration=30.5)),
    ("dashboard", one(dashboard_client={"id": "a"}), one(dashboard_client="a")),
    ("name of a plan", with_plan(), catalog(service("s1", "db", {**plan("p1", ""), "name": 5}))),
    ("name", one(), catalog({**service("s1", "db", plan("p1", "small")), "name": 5})),
]


@pytest.mark.parametrize(("old", "new"), [row[1:] for row in WRONG_TYPE], ids=[row[0] for row in WRONG_TYPE])
def test_of_a_wrong_type_nothing_else_is_said(old: Any, new: Any) -> None:
    for before, after in ((old, new), (new, old)):
        (change,) = compare_catalogs(before, after)
        assert change.level is Level.SAFE
        assert change.message.endswith(" changed, and has the wrong type in one catalog or both")


@pytest.mark.parametrize("strays", [([], [None]), ([5], [6]), ([["x"]], [])])
def test_entries_that_are_no_objects_are_told(strays: tuple[list[Any], list[Any]]) -> None:
    for holder, sides in (
        ("plans", [{"services": [{**service("s1", "db"), "plans": [SMALL, *some]}]} for some in strays]),
        ("services", [{"services": [*one()["services"], *some]} for some in strays]),
    ):
        (change,) = compare_catalogs(*sides)
        assert (change.rule, change.field) == ("change-other-field", holder)
        assert change.message.startswith(f"entries of {holder} that are not objects changed from ")


TYPES, NAMES, NOT = "supportedPlatforms", "supportedPlatformNames", "excludedPlatformNames"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ({TYPES: ["cf", "k8s"]}, {TYPES: ["k8s"]}, f'metadata.{TYPES} hides the plan from "cf"'),
        ({}, {TYPES: ["k8s"]}, f'metadata.{TYPES} hides the plan from all platforms but "k8s"'),
        ({TYPES: ["k8s"]}, {NAMES: ["x"]}, f'metadata.{NAMES} hides the plan from all platforms but "x"'),
        ({NOT: ["a"]}, {NOT: ["a", "b", "c"]}, f'metadata.{NOT} hides the plan from "b", "c"'),
        ({TYPES: ["k8s"]}, {NOT: ["a"]}, f'metadata.{NOT} hides the plan from "a"'),
        ({NOT: ["a", "b"]}, {NOT: ["a"]}, ""),
        ({TYPES: ["cf"]}, {}, ""),
        ({TYPES: ["cf"]}, {TYPES: ["k8s", "cf"]}, ""),
        ({TYPES: ["cf"]}, {TYPES: "k8s"}, ""),
    ],
)
def test_the_platforms_that_lose_a_plan_are_named(old: Any, new: Any, message: str) -> None:
    changes = by_rule(with_plan(metadata=old), with_plan(metadata=new))
    lost = changes.pop("change-platforms-withdrawn", None)
    assert (lost.message if lost else "") == message
    assert changes.keys() == (set() if message else {"change-metadata"})


def test_words_name_what_differs() -> None:
    homes = [service("s1", "queue", SMALL, plan("p2", "large")), service("s2", "queue", plan("p3", "x"))]
    moved = catalog({**homes[0], "plans": [SMALL]}, {**homes[1], "plans": [plan("p3", "x"), plan("p2", "large")]})
    assert by_rule(catalog(*homes), moved)["change-plan-moved"].message == (
        'moved from service "queue" (id "s1") to "queue" (id "s2")'
    )
    twice = by_rule(one(tags=["a", "b"]), one(tags=["b", "a", "b"]))["change-order"]
    assert twice.message == 'the tags are the same, except for how often "b" is listed'


def test_every_rule_stands_in_the_table() -> None:
    from osbctl.comparison.change_kinds import KINDS, load_all

    load_all()
    shown = {f"change-{row[4]}" for row in ROWS}
    elsewhere = {rule for rule in KINDS if rule.startswith("change-schema-")} | {
        "change-now-refused",
        "change-refused-in-part",
    }
    assert set(KINDS) - elsewhere == shown - {rule for rule in shown if rule.startswith("change-schema-")}


def test_the_words_of_cloud_foundry_name_service_and_plan() -> None:
    change = by_rule(TWO, two(plan("q", "small"), plan("p2", "large")))["change-plan-id"]
    words = '"Plan names must be unique within a service. Service db already has a plan named small"'
    assert change.effects[0].does == words


def test_three_names_that_go_round_are_swapped_and_a_chain_is_not() -> None:
    old = two(plan("1", "a"), plan("2", "b"), plan("3", "c"))
    round_ = two(plan("1", "b"), plan("2", "c"), plan("3", "a"))
    chain = plan("1", "b"), plan("2", "c"), plan("3", "d")
    assert set(by_rule(old, round_)) == {"change-plan-names-swapped"}
    assert set(by_rule(old, two(*chain))) == {"change-plan-name-taken", "change-plan-renamed"}
    turned = set(by_rule(old, two(*chain[::-1])))
    assert turned == {"change-plan-name-passed-on", "change-plan-renamed", "change-order"}


def test_a_taken_name_says_who_has_it() -> None:
    renamed = by_rule(TWO, two(SMALL, plan("p2", "Small")))["change-plan-name-taken"]
    assert 'from "large" to "Small"' in renamed.message
    assert '"small" (id "p1") still has' in renamed.message
    assert '"small" (id "p1") still has' in by_rule(two(SMALL), two(SMALL, plan("x", "SMALL")))[renamed.rule].message


def test_a_name_that_stands_twice_is_left_to_whoever_judges_the_new_catalog() -> None:
    assert set(by_rule(TWO, two(SMALL, plan("p2", "small")))) == {"change-plan-renamed"}
    assert set(by_rule(two(SMALL), two(SMALL, plan("p2", "small")))) == {"change-plan-added"}


def test_a_service_name_is_passed_on() -> None:
    new = catalog(service("s1", "sql", SMALL), service("s2", "db", plan("p2", "small")))
    assert "change-service-name-passed-on" in by_rule(one(), new)


def test_what_a_changed_id_hides_is_compared_all_the_same() -> None:
    old, new = with_plan(), catalog(service("s1", "db", plan("q", "small", free=False)))
    assert set(by_rule(old, new)) == {"change-plan-id", "change-free-to-paid"}
    moved = catalog(service("t", "other", plan("p1", "small", free=False)))
    assert "change-free-to-paid" in by_rule(old, moved)


COPY = plan("p1", "copy", free=False)
MQ = service("s2", "mq", plan("p2", "large"))
DB = service("s1", "db", SMALL)
COPIES = [
    ("plan", catalog(DB, service("s2", "mq", plan("p2", "large"), COPY)), "plan-added"),
    ("plan, before its original", catalog(service("s2", "mq", COPY, plan("p2", "large")), DB), "plan-added"),
    ("service", catalog(DB, MQ, service("s3", "copy", SMALL)), "service-added"),
    ("service, before its original", catalog(service("s3", "copy", SMALL), DB, MQ), "service-added"),
    ("service with its id", catalog(DB, MQ, service("s1", "copy", SMALL)), "service-added"),
    ("service with its id, before its original", catalog(service("s1", "copy", SMALL), DB, MQ), "service-added"),
]


@pytest.mark.parametrize(("new", "rule"), [row[1:] for row in COPIES], ids=[row[0] for row in COPIES])
def test_a_copy_with_its_ids_kept_has_not_moved(new: Any, rule: str) -> None:
    first = catalog(*({"db": DB, "mq": MQ}[one["name"]] for one in new["services"] if one["name"] != "copy"))
    assert set(by_rule(first, new)) == {f"change-{rule}"}
    back = {"plan-added": "plan-removed", "service-added": "service-removed"}[rule]
    assert set(by_rule(new, first)) == {f"change-{back}"}


def test_a_plan_that_moves_and_is_copied_has_moved_once() -> None:
    old = catalog(service("s1", "db", SMALL, plan("p3", "x")), MQ)
    there = service("s2", "mq", plan("p2", "large"), SMALL)
    new = catalog(service("s1", "db", plan("p3", "x")), there, service("s4", "other", SMALL))
    changes = compare_catalogs(old, new)
    assert [change.rule for change in changes] == ["change-service-added", "change-plan-moved"]
    assert 'from service "db" to "mq"' in changes[-1].message


def test_a_change_within_an_unknown_object_is_told_where_it_is() -> None:
    old = one(provision={"inputs": {"region": "eu", "size": 1}, "env": "a"})
    change = by_rule(old, one(provision={"inputs": {"region": "us", "size": 1}, "env": "a"}))["change-other-field"]
    assert (change.field, change.old, change.new) == ("provision/inputs/region", "eu", "us")
    assert change.message == 'provision.inputs.region changed from "eu" to "us"'
    change = by_rule(old, one(provision={"inputs": {"size": 2, "new": 1}, "env": "a"}))["change-other-field"]
    assert change.field == "provision/inputs"
    assert change.message == "provision.inputs changed: region removed, size changed, new added"
    change = by_rule(one(metadata={"a": {"b": 1}}), one(metadata={"a": {"b": 2}}))["change-metadata"]
    assert change.message == "metadata.a.b changed from 1 to 2"
    assert "s3cret" not in str(by_rule(one(x={"y": {"password": "s3cret-1"}}), one(x={"y": {"password": "s3cret-2"}})))


def test_ids_that_differ_in_case_alone_are_pointed_out() -> None:
    alone = "only in case"
    old = catalog(service("s1", "db", plan("p1", "small"), plan("p2", "large")))
    found = by_rule(old, catalog(service("S1", "db", plan("p1", "small"), plan("P2", "large"))))
    assert alone in found["change-service-id-plans-kept"].message
    found = by_rule(old, catalog(service("s1", "db", plan("p1", "small"), plan("P2", "huge"))))
    assert found["change-plan-removed"].message.startswith('removed; the id of the new "huge" differs')
    assert alone in by_rule(old, catalog(service("s1", "db", plan("P1", "small"))))["change-plan-id"].message
    assert alone in by_rule(old, catalog(service("S1", "other", plan("x", "x"))))["change-service-removed"].message
    assert alone not in str(by_rule(old, catalog(service("s2", "db", plan("p3", "small")))))


@pytest.mark.parametrize(("day", "level"), [("2027-03-31", B), ("2027-04-01", Y)])
def test_a_removal_after_its_sunset_is_risky_before_it_breaking(day: str, level: Level) -> None:
    mark = {"state": "deprecated", "sunset": "2027-03-31"}
    old = two(plan("p1", "small", metadata=mark), plan("p2", "large"))
    today = date.fromisoformat(day)
    (change,) = compare_catalogs(old, two(plan("p2", "large")), today=today, instances=NONE)
    assert {effect.platform: effect.level for effect in change.effects} == dict.fromkeys(Platform, level)
    assert "2027-03-31" in change.message
    (used,) = compare_catalogs(old, two(plan("p2", "large")), today=today, instances=P1)
    assert {effect.level for effect in used.effects if effect.platform is SM} == {R}, "refused stays refused"
    services = catalog(service("s1", "db", SMALL, metadata=mark), service("s2", "mq", plan("p2", "small")))
    (gone,) = compare_catalogs(services, catalog(service("s2", "mq", plan("p2", "small"))), today=today, instances=NONE)
    assert gone.level is level


def refused_by(old: Any, new: Any, instances: frozenset[str] | None = NONE) -> set[Platform]:
    changes = compare_catalogs(old, new, instances=instances)
    return {effect.platform for change in changes for effect in change.effects if effect.level is R}


def test_a_plan_that_takes_the_name_of_one_that_moves_is_refused_by_service_manager() -> None:
    old = catalog(service("s1", "db", SMALL, plan("p2", "large")), service("s2", "mq", plan("p3", "x")))
    new = catalog(service("s1", "db", plan("p2", "small")), service("s2", "mq", plan("p3", "x"), plan("p1", "other")))
    assert refused_by(old, new) == {CF, SM}
    assert "refuses the update: the name is taken" in str(by_rule(old, new, SM)["change-plan-name-taken"].effects)
    turned = catalog(service("s1", "db", plan("n", "small"), plan("p2", "large")), new["services"][1])
    assert SM not in refused_by(old, turned)  # a new plan is created after the old one is gone


@pytest.mark.parametrize(
    "plans",
    [
        [plan("p1", "large"), plan("p2", "small")],
        [plan("p2", "small")],
        [plan("p1", "tiny"), plan("n", "small"), plan("p2", "large")],
    ],
)
def test_a_service_offering_of_another_id_is_deleted_first_with_the_names_of_its_plans(plans: Any) -> None:
    new = catalog(service("t", "db", *plans))
    assert SM not in refused_by(TWO, new)
    assert SM in refused_by(TWO, new, P1)


def test_service_manager_compares_names_letter_by_letter() -> None:
    assert refused_by(TWO, two(plan("p1", "Large"), plan("p2", "Small"))) == {CF}
    swapped = catalog(service("s1", "MQ", SMALL), service("s2", "DB", plan("p2", "small")))
    assert SM not in refused_by(TWO_SERVICES, swapped)
    assert SM in refused_by(TWO_SERVICES, SWAPPED)


def test_a_blank_after_the_name_of_a_service_offering_is_stripped_by_cloud_foundry() -> None:
    found = by_rule(one(), catalog(service("s1", "db ", SMALL)), CF)
    assert set(found) == {"change-service-renamed"}


def test_of_a_swap_cloud_foundry_names_the_first_plan_alone() -> None:
    changes = compare_catalogs(TWO, two(plan("p1", "large"), plan("p2", "small")), platforms=(CF,))
    assert [change.level for change in changes] == [R, R]
    assert [effect.does for change in changes for effect in change.effects] == [
        '"Plan names must be unique within a service. Service db already has a plan named large"',
        "refuses the whole update",
    ]


def test_the_words_of_cloud_foundry_quote_the_name_of_a_service_offering() -> None:
    change = by_rule(TWO_SERVICES, REUSED, CF, instances=P1)["change-service-name-reused"]
    assert '`Services with names ["db"] already exist`' in change.effects[0].does


def test_korifi_stores_and_shows_what_it_does_not_enforce() -> None:
    flags = "bindable", "plan_updateable", "instances_retrievable", "bindings_retrievable", "allow_context_updates"
    old = one(**dict.fromkeys(flags, True))
    for flag in flags:
        (change,) = compare_catalogs(old, one(**dict.fromkeys(flags, True) | {flag: False}), platforms=(KORIFI,))
        assert (change.level, change.effects[0].does.startswith("stores and shows it, never enforces it")) == (Y, True)


def test_advice_on_a_reused_name_fits_a_plan_with_instances() -> None:
    advice = by_rule(TWO, two(plan("p2", "small")))["change-plan-name-reused"].advice
    assert "while the plan has instances, and until the first update after the last one is gone" in advice


def test_a_client_is_not_left_changed_where_the_catalog_is_refused_before() -> None:
    client = {"id": "a", "secret": "x"}
    old = catalog(service("s1", "db", SMALL, plan("p2", "large"), dashboard_client=client))
    swapped = service("s1", "db", plan("p1", "large"), plan("p2", "small"))
    assert "dashboard client" in by_rule(old, catalog(swapped), CF)["change-dashboard-client-left"].message
    moved = catalog({**swapped, "plans": swapped["plans"][1:]}, service("s3", "mq", plan("p1", "x")))
    assert "change-plan-moved" in by_rule(old, moved, CF)
    assert "change-dashboard-client-left" not in by_rule(old, moved, CF)
    assert "change-dashboard-client-left" not in by_rule(old, catalog(swapped), K8S)
    assert "change-dashboard-client-left" not in by_rule(old, catalog(service("s1", "db", SMALL)), CF)


def test_changes_stand_in_one_order_whatever_the_order_of_the_platforms() -> None:
    old, new = with_plan(Bindable=True, free=True), with_plan(Bindable=False, free=False)
    found = [compare_catalogs(old, new, platforms=view) for view in ((CF, K8S), (K8S, CF))]
    assert found[0] == found[1]
    assert len(found[0]) > 2
