"""Properties of any pair of catalogs: equal, swapped and faulty ones; secrets; fingerprints."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.changes import Change, Effect, Level
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.change_kinds import load_all
from osbctl.comparison.refusals import Refused, new_refusals
from osbctl.comparison.values import MAX_TEXT, shown_both
from osbctl.jsonschemas.walk import same_value
from osbctl.platforms import Platform
from osbctl.platforms.verdicts import judge_all
from osbctl.reports.changes import DiffFormat, DiffReport, render
from osbctl.rule import RULES
from osbctl.sources.read import read_source
from tests.folders import catalogs_folder

from .make import by_rule, catalog, one, plan, service, with_plan

load_all()


def test_where_long_values_differ_is_seen() -> None:
    old = [f"bullet {number}" for number in range(40)]
    before, after = shown_both(old, [*old[:-1], "the last one"])
    assert "bullet 39" in before
    assert "the last one" in after
    assert len(before) <= MAX_TEXT >= len(after)
    assert shown_both("short", "also short") == ('"short"', '"also short"')
    assert shown_both(old, [*old, "one more"])[1].endswith('"one more"]')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (one(tags=None, metadata={}), one(requires=[])),
        (with_plan(schemas={}), with_plan(schemas=None, maintenance_info={})),
        ({}, {"services": []}),
    ],
)
def test_absent_null_and_empty_mean_the_same_and_are_told_apart_from_no_change(old: Any, new: Any) -> None:
    (change,) = compare_catalogs(old, new)
    assert (change.rule, change.level) == ("change-other-field", Level.SAFE)


COMING_AND_GOING = {"change-plan-removed": "change-plan-added", "change-service-removed": "change-service-added"}
IDS = st.sampled_from("abcdef")
SERVICES = st.lists(
    st.tuples(IDS, st.lists(IDS, unique=True, max_size=4)), unique_by=lambda entry: entry[0], max_size=4
).map(
    lambda found: catalog(
        *(service(s, f"service-{s}", *(plan(f"{s}{p}", f"plan-{p}") for p in plans)) for s, plans in found)
    )
)


@given(SERVICES, SERVICES)
def test_what_is_added_one_way_is_removed_the_other(old: Any, new: Any) -> None:
    def told(changes: list[Change], rules: Any) -> list[tuple[str, Any, Any]]:
        return sorted((c.rule, repr(c.service), repr(c.plan)) for c in changes if c.rule in rules)

    there, back = compare_catalogs(old, new), compare_catalogs(new, old)
    turned = [(COMING_AND_GOING[rule], *rest) for rule, *rest in told(there, COMING_AND_GOING)]
    assert sorted(turned) == told(back, COMING_AND_GOING.values())


WORDS = """services id name description plans bindable free plan_updateable tags requires metadata shareable costs
schemas service_instance create parameters dashboard_client secret maintenance_info version maximum_polling_duration
type properties required enum x"""
KEYS = st.sampled_from(WORDS.split())
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)
LEAVES |= st.sampled_from(["", "a", "b", "p1", "s1", "object", "\x1b[1m", "\ud800", "@x", "1.0.0"])
JUNK = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))
BASE = catalog(
    service(
        "s1",
        "a",
        plan("p1", "a", schemas={"service_instance": {"create": {"parameters": {"type": "object"}}}}),
        plan("p2", "b", free=False, metadata={"costs": []}, maintenance_info={"version": "1.0.0"}),
        tags=["a"],
        requires=["b"],
        dashboard_client={"id": "x", "secret": "y", "redirect_uri": "z"},
    ),
    service("s2", "b", plan("p3", "a")),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [found for key, inner in items for found in places(inner, (*path, key))]


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    data = copy.deepcopy(BASE)
    for _ in range(draw(st.integers(0, 4))):
        spots = places(data)
        if not spots:
            break
        *above, last = draw(st.sampled_from(spots))
        holder: Any = data
        for step in above:
            holder = holder[step]
        if draw(st.booleans()):
            holder[last] = draw(JUNK)
        else:
            del holder[last]
    return data


@pytest.mark.fuzz
@given(mutated(), mutated(), st.none() | st.just(frozenset({"p1"})))
def test_no_pair_of_catalogs_crashes(old: dict[str, Any], new: dict[str, Any], instances: Any) -> None:
    changes = compare_catalogs(old, new, instances=instances)
    before, after = (
        [Refused(p, r.rule, r.path, r.message) for p, outcome in judge_all(data).items() for r in outcome.refusals]
        for data in (old, new)
    )
    changes += new_refusals(old, new, before, after, changes)
    for change in changes:
        assert change.effects
        assert change.message
        assert len(change.fingerprint) == 32
    report = DiffReport(old="old", new="new", changes=changes, rules=RULES, root="")
    for form in DiffFormat:
        assert "\x1b" not in render(report, form)
    assert compare_catalogs(old, copy.deepcopy(old)) == []
    assert changes or same_value(old, new)


SECRET = "hunter2-and-more"
HOLDERS: list[tuple[str, Any, Any]] = [
    ("secret", one(dashboard_client={"id": "a", "secret": SECRET}), one(dashboard_client={"id": "a", "secret": "x"})),
    ("new secret", one(dashboard_client={"id": "a"}), one(dashboard_client={"id": "a", "secret": SECRET})),
    ("client gone", one(dashboard_client={"id": "a", "secret": SECRET}), one()),
    ("client misshapen", one(dashboard_client=SECRET), one(dashboard_client=[SECRET, 1])),
    ("secret misshapen", one(), one(dashboard_client={"id": "a", "secret": [SECRET], "redirect_uri": "u"})),
    ("client of a platform", one(), one(dashboard_client=[SECRET])),
    ("unknown field", one(), one(password=SECRET, inside={"token": SECRET, "more": [{"apiKey": SECRET}]})),
    ("metadata", one(), one(metadata={"secret": {"a": [SECRET]}})),
    ("top", one(), {**one(), "credentials": SECRET}),
    (
        "default of a parameter",
        with_plan(schemas={"service_instance": {"create": {"parameters": {"properties": {"password": {}}}}}}),
        with_plan(
            schemas={"service_instance": {"create": {"parameters": {"properties": {"password": {"default": SECRET}}}}}}
        ),
    ),
]


@pytest.mark.parametrize(("old", "new"), [row[1:] for row in HOLDERS], ids=[row[0] for row in HOLDERS])
def test_no_secret_is_kept_in_a_change(old: Any, new: Any) -> None:
    changes = compare_catalogs(old, new)
    refused = [Refused(p, r.rule, r.path, r.message) for p, o in judge_all(new).items() for r in o.refusals]
    changes += new_refusals(old, new, [], refused, changes)
    assert changes
    assert SECRET not in repr(changes)


def test_fingerprints_know_ids_and_fields_but_no_words_and_no_order() -> None:
    base = with_plan(free=True)
    paid = by_rule(base, with_plan(free=False))["change-free-to-paid"]
    turned = catalog(service("s0", "first", plan("p0", "x")), with_plan(free=False)["services"][0])
    again = by_rule(catalog(turned["services"][0], base["services"][0]), turned)["change-free-to-paid"]
    assert paid.fingerprint == again.fingerprint
    other = by_rule(one(tags=["a", "b"]), one(tags=[]))
    tags = [c.fingerprint for c in compare_catalogs(one(tags=["a", "b"]), one(tags=[]))]
    assert len(set(tags)) == 2
    assert paid.fingerprint not in {change.fingerprint for change in other.values()}


def refusals(data: Any) -> list[Refused]:
    return [Refused(p, r.rule, r.path, r.message) for p, outcome in judge_all(data).items() for r in outcome.refusals]


def test_only_refusals_that_are_new_are_told() -> None:
    old = catalog(service("s1", "db", plan("p1", "small", free="yes")))
    moved = catalog(service("s0", "mq", plan("p0", "x")), service("s1", "db", plan("p1", "small", free="yes")))
    assert new_refusals(old, moved, refusals(old), refusals(moved), []) == []
    worse = catalog(service("s1", "db", plan("p1", "small", free="yes", bindable="yes")))
    found = new_refusals(old, worse, refusals(old), refusals(worse), [])
    assert {change.effects[0].platform for change in found} >= {Platform.CLOUD_FOUNDRY}
    assert {change.field.partition("/")[0] for change in found} == {"bindable"}
    (change, *_) = found
    assert change.level is Level.REFUSED
    assert change.new_path == change.old_path == ("services", 0, "plans", 0, "bindable")


def test_a_refusal_of_a_plan_is_not_new_under_another_service_id() -> None:
    faulty = plan("p1", "small", maintenance_info={"version": "one"})
    old, new = catalog(service("s1", "db", faulty)), catalog(service("s2", "db", faulty))
    assert new_refusals(old, new, refusals(old), refusals(new), compare_catalogs(old, new)) == []


def test_a_refusal_names_its_field() -> None:
    old, new = one(), one(bindable="no", maximum_polling_duration="x")
    told = [c.message for c in new_refusals(old, new, refusals(old), refusals(new), [])]
    assert "bindable: Service Catalog cannot read the catalog: this must be a boolean (kubernetes-type)" in told
    assert 'Service "bindable" field must be a boolean, but has value "no" (cloudfoundry-type)' in told


def test_a_refusal_that_a_change_tells_already_is_not_told_again() -> None:
    old, new = one(), catalog()
    changes = compare_catalogs(old, new)
    rules = {
        c.rule for c in new_refusals(old, new, [], refusals(new), changes) if c.effects[0].platform == "cloudfoundry"
    }
    assert rules == set()


def test_the_level_is_the_strictest_in_view_and_safe_without_any() -> None:
    effects = (Effect(Platform.KORIFI, Level.SAFE, "x"), Effect(Platform.KUBERNETES, Level.RISKY, "y"))
    assert Change("r", "m", effects).level is Level.RISKY
    assert Change("r", "m", ()).level is Level.SAFE


def test_example_catalogs_differ() -> None:
    first, second = (read_source(str(catalogs_folder() / n)).data for n in ("interface-example.json", "faulty.yaml"))
    assert {"change-service-removed", "change-service-added"} <= set(by_rule(first, second))
