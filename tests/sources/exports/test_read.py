"""Exports of every platform: recognised, merged, mapped back; and whatever else is handed over."""

from __future__ import annotations

import copy
import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.comparison.drift import find_drift, notes
from osbctl.errors import OsbctlError, SourceError, UsageError
from osbctl.platforms import Platform
from osbctl.sources.document import Document
from osbctl.sources.exports.merge import StoredCatalog
from osbctl.sources.exports.read import StoredAs, recognise, stored_catalog
from osbctl.sources.parse import parse_document
from osbctl.sources.yaml_text import dump
from tests.corpus import EVERY_CASE
from tests.drift.test_fields import CATALOG
from tests.sources.exports.make import export_as, page

CF, KORIFI = Platform.CLOUD_FOUNDRY, Platform.KORIFI


def document(data: Any, name: str = "x.json") -> Document:
    return parse_document(json.dumps(data, indent=1).encode(), name)


def read(*files: Any, **options: Any) -> StoredCatalog:
    return stored_catalog([document(file, f"{n}.json") for n, file in enumerate(files)], **options)


def rows(platform: Platform) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    offerings, plans = export_as(platform, CATALOG)
    return offerings["resources"], plans["resources"]


@pytest.mark.parametrize("platform", Platform)
@pytest.mark.parametrize("ending", ["json", "yaml", "txt"])
def test_recognised_by_content(platform: Platform, ending: str) -> None:
    for file in export_as(platform, CATALOG):
        for text in (json.dumps(file), dump(file)):
            found = recognise(parse_document(text.encode(), f"export.{ending}"))
            assert found in (platform.value, "cloudfoundry")
    assert read(*export_as(platform, CATALOG)).platform is platform


def test_a_catalog_is_recognised_and_kept_whole() -> None:
    kept = read(CATALOG)
    assert kept.platform is None
    assert kept.document.data == CATALOG


@pytest.mark.parametrize("platform", Platform)
def test_the_order_of_files_does_not_matter(platform: Platform) -> None:
    files = export_as(platform, CATALOG)
    assert find_drift(read(*reversed(files)), CATALOG) == []


def test_pages_are_merged_and_what_comes_twice_counts_once() -> None:
    offerings, plans = rows(CF)
    files = [page([row], 2) for row in offerings] + [page([row], 3) for row in plans]
    kept = read(*files, page(plans[:1], 3))
    assert find_drift(kept, CATALOG) == []


def test_offerings_that_are_included_with_their_plans() -> None:
    offerings, plans = rows(CF)
    brokers = [{"guid": "the-broker", "name": "mine"}]
    file = page(plans, included={"service_offerings": offerings, "service_brokers": brokers})
    assert find_drift(read(file), CATALOG) == []
    assert find_drift(read(file, stored_as=StoredAs("cloudfoundry"), broker="mine"), CATALOG) == []


def test_plans_inside_of_their_offerings() -> None:
    offerings, plans = export_as(Platform.SERVICE_MANAGER, CATALOG)
    for offering in offerings["items"]:
        offering["plans"] = [plan for plan in plans["items"] if plan["service_offering_id"] == offering["id"]]
    assert find_drift(read(offerings), CATALOG) == []


def test_other_objects_of_a_cluster_are_skipped() -> None:
    (whole,) = export_as(Platform.KUBERNETES, CATALOG)
    whole["items"].append({"kind": "ClusterServiceBroker", "metadata": {"name": "b"}, "spec": {"url": "https://x"}})
    assert find_drift(read(whole), CATALOG) == []


def test_one_object_of_a_cluster() -> None:
    (whole,) = export_as(Platform.KUBERNETES, {"services": CATALOG["services"][1:]})
    assert find_drift(read(*whole["items"]), {"services": CATALOG["services"][1:]}) == []


@pytest.mark.parametrize("platform", Platform)
def test_several_brokers_in_one_export(platform: Platform) -> None:
    other = {
        "services": [
            {"id": "o", "name": "o", "description": "o", "plans": [{"id": "q", "name": "q", "description": "q"}]}
        ]
    }
    text = json.dumps(export_as(platform, other)).replace("the-broker", "other").replace("offering-", "of-")
    text = text.replace("class-", "cl-").replace('"plan-', '"pl-')
    files = [*export_as(platform, CATALOG), *json.loads(text)]
    with pytest.raises(UsageError, match="2 brokers") as caught:
        read(*files)
    assert "other" in caught.value.advice
    assert "the-broker" in caught.value.advice
    as_ = StoredAs(platform.value)
    assert find_drift(read(*files, stored_as=as_, broker="the-broker"), CATALOG) == []
    assert find_drift(read(*files, stored_as=as_, broker="other"), other) == []
    with pytest.raises(SourceError, match="nothing of a broker nobody") as nothing:
        read(*files, broker="nobody")
    assert "the-broker" in nothing.value.advice


