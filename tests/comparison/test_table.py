"""Kinds of change: each row of the table with a pair of small catalogs."""

from datetime import date
from typing import Any, NamedTuple

import pytest

from osbctl.changes import Level
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.kinds import KINDS
from osbctl.platforms import Platform
from tests.case import each
from tests.platforms.known import CF, KNOWN, KORIFI, SM

from .make import by_rule, catalog, one, plan, service, with_plan

R, B, Y, S = Level.REFUSED, Level.BREAKING, Level.RISKY, Level.SAFE
LETTERS = {R: "R", B: "B", Y: "Y", S: "S"}

SMALL, LARGE, OTHER_SMALL = plan("p1", "small"), plan("p2", "large"), plan("p2", "small")
P3 = plan("p3", "small")
TINY, CAPITAL, PLACEHOLDER = plan("p1", "tiny"), plan("p2", "Small"), plan("p1", "{plan}")
Q1 = plan("q1", "small")
BINDABLE = plan("p1", "small", bindable=True)
UPDATEABLE = plan("p1", "small", plan_updateable=True)
DB, MQ = service("s1", "db", SMALL), service("s2", "mq", OTHER_SMALL)
TWO = catalog(service("s1", "db", SMALL, LARGE))
TWO_SERVICES = catalog(DB, MQ)
NONE: frozenset[str] = frozenset()
P2 = frozenset({"p2"})
P1 = frozenset({"p1"})


