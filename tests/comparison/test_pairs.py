"""Properties of any pair of catalogs: equal and faulty ones; new refusals; fingerprints."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.changes import Change, Effect, Level
from osbctl.commands.diff import add_refusals
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.comparison.refusals import find_new_refusals
from osbctl.comparison.values import MAX_TEXT, from_to
from osbctl.paths import same_value
from osbctl.platforms import Platform
from osbctl.reports.changes import DiffFormat, DiffReport, render
from osbctl.rule import RULES
from tests.case import each
from tests.fragments import changed, places

from .make import by_rule, catalog, one, plan, refusals, service, with_plan


def test_where_long_values_differ_is_seen() -> None:
    old = [f"bullet {number}" for number in range(40)]
    before, after = str(from_to(old, [*old[:-1], "the last one"])).removeprefix("from ").split(" to ")
    assert "bullet 39" in before
    assert "the last one" in after
    assert len(before) <= MAX_TEXT >= len(after)
    assert str(from_to("short", "also short")) == 'from "short" to "also short"'
    assert str(from_to(old, [*old, "one more"])).endswith('"one more"]')


@each("old, new", [
    (one(tags=None, metadata={}), one(requires=[])),
    (with_plan(schemas={}), with_plan(schemas=None, maintenance_info={})),
    ({}, {"services": []}),
])  # fmt: skip
def test_absent_null_and_empty_mean_the_same_and_are_told_apart_from_no_change(old: Any, new: Any) -> None:
    (change,) = compare_catalogs(old, new)
    assert (change.rule, change.level) == ("change-other-field", Level.SAFE)


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


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    data: Any = copy.deepcopy(BASE)
    for _ in range(draw(st.integers(0, 4))):
        _, *spots = places(data)
        if not spots:
            break
        data = changed(data, draw(st.sampled_from(spots)), draw(JUNK) if draw(st.booleans()) else ...)
    return data


@pytest.mark.fuzz
@given(mutated(), mutated(), st.none() | st.just(frozenset({"p1"})))
def test_no_pair_of_catalogs_crashes(old: dict[str, Any], new: dict[str, Any], instances: Any) -> None:
    changes = compare_catalogs(old, new, used_plans=instances)
    changes += find_new_refusals(old, new, refusals(old), refusals(new), changes)
    for change in changes:
        assert change.effects
        assert change.message
        assert len(change.fingerprint) == 32
    report = DiffReport(old="old", new="new", changes=changes, load_rules=lambda: RULES, root="")
    for form in DiffFormat:
        assert "\x1b" not in render(report, form)
    assert compare_catalogs(old, copy.deepcopy(old)) == []
    assert changes or same_value(old, new)


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


def test_only_refusals_that_are_new_are_told() -> None:
    old = catalog(service("s1", "db", plan("p1", "small", free="yes")))
    moved = catalog(service("s0", "mq", plan("p0", "x")), service("s1", "db", plan("p1", "small", free="yes")))
    assert find_new_refusals(old, moved, refusals(old), refusals(moved), []) == []
    worse = catalog(service("s1", "db", plan("p1", "small", free="yes", bindable="yes")))
    found = find_new_refusals(old, worse, refusals(old), refusals(worse), [])
    assert {change.effects[0].platform for change in found} >= {Platform.CLOUD_FOUNDRY}
    assert {change.field.partition("/")[0] for change in found} == {"bindable"}
    (change, *_) = found
    assert change.level is Level.REFUSED
    assert change.new_path == change.old_path == ("services", 0, "plans", 0, "bindable")


def test_a_refusal_of_a_plan_is_not_new_under_another_service_id() -> None:
    faulty = plan("p1", "small", maintenance_info={"version": "one"})
    old, new = catalog(service("s1", "db", faulty)), catalog(service("s2", "db", faulty))
    assert find_new_refusals(old, new, refusals(old), refusals(new), compare_catalogs(old, new)) == []


def test_a_refusal_names_its_field() -> None:
    old, new = one(), one(bindable="no", maximum_polling_duration="x")
    found = find_new_refusals(old, new, refusals(old), refusals(new), [])
    told = [effect.reason for change in found for effect in change.effects]
    assert "bindable: Service Catalog cannot read the catalog: this must be a boolean (kubernetes-type)" in told
    assert 'Service "bindable" field must be a boolean, but has value "no" (cloudfoundry-type)' in told


@each("fields, field, number", [
    ({"free": "yes"}, "free", 4),
    ({"metadata": [1]}, "metadata", 4),
    ({"description": None}, "description", 3),
    # Cloud Foundry also misses the version in it.
    ({"maintenance_info": "1.0.0"}, "maintenance_info", 2),
    (
        {"schemas": {"service_instance": {"create": {"parameters": "x"}}}},
        "schemas/service_instance/create/parameters",
        2,
    ),
])  # fmt: skip
def test_one_mistake_is_one_change_with_all_platforms(fields: dict[str, Any], field: str, number: int) -> None:
    old, new = with_plan(description="Small.", free=True), with_plan(**{"description": "Small.", **fields})
    found = find_new_refusals(old, new, refusals(old), refusals(new), [])
    assert [(change.field, len(change.effects)) for change in found] == [(field, number)]
    for change in found:
        assert all(effect.reason for effect in change.effects)
        assert change.message == change.effects[0].reason
        (alone,) = find_new_refusals(old, new, {}, {Platform.CLOUD_FOUNDRY: refusals(new)[Platform.CLOUD_FOUNDRY]}, [])
        assert alone.fingerprint == change.fingerprint


def test_two_mistakes_are_two_changes() -> None:
    old = catalog(service("s1", "db", plan("p1", "small"), plan("p2", "large")))
    new = catalog(service("s1", "db", plan("p1", "small", free="yes"), plan("p2", "large", free="yes")))
    found = find_new_refusals(old, new, refusals(old), refusals(new), [])
    assert [change.object for change in found] == ["db/small", "db/large"]
    new = with_plan(free="yes", metadata=[1])
    assert len(find_new_refusals(with_plan(), new, {}, refusals(new), [])) == 2


def test_a_refused_value_is_not_told_again_as_safe() -> None:
    old, new = with_plan(description="Small.", free=True), with_plan(description=5, free="yes", bindable="no")
    found = add_refusals(old, new, compare_catalogs(old, new), frozenset(Platform))
    assert {(change.field, change.level) for change in found} == {
        (field, Level.REFUSED) for field in ("description", "free", "bindable")
    }
    (description,) = (change for change in found if change.field == "description")
    assert (description.old, description.new) == ("Small.", 5)


def test_a_refusal_that_a_change_tells_already_is_not_told_again() -> None:
    old, new = one(), catalog()
    found = find_new_refusals(old, new, {}, refusals(new), compare_catalogs(old, new))
    assert [change.rule for change in found if change.effects[0].platform == "cloudfoundry"] == []


def test_the_level_is_the_strictest_in_view_and_safe_without_any() -> None:
    effects = (Effect(Platform.KORIFI, Level.SAFE, "x"), Effect(Platform.KUBERNETES, Level.RISKY, "y"))
    assert Change("r", "m", effects).level is Level.RISKY
    assert Change("r", "m", ()).level is Level.SAFE