def test_rows_that_are_kept_for_their_instances() -> None:
    offerings, plans = rows(CF)
    plans[1]["available"] = False
    offerings[1]["available"] = False
    kept = read(page(offerings), page(plans))
    assert kept.kept == {("s1", "p2"): "db/large", ("s2", ""): "queue", ("s2", "p3"): "queue/only"}
    broker = copy.deepcopy(CATALOG)
    del broker["services"][1], broker["services"][0]["plans"][1]
    assert find_drift(kept, broker) == []
    assert any(note.endswith("does not have them: db/large, queue, queue/only") for note in notes(kept, broker))
    again = "the broker offers it again, the platform keeps it as removed"
    assert {(c.rule, c.message) for c in find_drift(kept, CATALOG)} == {
        ("change-plan-added", again),
        ("change-service-added", again),
    }
    assert not any("gone from the catalog" in note for note in notes(kept, CATALOG))


def test_classes_that_were_removed_from_the_catalog() -> None:
    (whole,) = export_as(Platform.KUBERNETES, CATALOG)
    whole["items"][1]["status"]["removedFromBrokerCatalog"] = True
    assert read(whole).kept == {("s1", "p1"): "db/small"}


def test_korifi_keeps_nothing_for_instances() -> None:
    kept = read(*export_as(KORIFI, CATALOG))
    assert kept.kept == {}
    assert len(kept.document.data["services"][0]["plans"]) == 2


def test_korifi_that_shows_maintenance_information() -> None:
    offerings, plans = rows(KORIFI)
    for plan in plans:
        plan["maintenance_info"] = {"version": "1.2.3"}
    kept = read(page(offerings), page(plans))
    broker = copy.deepcopy(CATALOG)
    assert find_drift(kept, broker) == []
    broker["services"][0]["plans"][0]["maintenance_info"]["version"] = "2.0.0"
    assert [c.rule for c in find_drift(kept, broker)] == ["change-maintenance-version"]


def test_stored_as_decides_between_two_platforms_of_one_shape() -> None:
    files = export_as(CF, CATALOG)
    assert read(*files, stored_as=StoredAs("korifi")).platform is KORIFI
    assert read(*export_as(KORIFI, CATALOG), stored_as=StoredAs("cloudfoundry")).platform is CF


K8S_FILE = export_as(Platform.KUBERNETES, CATALOG)[0]
SM_FILES = export_as(Platform.SERVICE_MANAGER, CATALOG)
PARTIAL: dict[str, tuple[list[Any], str]] = {
    "a page is missing": ([page(rows(CF)[0]), page(rows(CF)[1][:2], 3)], "it holds 2 of 3 plans"),
    "a page of another broker is missing": (
        [
            page(rows(CF)[0], asked="?names=a"),
            *(page(rows(CF)[1][:2], 3, asked=f"?service_broker_names={n}") for n in "ab"),
        ],
        "it holds 2 of 3 plans",
    ),
    "a page follows": ([page(rows(CF)[0]), {**page(rows(CF)[1]), "pagination": {"next": {"href": "x"}}}], "more plans"),
    "a filter": (
        [page(rows(CF)[0]), page(rows(CF)[1], asked="?available=true&organization_guids=x&order_by=name")],
        "it was filtered by available, organization_guids",
    ),
    "no plans": ([page(rows(CF)[0])], "it holds no plan"),
    "no plans of one": ([page(rows(CF)[0]), page(rows(CF)[1][:2])], "it holds no plan of queue"),
    "plans alone": ([page(rows(CF)[1])], "it holds plans and no service offerings"),
    "an offering is missing": ([page(rows(CF)[0][:1]), page(rows(CF)[1])], "it lacks the service offering of only"),
    "a name that no broker has": ([page([])], "it holds no service offering"),
    "no classes": ([{"kind": "List", "items": []}], "it holds no service offering"),
    "nothing of Service Manager": ([{"num_items": 0, "items": []}], "it holds no service offering"),
    "no plans of Service Manager": (SM_FILES[:1], "it holds no plan"),
    "more of the cluster": ([{**K8S_FILE, "metadata": {"continue": "abc"}}], "more service offerings than it holds"),
    "the rest of the cluster": (
        [{**K8S_FILE, "metadata": {"continue": "abc", "remainingItemCount": 4}}, {"kind": "List", "items": []}],
        "it holds 2 of ",
    ),
    "more items": ([{**file, "num_items": 9} for file in SM_FILES], "it holds 2 of 9 service offerings"),
    "a page with a token": ([{"token": "t", "items": file["items"]} for file in SM_FILES], "more service offerings"),
}