def only(id: str, name: str, *plans: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A catalog of this service offering alone."""
    return catalog(service(id, name, *plans, **fields))


def two(*plans: dict[str, Any]) -> dict[str, Any]:
    return only("s1", "db", *plans)


def updateable(of_service: bool) -> dict[str, Any]:
    return only("s1", "db", UPDATEABLE, plan_updateable=of_service)


def polling(seconds: Any) -> dict[str, Any]:
    return {"maximum_polling_duration": seconds}


def version(text: str) -> dict[str, Any]:
    return {"maintenance_info": {"version": text}}


def offered_to(platforms: list[str]) -> dict[str, Any]:
    return {"metadata": {"supportedPlatforms": platforms}}


def sharing(value: Any) -> dict[str, Any]:
    return {"metadata": {"supportsInstanceSharing": value}}


def beside_capital(name: str) -> dict[str, Any]:
    """A service offering of this name beside another, `DB`."""
    return catalog(service("s1", name, SMALL), service("s2", "DB", OTHER_SMALL))


def default(value: int) -> dict[str, Any]:
    return schema(properties={"a": {"default": value}})


def schema(**keywords: Any) -> dict[str, Any]:
    parameters = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", **keywords}
    return {"schemas": {"service_instance": {"create": {"parameters": parameters}}}}


SWAPPED = catalog(service("s1", "mq", SMALL), service("s2", "db", OTHER_SMALL))
SHARING = sharing(True)
REUSED = catalog(service("s2", "db", OTHER_SMALL))
TAKER_FIRST = catalog(service("s2", "db", OTHER_SMALL), service("s1", "sql", SMALL))
MOVED = catalog(service("s1", "db", plan("p3", "x")), service("s2", "mq", OTHER_SMALL, SMALL))


class Row(NamedTuple):
    """Two catalogs, a kind of change between them, and its level on each platform, in the order of `KNOWN`."""

    name: str
    old: Any
    new: Any
    rule: str
    levels: str
    used: frozenset[str] | None = None


OF_SERVICE: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("bindable", {}, {"bindable": False}, "bindable-withdrawn", "BBBY"),
    ("updateable", {"plan_updateable": True}, {}, "plan-updateable-withdrawn", "BBYY"),
    ("instances retrievable", {"instances_retrievable": True}, {}, "instances-retrievable-withdrawn", "BSBY"),
    ("bindings retrievable", {"bindings_retrievable": True}, {}, "bindings-retrievable-withdrawn", "BSBY"),
    ("context updates", {"allow_context_updates": True}, {}, "context-updates-withdrawn", "BSBY"),
    ("shareable", {"metadata": {"shareable": True}}, {"metadata": {"shareable": False}}, "shareable-withdrawn", "BSSS"),
    ("granted", {}, {"plan_updateable": True}, "capability-granted", "SSSS"),
    ("explicit updateable dropped", {"plan_updateable": False}, {}, "explicit-dropped", "SSSS"),
    ("explicit updateable added", {}, {"plan_updateable": False}, "explicit-added", "SSSS"),
    ("requires removed", {"requires": ["syslog_drain"]}, {"requires": []}, "requires-removed", "BSYS"),
    ("requires added", {}, {"requires": ["syslog_drain"]}, "requires-added", "YSYS"),
    ("dashboard", {"dashboard_client": {"id": "a"}}, {"dashboard_client": {"id": "b"}}, "dashboard-client", "YSYS"),
    ("tag removed", {"tags": ["a", "b"]}, {"tags": ["b"]}, "tag-removed", "YYYY"),
    ("tag added", {"tags": ["b"]}, {"tags": ["a", "b"]}, "tag-added", "SSSS"),
    ("tags turned", {"tags": ["a", "b"]}, {"tags": ["b", "a"]}, "order", "SSSS"),
    ("requires turned", {"requires": ["a", "b"]}, {"requires": ["b", "a"]}, "order", "SSSS"),
    ("tags that are no texts", {"tags": [1]}, {"tags": [2]}, "other-field", "SSSS"),
    ("a tag that stood there twice", {"tags": ["a", "a"]}, {"tags": ["a"]}, "order", "SSSS"),
    ("dashboard gone", {"dashboard_client": {"id": "a", "secret": "x"}}, {}, "dashboard-client", "YSYS"),
    ("dashboard new", {}, {"dashboard_client": {"id": "a", "secret": "x"}}, "dashboard-client", "YSYS"),
    ("words", {}, {"description": "another"}, "wording", "SSSS"),
    ("image", {}, {"metadata": {"imageUrl": "x"}}, "wording", "SSSS"),
    ("metadata", {}, {"metadata": {"vendor": "x"}}, "metadata", "SSSS"),
    ("unknown", {}, {"colour": "red"}, "other-field", "SSSS"),
    ("a field in another case", {"Bindable": True}, {"Bindable": False}, "field-case", "SBBB"),
    ("an empty list in another case", {}, {"Tags": []}, "field-case", "SBBB"),
]
OF_PLAN: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("free to paid", {}, {"free": False}, "free-to-paid", "BSYS"),
    ("paid to free", {"free": False}, {"free": True}, "paid-to-free", "SSSS"),
    ("paid is left out", {"free": False}, {}, "paid-to-free", "YSYS"),
    ("paid is null", {"free": False}, {"free": None}, "paid-to-free", "YSYS"),
    ("paid is written out", {"free": None}, {"free": False}, "free-to-paid", "BSYS"),
    ("paid, written out", {"free": True}, {"free": False}, "free-to-paid", "BYYY"),
    ("bindable of a plan, left out before", {}, {"bindable": False}, "bindable-withdrawn", "BBBS"),
    ("bindable of a plan, left out now", {"bindable": False}, {}, "capability-granted", "SSSS"),
    ("updateable of a plan", {"plan_updateable": True}, {}, "plan-updateable-withdrawn", "BSYY"),
    ("bindable of a plan", {"bindable": True}, {"bindable": False}, "bindable-withdrawn", "BBBY"),
    ("explicit bindable dropped", {"bindable": True}, {}, "explicit-dropped", "SSSY"),
    ("no version", version(""), {"maintenance_info": None}, "other-field", "SSSS"),
    ("sharing of instances", SHARING, {"metadata": {}}, "instance-sharing-withdrawn", "SSYS"),
    ("sharing in quotes", SHARING, sharing("true"), "instance-sharing-withdrawn", "SSYS"),
    ("sharing of instances comes", {}, SHARING, "capability-granted", "SSSS"),
    ("platforms lost", offered_to(["a", "b"]), offered_to(["b"]), "platforms-withdrawn", "SSBS"),
    ("platforms gained", offered_to(["b"]), offered_to([]), "metadata", "SSSS"),
    ("binding rotatable", {"binding_rotatable": True}, {}, "binding-rotatable-withdrawn", "SSSS"),
    ("maintenance", version("1.0.0"), version("1.0.1"), "maintenance-version", "YSYY"),
    ("maintenance added", {}, version("1.0.0"), "maintenance-version", "YSYY"),
    ("schema narrowed", schema(), schema(required=["a"]), "schema-required-added", "BBBB"),
    ("schema added", {}, schema(required=["a"]), "schema-added", "BBBB"),
    ("schema relaxed", schema(required=["a"]), schema(), "schema-relaxed", "SSSS"),
    ("schema default", default(1), default(2), "schema-default-changed", "YYYY"),
    ("polling lowered", polling(60), polling(30), "polling-lowered", "YSYS"),
    ("polling set", {}, polling(30), "polling-lowered", "YSYS"),
    ("polling raised", polling(30), polling(60), "polling-raised", "SSSS"),
    ("polling misshapen", polling("a"), polling("b"), "other-field", "SSSS"),
    ("costs", {"metadata": {"costs": [1]}}, {"metadata": {"costs": [2]}}, "costs", "YYYY"),
    ("explicit free dropped", {"free": True}, {}, "explicit-dropped", "SYSY"),
    ("explicit added", {}, {"free": True}, "explicit-added", "SSSS"),
    ("a version in another case", {}, {"maintenance_info": {"Version": "1.0.0"}}, "field-case", "SBBB"),
    ("a schema in another case", {}, {"schemas": {"service_instance": {"Create": {}}}}, "field-case", "SBBB"),
]
ROWS = [
    Row("plan removed", TWO, two(SMALL), "plan-removed", "BBBB"),
    Row("plan removed, unused", TWO, two(SMALL), "plan-removed", "BBBB", NONE),
    Row("plan removed, used", TWO, two(SMALL), "plan-removed", "BBRB", P2),
    Row("plan removed, another used", TWO, two(SMALL), "plan-removed", "BBBB", P1),
    Row("plan id", TWO, two(plan("q", "SMALL"), LARGE), "plan-id", "RBRB"),
    Row("plan id, used", TWO, two(plan("q", "small"), LARGE), "plan-id", "RBRB", P1),
    Row("plan id, unused", TWO, two(plan("q", "small"), LARGE), "plan-id", "RBYB", P2),
    Row("service id, new plan ids", TWO, only("t", "db", Q1, plan("q2", "large")), "service-id", "RBRB"),
    Row("service id, unused", TWO, only("t", "db", Q1), "service-id", "YBYB", NONE),
    Row("service id, used", TWO, only("t", "db", Q1), "service-id", "RBRB", P1),
    Row("service id, plans kept", TWO, only("t", "db", SMALL), "service-id-plans-kept", "RBYY", NONE),
    Row("service id, plans kept, used", TWO, only("t", "db", SMALL), "service-id-plans-kept", "RBRY", P1),
    Row("service id, plans kept, perhaps used", TWO, only("t", "db", SMALL), "service-id-plans-kept", "RBRY"),
    Row("plan moved", TWO_SERVICES, MOVED, "plan-moved", "RBYY", NONE),
    Row("plan moved, perhaps used", TWO_SERVICES, MOVED, "plan-moved", "RBRY"),
    Row("plan moved, used", TWO_SERVICES, MOVED, "plan-moved", "RBRY", P1),
    Row("name reused", TWO, two(OTHER_SMALL), "plan-name-taken", "RBRB"),
    Row("names swapped", TWO, two(plan("p1", "large"), OTHER_SMALL), "plan-name-taken", "RBRB"),
    Row("names swapped, one in another case", TWO, two(plan("p1", "Large"), OTHER_SMALL), "plan-name-taken", "RBBB"),
    Row("service names swapped", TWO_SERVICES, SWAPPED, "service-name-taken", "BBRB"),
    Row("service names swapped, used", TWO_SERVICES, SWAPPED, "service-name-taken", "RBRB", P1 | P2),
    Row("service names swapped, case", TWO_SERVICES, beside_capital("mq"), "service-name-taken", "RBRB", NONE),
    Row("service name reused", TWO_SERVICES, REUSED, "service-name-taken", "BBRB"),
    Row("service name reused, used", TWO_SERVICES, REUSED, "service-name-taken", "RBRB", P1),
    Row("service name reused, its own used", TWO_SERVICES, REUSED, "service-name-taken", "BBRB", P2),
    Row("new service, a name in another case", one(), beside_capital("sql"), "service-name-taken", "RBBB"),
    Row("service renamed in case alone", one(), only("s1", "DB", SMALL), "service-name-taken", "RBBB", NONE),
    Row("new service, the old name in another case", one(), only("s2", "DB", OTHER_SMALL), "service-id", "RBYB", NONE),
    Row("new one takes the name of a renamed one", TWO, two(TINY, LARGE, P3), "plan-name-taken", "BBBB"),
    Row("renamed, a taken name but for the case", TWO, two(SMALL, CAPITAL), "plan-name-taken", "RBBB"),
    Row("new one, a taken name but for the case", two(SMALL), two(SMALL, CAPITAL), "plan-name-taken", "RSSS"),
    Row("taker before giver", TWO, two(OTHER_SMALL, TINY), "plan-name-taken", "RBRB"),
    Row("giver before taker", TWO, two(TINY, OTHER_SMALL), "plan-name-taken", "BBBB"),
    Row("new one before giver, but saved last", two(SMALL), two(P3, TINY), "plan-name-taken", "BBBB"),
    Row("new service before giver", one(), TAKER_FIRST, "service-name-taken", "BBBB"),
    Row("new service before giver, used", one(), TAKER_FIRST, "service-name-taken", "RBBB", P1),
    Row("service taker before giver", TWO_SERVICES, TAKER_FIRST, "service-name-taken", "RBRB", P1),
    Row("service taker before giver, unused", TWO_SERVICES, TAKER_FIRST, "service-name-taken", "BBRB", P2),
    Row(
        "service renamed to a kept name but for its case",
        TWO_SERVICES,
        beside_capital("db"),
        "service-renamed",
        "BBBB",
        P1,
    ),
    Row("renamed", TWO, two(TINY, LARGE), "plan-renamed", "BBBB"),
    Row("only the case", TWO, two(plan("p1", "Small"), LARGE), "plan-renamed", "BBBB"),
    Row("service renamed", one(), only("s1", "sql", SMALL), "service-renamed", "BBBB"),
    Row("blanks around a name", TWO, two(plan("p1", "small "), LARGE), "plan-renamed", "SBBB"),
    Row("no blanks around a name", only("s1", "\tdb", SMALL), one(), "service-renamed", "SBBB"),
    Row("new plan", two(SMALL), TWO, "plan-added", "SSSS"),
    Row("new service", one(), TWO_SERVICES, "service-added", "SSSS"),
    Row("service removed", TWO_SERVICES, one(), "service-removed", "BBBB"),
    Row("service removed, used", TWO_SERVICES, one(), "service-removed", "BBRB", P2),
    Row("service removed, unused", TWO_SERVICES, one(), "service-removed", "BBBB", NONE),
    Row("emptied", one(), catalog(), "catalog-emptied", "RBBB"),
    Row("emptied, used", one(), catalog(), "catalog-emptied", "RBRB", P1),
    Row("emptied, unused", one(), catalog(), "catalog-emptied", "RBBB", NONE),
    Row("without plans", one(), only("s1", "db"), "service-without-plans", "RRBB"),
    Row("without plans, used", one(), only("s1", "db"), "service-without-plans", "RRRB", P1),
    Row("without plans, unused", one(), only("s1", "db"), "service-without-plans", "RRBB", NONE),
    Row("plans turned", TWO, two(LARGE, SMALL), "order", "SSSS"),
    Row("services turned", TWO_SERVICES, {"services": TWO_SERVICES["services"][::-1]}, "order", "SSSS"),
    Row("services in another case", one(), {**one(), "Services": []}, "field-case", "SBBB"),
    Row("unknown at the top", one(), {**one(), "colour": "red"}, "other-field", "SSSS"),
    Row(
        "default that no plan inherits",
        two(BINDABLE),
        only("s1", "db", BINDABLE, bindable=False),
        "service-default",
        "SSSS",
    ),
    Row("updateable that no plan inherits", updateable(True), two(UPDATEABLE), "plan-updateable-withdrawn", "SBSS"),
    Row("updateable that no plan inherits, granted", updateable(False), updateable(True), "capability-granted", "SSSS"),
    *(Row(name, one(**old), one(**new), rule, levels) for name, old, new, rule, levels in OF_SERVICE),
    *(Row(name, with_plan(**old), with_plan(**new), rule, levels) for name, old, new, rule, levels in OF_PLAN),
]


def strictest(row: Row, *view: Platform) -> dict[Platform, Level]:
    """The strictest level of the row's rule on each platform."""
    changes = compare_catalogs(row.old, row.new, platforms=view, used_plans=row.used)
    effects = [effect for change in changes if change.rule == f"change-{row.rule}" for effect in change.effects]
    return {e.platform: e.level for e in sorted(effects, key=lambda effect: effect.level.rank)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(row: Row) -> None:
    told = strictest(row)
    assert "".join(LETTERS[told[platform]] for platform in KNOWN) == row.levels
    for platform in Platform:
        assert strictest(row, platform) == {platform: told[platform]}


SINGLE = {
    "plan id", "plan id, used", "service id, new plan ids", "service id, plans kept", "renamed", "service renamed",
    "new plan", "new service", "plan removed", "service removed", "bindable", "updateable", "free to paid",
    "paid is left out", "paid is written out", "requires turned", "tags that are no texts", "polling misshapen",
    "a tag that stood there twice", "a field in another case", "services in another case",
}  # fmt: skip


@pytest.mark.parametrize("row", [row for row in ROWS if row.name in SINGLE], ids=lambda row: row.name)
def test_one_cause_is_told_once(row: Row) -> None:
    removed = {"change-plan-removed"} if row.name == "service id, plans kept" else set()
    assert set(by_rule(row.old, row.new)) - removed == {f"change-{row.rule}"}


def test_a_whole_dashboard_client_is_one_change() -> None:
    client = one(dashboard_client={"id": "a", "secret": "x"})
    for sides, message in (((client, one()), "dashboard client removed"), ((one(), client), "dashboard client added")):
        (change,) = compare_catalogs(*sides)
        assert (change.message, change.field) == (message, "dashboard_client")
        assert not change.advice  # there is one client, not two
    assert not by_rule(client, one(dashboard_client={}))["change-dashboard-client"].advice
    assert "both clients" in by_rule(client, one(dashboard_client={"id": "b"}))["change-dashboard-client"].advice


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
    ("an entry of plans", catalog(service("s1", "db")), catalog({**service("s1", "db"), "plans": [None]})),
    ("an entry of services", one(), {"services": [*one()["services"], 5]}),
]


@pytest.mark.parametrize(("old", "new"), [row[1:] for row in WRONG_TYPE], ids=[row[0] for row in WRONG_TYPE])
def test_of_a_wrong_type_nothing_else_is_said(old: Any, new: Any) -> None:
    for before, after in ((old, new), (new, old)):
        (change,) = compare_catalogs(before, after)
        assert change.level is Level.SAFE
        assert change.message.endswith(" changed, and has the wrong type in one catalog or both")


@pytest.mark.parametrize(("field", "make"), [("tags", with_plan), ("dashboard_client", with_plan), ("free", one)])
def test_a_field_of_another_kind_of_object_is_unknown_and_has_no_type(field: str, make: Any) -> None:
    for old, new in (("(( a ))", ["b"]), (True, False)):
        (change,) = compare_catalogs(make(**{field: old}), make(**{field: new}))
        assert (change.rule, change.field, change.level) == ("change-other-field", field, Level.SAFE)
        is_secret = field == "dashboard_client" and isinstance(old, str)  # wherever it stands; no boolean is one
        assert change.message.startswith(f"{field} changed {'(secret)' if is_secret else 'from '}")


TYPES, NAMES, NOT = "supportedPlatforms", "supportedPlatformNames", "excludedPlatformNames"


@each("old, new, message", [
    ({TYPES: ["cf", "k8s"]}, {TYPES: ["k8s"]}, f'metadata.{TYPES} hides the plan from "cf"'),
    ({}, {TYPES: ["k8s"]}, f'metadata.{TYPES} hides the plan from all platforms but "k8s"'),
    ({TYPES: ["k8s"]}, {NAMES: ["x"]}, f'metadata.{NAMES} hides the plan from all platforms but "x"'),
    ({NOT: ["a"]}, {NOT: ["a", "b", "c"]}, f'metadata.{NOT} hides the plan from "b", "c"'),
    ({TYPES: ["k8s"]}, {NOT: ["a"]}, f'metadata.{NOT} hides the plan from "a"'),
    ({NOT: ["a", "b"]}, {NOT: ["a"]}, ""),
    ({TYPES: ["cf"]}, {}, ""),
    ({TYPES: ["cf"]}, {TYPES: ["k8s", "cf"]}, ""),
    ({TYPES: ["cf"]}, {TYPES: "k8s"}, ""),
])  # fmt: skip
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
    assert twice.message == "the tags are the same, except for how often one is listed"


def test_the_words_of_a_platform_name_the_objects_as_they_are() -> None:
    """A name may look like a placeholder."""
    ends = "Service {} already has a plan named {}"
    for old, new, rule, plan_name in (
        (TWO, two(plan("q", "SMALL"), LARGE), "change-plan-id", "SMALL"),
        (two(plan("p1", "{service}")), two(plan("q", "{service}")), "change-plan-id", "{service}"),
        (two(PLACEHOLDER, plan("p2", "x")), two(PLACEHOLDER | {"id": "p2"}, TINY), "change-plan-name-taken", "{plan}"),
    ):
        (effect,) = (one for one in by_rule(old, new)[rule].effects if one.platform is CF)
        assert ends.format("db", plan_name) in effect.reaction, rule


def test_every_rule_stands_in_the_table() -> None:
    shown = {f"change-{row.rule}" for row in ROWS}
    of_schemas = {rule for rule in KINDS if rule.startswith("change-schema-")}
    of_refusals = {"change-now-refused", "change-refused-in-part"}
    assert set(KINDS) - of_schemas - of_refusals == shown - of_schemas
    for rules, level in ((of_schemas, S), (of_refusals, R)):  # platforms store schemas; the comparison has their levels
        effects = [(effect.platform, effect.level) for rule in rules for effect in KINDS[rule].effects(Platform, None)]
        assert sorted(effects) == sorted([(platform, level) for platform in Platform] * len(rules))


def test_what_is_in_another_case_is_reported_once() -> None:
    (changed_id,) = compare_catalogs(one(), only("s2", "DB", OTHER_SMALL))
    assert changed_id.message == 'the id changed from "s1" to "s2" while the name stayed (now written "DB")'
    for parent, key in (("maintenance_info", "Version"), ("dashboard_client", "Id")):
        make = with_plan if parent == "maintenance_info" else one
        old, new = ({parent: {"description": "x", key: value}} for value in ("1", "2"))
        assert [change.rule for change in compare_catalogs(make(**old), make(**new))] == ["change-field-case"]


def test_a_taken_name_says_who_had_it() -> None:
    for old, new in (
        (TWO, two(SMALL, CAPITAL)),
        (TWO, two(SMALL, OTHER_SMALL)),
        (two(SMALL), two(SMALL, plan("x", "SMALL"))),
        (two(SMALL), two(SMALL, OTHER_SMALL)),
    ):
        assert ', which "small" (id "p1") had' in by_rule(old, new)["change-plan-name-taken"].message


def test_what_a_changed_id_hides_is_compared_all_the_same() -> None:
    old, new = with_plan(), catalog(service("s1", "db", plan("q", "small", free=False)))
    assert set(by_rule(old, new)) == {"change-plan-id", "change-free-to-paid"}
    assert "change-free-to-paid" in by_rule(old, catalog(service("t", "other", plan("p1", "small", free=False))))


COPY = plan("p1", "copy", free=False)
QUEUE = service("s2", "mq", LARGE)
COPIES = [
    ("plan", catalog(DB, service("s2", "mq", LARGE, COPY)), "plan-added"),
    ("plan, before its original", catalog(service("s2", "mq", COPY, LARGE), DB), "plan-added"),
    ("service", catalog(DB, QUEUE, service("s3", "copy", SMALL)), "service-added"),
    ("service, before its original", catalog(service("s3", "copy", SMALL), DB, QUEUE), "service-added"),
    ("service with its id", catalog(DB, QUEUE, service("s1", "copy", SMALL)), "service-added"),
    ("service with its id, before its original", catalog(service("s1", "copy", SMALL), DB, QUEUE), "service-added"),
]


@pytest.mark.parametrize(("new", "rule"), [row[1:] for row in COPIES], ids=[row[0] for row in COPIES])
def test_a_copy_with_its_ids_kept_has_not_moved(new: Any, rule: str) -> None:
    first = catalog(*({"db": DB, "mq": QUEUE}[one["name"]] for one in new["services"] if one["name"] != "copy"))
    found = by_rule(first, new)
    assert set(found) == {f"change-{rule}"}
    levels = {effect.platform: effect.level for effect in found[f"change-{rule}"].effects if effect.platform in KNOWN}
    assert levels == {**dict.fromkeys(KNOWN, Level.SAFE), KORIFI: B}, "Korifi overwrites the original"
    back = {"plan-added": "plan-removed", "service-added": "service-removed"}[rule]
    assert set(by_rule(new, first)) == {f"change-{back}"}


def test_a_plan_that_moves_and_is_copied_has_moved_once() -> None:
    old = catalog(service("s1", "db", SMALL, plan("p3", "x")), QUEUE)
    there = service("s2", "mq", LARGE, SMALL)
    new = catalog(service("s1", "db", plan("p3", "x")), there, service("s4", "other", SMALL))
    changes = compare_catalogs(old, new)
    assert [change.rule for change in changes] == ["change-service-added", "change-plan-moved"]
    assert 'from service "db" to "mq"' in changes[-1].message


@each("moved, there, rules, message", [
    (TINY, LARGE, {"renamed"}, 'renamed from "small" to "tiny"'),
    (plan("p1", "Small"), LARGE, {"renamed"}, 'renamed from "small" to "Small"'),
    (plan("p1", "large"), plan("p2", "big"), {"name-taken", "renamed"},
     'renamed from "small" to "large", which "large" (id "p2") had'),
    (plan("p1", "LARGE"), P3, {"name-taken", "removed"}, 'renamed from "small" to "LARGE", which "large" (id "p2") had'),
    (SMALL, LARGE, set(), ""),
])  # fmt: skip
def test_a_plan_that_moves_has_its_name_compared(moved: Any, there: Any, rules: set[str], message: str) -> None:
    rest = plan("p9", "x")
    old = catalog(service("s1", "db", SMALL, rest), service("s2", "mq", LARGE))
    new = catalog(service("s1", "db", rest), service("s2", "mq", there, moved))
    changes = compare_catalogs(old, new, platforms=[KORIFI])
    assert {c.rule.removeprefix("change-plan-") for c in changes if c.level is B} == rules
    assert [c.message for c in changes if c.field == "name" and c.plan and c.plan.id == "p1"] == [message][: len(rules)]


def test_a_plan_that_moves_takes_a_name_that_was_another_plans_there() -> None:
    old = catalog(service("s1", "db", SMALL, LARGE), service("s2", "mq", P3))
    new = catalog(service("s1", "db", LARGE), service("s2", "mq", plan("p3", "big"), SMALL))
    assert (
        by_rule(old, new)["change-plan-name-taken"].message
        == 'moved, with the name "small", which "small" (id "p3") had'
    )
    assert "change-plan-renamed" in by_rule(only("s1", "db", SMALL), only("s2", "mq", TINY)), "to a new one"
    swapped = catalog(service("s2", "db", SMALL), service("s1", "mq", OTHER_SMALL))
    assert "change-plan-name-taken" not in by_rule(TWO_SERVICES, swapped), "each stays where users look for it"


def test_a_plan_that_moves_is_not_counted_as_removed_or_added() -> None:
    old, new = only("s1", "db", SMALL, LARGE), only("s2", "mq", SMALL, plan("p3", "x"), plan("p4", "y"))
    messages = {rule: change.message for rule, change in by_rule(old, new).items() if rule.startswith("change-service")}
    assert messages["change-service-removed"] == "removed, with 1 plan, besides 1 moved"
    assert messages["change-service-added"] == "added, with 2 plans, besides 1 moved"


def test_a_boolean_that_a_catalog_omits_is_no_value_of_it() -> None:
    on, off = {"instances_retrievable": True}, {"bindable": False}
    for old, new, message, values in (
        (one(**on), one(), "instances_retrievable removed (default false), was true", (True, None)),
        (one(), one(**on), "instances_retrievable added (default false): true", (None, True)),
        (with_plan(), with_plan(**off), "bindable added (inherited true): false", (None, False)),
        (with_plan(**off), with_plan(), "bindable removed (inherited true), was false", (False, None)),
        (with_plan(free=False), with_plan(), "free removed (default true), was false", (False, None)),
        (one(), only("s2", "mq", SMALL, **off), "bindable changed from true to false (inherited)", (None, None)),
    ):
        (change,) = (change for change in compare_catalogs(old, new) if change.field)
        assert (change.message, change.old, change.new) == (message, *values)


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


@pytest.mark.parametrize(("day", "level"), [("2027-03-31", B), ("2027-04-01", Y)])
def test_a_removal_after_its_sunset_is_risky_before_it_breaking(day: str, level: Level) -> None:
    mark = {"state": "deprecated", "sunset": "2027-03-31"}
    old = two(plan("p1", "small", metadata=mark), plan("p2", "large"))
    today = date.fromisoformat(day)
    (change,) = compare_catalogs(old, two(plan("p2", "large")), today=today, used_plans=NONE)
    assert {effect.platform: effect.level for effect in change.effects} == dict.fromkeys(Platform, level)
    assert "2027-03-31" in change.message
    (used,) = compare_catalogs(old, two(plan("p2", "large")), today=today, used_plans=P1)
    assert {effect.level for effect in used.effects if effect.platform is SM} == {R}, "refused stays refused"
    services = catalog(service("s1", "db", SMALL, metadata=mark), service("s2", "mq", OTHER_SMALL))
    (gone,) = compare_catalogs(services, catalog(service("s2", "mq", OTHER_SMALL)), today=today, used_plans=NONE)
    assert gone.level is level


def test_instances_of_another_broker_do_not_keep_a_catalog_from_being_emptied() -> None:
    for used in (NONE, frozenset({"of another broker"})):
        (emptied, _) = compare_catalogs(one(), catalog(), platforms=(SM,), used_plans=used)
        assert (emptied.level, emptied.effects[0].reaction) == (B, "deletes everything")


def refused_by(old: Any, new: Any, instances: frozenset[str] | None = NONE) -> set[Platform]:
    changes = compare_catalogs(old, new, used_plans=instances)
    return {effect.platform for change in changes for effect in change.effects if effect.level is R}


def test_a_plan_that_takes_the_name_of_one_that_moves_is_refused_by_service_manager() -> None:
    old = catalog(service("s1", "db", SMALL, plan("p2", "large")), service("s2", "mq", plan("p3", "x")))
    new = catalog(service("s1", "db", OTHER_SMALL), service("s2", "mq", plan("p3", "x"), plan("p1", "other")))
    assert refused_by(old, new) == {CF, SM}
    assert "refuses the update: the name is taken" in str(by_rule(old, new, SM)["change-plan-name-taken"].effects)
    turned = catalog(service("s1", "db", plan("n", "small"), plan("p2", "large")), new["services"][1])
    assert SM not in refused_by(old, turned)  # a new plan is created after the old one is gone


@each("plans", [[plan("p1", "large"), OTHER_SMALL], [OTHER_SMALL], [TINY, plan("n", "small"), plan("p2", "large")]])
def test_a_service_offering_of_another_id_is_deleted_first_with_the_names_of_its_plans(plans: Any) -> None:
    new = catalog(service("t", "db", *plans))
    assert SM not in refused_by(TWO, new)
    assert SM in refused_by(TWO, new, P1)


def test_a_blank_after_the_name_of_a_service_offering_is_stripped_by_cloud_foundry() -> None:
    assert set(by_rule(one(), catalog(service("s1", "db ", SMALL)), CF)) == {"change-service-renamed"}


def test_of_a_swap_cloud_foundry_names_the_first_plan_alone() -> None:
    changes = compare_catalogs(TWO, two(plan("p1", "large"), OTHER_SMALL), platforms=(CF,))
    assert [change.level for change in changes] == [R, B]
    assert [effect.reaction for change in changes for effect in change.effects] == [
        '"Plan names must be unique within a service. Service db already has a plan named large"',
        "accepts it; users of the name get another object",
    ]


def test_the_words_of_cloud_foundry_quote_the_name_of_a_service_offering() -> None:
    change = by_rule(TWO_SERVICES, REUSED, CF, instances=P1)["change-service-name-taken"]
    assert '`Services with names ["db"] already exist`' in change.effects[0].reaction


def test_plans_of_one_id_in_another_order_keep_their_names() -> None:
    plans = [plan("p1", name, description=name) for name in "abc"]
    assert [one.message for one in compare_catalogs(two(*plans), two(*plans[::-1]))] == ["the plans changed order"]