def test_the_pages_of_a_cluster_and_of_service_manager_are_whole_together() -> None:
    """All but the last say that there is more."""
    items = K8S_FILE["items"]
    chunks = [items[:3], items[3:]]
    files = [
        {"kind": "List", "items": chunk, "metadata": {"continue": "x"} if not n else {}}
        for n, chunk in enumerate(chunks)
    ]
    assert find_drift(read(*files), CATALOG) == []
    paged = [
        {"num_items": len(file["items"]), "items": [row], **({} if row is file["items"][-1] else {"token": "t"})}
        for file in SM_FILES
        for row in file["items"]
    ]
    assert find_drift(read(*paged), CATALOG) == []


@pytest.mark.parametrize("platform", [Platform.SERVICE_MANAGER, KORIFI])
def test_a_service_offering_without_plans_may_stand_where_the_platform_takes_one(platform: Platform) -> None:
    bare = {"services": [*CATALOG["services"], {"id": "s3", "name": "bare", "description": "x", "plans": []}]}
    assert find_drift(read(*export_as(platform, bare)), bare) == []


def test_the_export_of_another_broker_is_no_drift() -> None:
    text = json.dumps(CATALOG)
    for old in ("s1", "s2", "p1", "p2", "p3", "db", "queue"):
        text = text.replace(f'"{old}"', f'"other-{old}"')
    with pytest.raises(SourceError, match="of this broker"):
        find_drift(read(*export_as(CF, CATALOG)), json.loads(text))
    changed = json.loads(text.replace('"other-db"', '"db"'))
    assert find_drift(read(*export_as(CF, CATALOG)), changed)


def test_public_plans_alone_are_doubted_where_the_broker_has_more() -> None:
    offerings, plans = rows(CF)
    for plan in plans:
        plan["visibility_type"] = "public"
    assert not any("public" in note for note in notes(read(page(offerings), page(plans)), CATALOG))
    assert any("public" in note for note in notes(read(page(offerings), page(plans[1:])), CATALOG))


def test_a_feature_that_is_off_by_default_is_named() -> None:
    catalog = copy.deepcopy(CATALOG)
    kept = read(*export_as(Platform.KUBERNETES, catalog))
    assert not any("AsyncBinding" in note for note in notes(kept, CATALOG))
    catalog["services"][0]["bindings_retrievable"] = False
    kept = read(*export_as(Platform.KUBERNETES, catalog))
    assert any("AsyncBinding" in note for note in notes(kept, CATALOG))


@pytest.mark.parametrize("platform", Platform)
def test_places_lead_into_the_export(platform: Platform) -> None:
    kept = read(*export_as(platform, CATALOG))
    paths = [
        ("services", 0, "name"),
        ("services", 0, "tags", 1),
        ("services", 1, "metadata"),
        ("services", 0, "plans", 1, "description"),
        ("services", 0, "plans", 1, "metadata", "bullets", 0),
        ("services", 0, "plans", 1, "schemas", "service_binding", "create", "parameters", "properties", "role"),
    ]
    files = {f"{n}.json": json.dumps(f, indent=1).splitlines() for n, f in enumerate(export_as(platform, CATALOG))}
    found = kept.document.locate(paths)
    lines = [files[found[path].source][found[path].line - 1].strip() for path in paths]
    assert '"db"' in lines[0]
    assert lines[1] == '"fast"'
    assert '"a plan"' in lines[3]
    assert lines[4] == '"one"'
    assert lines[5].startswith('"role"')
    whole = kept.document.locate([(), ("services",), ("services", 0, "plans")])
    assert {place.source for place in whole.values()} == {"0.json"}


OFFERING, PLAN = rows(CF)[0][0], rows(CF)[1][0]
UNHAPPY: dict[str, tuple[list[Any], str]] = {
    "not logged in": ([{"errors": [{"code": 1000, "detail": "Invalid Auth Token"}]}], "a refusal: Invalid Auth Token"),
    "not allowed": ([{"kind": "Status", "message": "is forbidden"}], "a refusal: is forbidden"),
    "nothing known": ([{"a": 1}], "neither a catalog nor an export"),
    "resources are no list": ([{"resources": {"a": 1}}], "/resources is not a list"),
    "a row is no object": ([{"resources": [3]}], "/resources/0 is not an object"),
    "instances": ([{"resources": [{"guid": "x", "type": "managed"}]}], "has no broker_catalog"),
    "no id": ([page([{**OFFERING, "broker_catalog": {}}])], "/resources/0 has no broker_catalog.id"),
    "id is a number": ([page([{**OFFERING, "broker_catalog": {"id": 3}}])], "/resources/0 has no broker_catalog.id"),
    "no guid": ([page([{**OFFERING, "guid": None}])], "/resources/0 has no guid"),
    "plan without id": ([page([OFFERING]), page([{**PLAN, "broker_catalog": {}}])], "1.json: not the shape"),
    "two platforms": ([page([OFFERING]), {"items": []}], "of different kinds: cloudfoundry, service-manager"),
    "item is no object": ([{"kind": "List", "items": ["x"]}], "/items/0 is not an object"),
    "class without a name": ([{"kind": "ServiceClass", "spec": {}}], "the top has no metadata.name"),
    "included is no list": ([page([PLAN], included={"service_offerings": "x"})], "/included/service_offerings is not"),
    "something else of Service Manager": ([{"items": [{"id": "x"}]}], "/items/0 has no catalog_id"),
    "plans inside are wrong": ([{"items": [{"id": "x", "catalog_id": "y", "plans": [1]}]}], "/items/0/plans/0 is not"),
}


@pytest.mark.parametrize("case", PARTIAL | UNHAPPY)
def test_an_export_that_is_wrong_or_incomplete_is_refused(case: str) -> None:
    files, message = (PARTIAL | UNHAPPY)[case]
    with pytest.raises(SourceError) as caught:
        read(*files)
    assert message in caught.value.message
    assert caught.value.advice.startswith("export it again: ") == (case in PARTIAL)
    assert caught.value.advice


def test_stored_as_something_that_it_is_not() -> None:
    with pytest.raises(UsageError):
        read(CATALOG, CATALOG)
    with pytest.raises(UsageError):
        read(CATALOG, broker="b")
    for platform in Platform:
        with pytest.raises(SourceError, match=r"0\.json: not an export of"):
            read(CATALOG, stored_as=StoredAs(platform.value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for key, inner in items for deeper in places(inner, (*path, key)))]


SMALL: dict[str, Any] = {"services": [{**CATALOG["services"][0], "plans": CATALOG["services"][0]["plans"][:1]}]}
EXPORTS = {platform: export_as(platform, SMALL) for platform in Platform}


@pytest.mark.fuzz
@given(st.sampled_from(list(Platform)), st.data())
def test_no_export_is_wrong_enough_for_a_traceback(platform: Platform, data: st.DataObject) -> None:
    files = copy.deepcopy(EXPORTS[platform])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(files)))
        if len(path) < 2:
            continue
        here: Any = files
        for key in path[:-1]:
            here = here[key]
        here[path[-1]] = data.draw(JSON)
    broker = data.draw(st.sampled_from([CATALOG, SMALL, {"services": None}, {"services": [None, {"plans": [1]}]}]))
    check(files, broker, data.draw(st.none() | st.sampled_from(StoredAs)))


def check(files: list[Any], broker: dict[str, Any], stored_as: StoredAs | None = None) -> None:
    """Any files: a sentence, or changes with locations."""
    try:
        kept = read(*files, stored_as=stored_as)
    except OsbctlError as error:
        assert str(error)
        return
    try:
        changes = find_drift(kept, broker)
    except OsbctlError as error:
        assert "of this broker" in str(error)
        return
    assert set(kept.document.locate({c.old_path for c in changes})) == {c.old_path for c in changes}
    assert all(notes(kept, broker))


@pytest.mark.fuzz
@pytest.mark.parametrize("platform", Platform)
def test_any_one_value_may_be_any_other(platform: Platform) -> None:
    """Each with each under `make fuzz`, else one in five: each place with one or two."""
    tried = itertools.product(places(EXPORTS[platform]), [None, True, 0, "x", [], {}, [None], {"x": []}])
    for path, value in tried if EVERY_CASE else itertools.islice(tried, None, None, 5):
        if len(path) > 1:
            files = copy.deepcopy(EXPORTS[platform])
            here: Any = files
            for key in path[:-1]:
                here = here[key]
            here[path[-1]] = value
            check(files, SMALL)
