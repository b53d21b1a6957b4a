"""Exports of every platform: recognised, merged, mapped back; and whatever else is handed over."""

import copy
import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.comparison.drift import find_drift, stored_catalog_notes
from osbctl.errors import OsbctlError, SourceError, UsageError
from osbctl.findings import DocumentError
from osbctl.platforms import Platform, State
from osbctl.platforms.tools import export_format
from osbctl.sources.document import parse_document
from osbctl.sources.exports import StoredAs, find_stored_catalog, parse_documents, recognise_platform
from osbctl.sources.yaml_text import dump
from tests.case import each
from tests.corpus import EVERY_CASE
from tests.drift.make import CATALOG
from tests.fragments import changed, places
from tests.platforms.known import CF, K8S, KNOWN, KORIFI, SM
from tests.sources.exports.make import export_as, page, read


def rows(platform: Platform) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    offerings, plans = export_as(platform, CATALOG)
    return offerings["resources"], plans["resources"]


@each("platform", KNOWN)
@each("ending", ["json", "yaml", "txt"])
def test_recognised_by_content(platform: Platform, ending: str) -> None:
    for file in export_as(platform, CATALOG):
        for text in (json.dumps(file), dump(file)):
            found = recognise_platform(parse_document(text.encode(), f"export.{ending}"))
            assert found and export_format(found).read == export_format(platform).read, "another's shape"
    assert read(*export_as(platform, CATALOG)).platform is platform


def test_a_catalog_is_recognised_and_kept_whole() -> None:
    kept = read(CATALOG)
    assert kept.platform is None
    assert kept.document.data == CATALOG


@each("platform", KNOWN)
def test_several_brokers_in_one_export(platform: Platform) -> None:
    plan = {"id": "q", "name": "q", "description": "q"}
    other = {"services": [{"id": "o", "name": "o", "description": "o", "plans": [plan]}]}
    text = json.dumps(export_as(platform, other)).replace("the-broker", "other").replace("offering-", "of-")
    text = text.replace("class-", "cl-").replace('"plan-', '"pl-')
    named = json.dumps(export_as(platform, CATALOG))  # all but Kubernetes can show a name beside the id
    for id_, name in (("broker_id", "broker_name"), ("guid", "name")):
        named = named.replace(f'"{id_}": "the-broker"', f'"{name}": "shop", "{id_}": "the-broker"')
    files = [*json.loads(named), *json.loads(text)]
    with pytest.raises(UsageError, match="2 brokers") as caught:
        read(*files)
    assert "other" in caught.value.advice
    assert "the-broker" in caught.value.advice
    as_ = StoredAs(platform.value)
    for chosen in ("the-broker", *(["shop"] if platform is not K8S else ())):
        assert find_drift(read(*files, stored_as=as_, broker=chosen), CATALOG) == []
    assert find_drift(read(*files, stored_as=as_, broker="other"), other) == []
    for nobody in ("nobody", "the-brok", "broker", "The-Broker"):
        with pytest.raises(SourceError, match=f"nothing of a broker {nobody}") as nothing:
            read(*files, broker=nobody)
        assert "the-broker" in nothing.value.advice


def test_rows_that_are_kept_for_their_instances() -> None:
    offerings, plans = rows(CF)
    plans[1]["available"] = False
    offerings[1]["available"] = False
    kept = read(page(offerings), page(plans))
    assert [(row.key, row.name, row.state) for row in kept.kept] == [
        (("s1", "p2"), "large", State.FLAGGED),
        (("s2", None), "queue", State.FLAGGED),
        (("s2", "p3"), "only", State.FLAGGED),
    ]
    broker = copy.deepcopy(CATALOG)
    del broker["services"][1], broker["services"][0]["plans"][1]
    assert find_drift(kept, broker) == []
    notes = stored_catalog_notes(kept, broker)
    assert any(note.endswith("does not have them: db/large, queue, queue/only") for note in notes)
    again = "the broker offers it again, the platform keeps it as removed"
    assert {(c.rule, c.message) for c in find_drift(kept, CATALOG)} == {
        ("change-plan-added", again),
        ("change-service-added", again),
    }
    assert not any("gone from the catalog" in note for note in stored_catalog_notes(kept, CATALOG))


def test_what_kubernetes_and_korifi_keep_for_instances() -> None:
    (whole,) = export_as(K8S, CATALOG)
    whole["items"][1]["status"]["removedFromBrokerCatalog"] = True
    assert [(row.key, row.name, row.state) for row in read(whole).kept] == [(("s1", "p1"), "small", State.FLAGGED)]
    kept = read(*export_as(KORIFI, CATALOG))
    assert kept.kept == ()
    assert len(kept.document.data["services"][0]["plans"]) == 2


def test_the_platform_and_the_broker_can_be_chosen() -> None:
    files = export_as(CF, CATALOG)
    assert read(*files, stored_as=StoredAs("korifi")).platform is KORIFI
    assert read(*export_as(KORIFI, CATALOG), stored_as=StoredAs("cloudfoundry")).platform is CF


K8S_FILE = export_as(K8S, CATALOG)[0]
SM_FILES = export_as(Platform.SERVICE_MANAGER, CATALOG)
(OFFERINGS, PLANS), (SM_OFFERINGS, SM_PLANS) = rows(CF), (file["items"] for file in SM_FILES)
PARTIAL: dict[str, tuple[list[Any], str]] = {
    "a page is missing": ([page(OFFERINGS), page(PLANS[:2], 3)], "it holds 2 of 3 plans"),
    "a page of another broker is missing": (
        [page(OFFERINGS), *(page(PLANS[:2], 3, asked=f"?service_broker_names={name}") for name in "ab")],
        "it holds 2 of 3 plans"),
    "a page follows": ([page(OFFERINGS), {**page(PLANS), "pagination": {"next": {"href": "x"}}}], "more plans"),
    "a filter": ([page(OFFERINGS), page(PLANS, asked="?available=true&organization_guids=x&order_by=name")],
        "it was filtered by available, organization_guids"),
    "no plans": ([page(OFFERINGS)], "it holds no plan"),
    "no plans of one": ([page(OFFERINGS), page(PLANS[:2])], "it holds no plan of queue"),
    "plans alone": ([page(PLANS)], "it holds plans and no service offerings"),
    "an offering is missing": ([page(OFFERINGS[:1]), page(PLANS)], "it lacks the service offering of only"),
    "a name that no broker has": ([page([])], "it holds no service offering"),
    "no classes": ([{"kind": "List", "items": []}], "it holds no service offering"),
    "nothing of Service Manager": ([{"num_items": 0, "items": []}], "it holds no service offering"),
    "no plans of Service Manager": (SM_FILES[:1], "it holds no plan"),
    "more of the cluster": ([{**K8S_FILE, "metadata": {"continue": "abc"}}], "more service offerings than it holds"),
    "the rest of the cluster": (
        [{**K8S_FILE, "metadata": {"continue": "abc", "remainingItemCount": 4}}, {"kind": "List", "items": []}],
        "it holds 2 of "),
    "more items": ([{**file, "num_items": 9} for file in SM_FILES], "it holds 2 of 9 service offerings"),
    "a page with a token": ([{"token": "t", "items": file["items"]} for file in SM_FILES], "more service offerings"),
}  # fmt: skip


def parts(file: dict[str, Any], at: int, **more: Any) -> list[Any]:
    """Two pages, of which the first says that there is more."""
    return [{**file, **more, "items": file["items"][:at]}, {**file, "items": file["items"][at:]}]


BROKER_OF_CLUSTER = {"kind": "ClusterServiceBroker", "metadata": {"name": "b"}, "spec": {"url": "https://x"}}
INCLUDED = {"service_offerings": OFFERINGS}
WHOLE: dict[str, list[Any]] = {
    **{f"{platform}, the last file first": export_as(platform, CATALOG)[::-1] for platform in KNOWN},
    "pages": [*(page([row], 2) for row in OFFERINGS), *(page([row], 3) for row in PLANS)],
    "a page twice": [page(OFFERINGS), *(page([row], 3) for row in (*PLANS, PLANS[0]))],
    "offerings that are included with their plans": [page(PLANS, included=INCLUDED)],
    "other objects of a cluster": [{**K8S_FILE, "items": [*K8S_FILE["items"], BROKER_OF_CLUSTER]}],
    "pages of a cluster": parts(K8S_FILE, 3, metadata={"continue": "x"}),
    "pages of Service Manager": [page for file in SM_FILES for page in parts(file, 1, token="t")],
}


@each("case", WHOLE)
def test_an_export_that_is_whole_shows_no_drift(case: str) -> None:
    assert find_drift(read(*WHOLE[case]), CATALOG) == []


@each("platform", [Platform.SERVICE_MANAGER, KORIFI])
def test_a_service_offering_without_plans_may_stand_where_the_platform_takes_one(platform: Platform) -> None:
    bare = {"services": [*CATALOG["services"], {"id": "s3", "name": "bare", "description": "x", "plans": []}]}
    assert find_drift(read(*export_as(platform, bare)), bare) == []


def test_the_export_of_another_broker_is_no_drift() -> None:
    text = json.dumps(CATALOG)
    for old in ("s1", "s2", "p1", "p2", "p3", "db", "queue"):
        text = text.replace(f'"{old}"', f'"other-{old}"')
    with pytest.raises(SourceError, match="of this broker"):
        find_drift(read(*export_as(CF, CATALOG)), json.loads(text))
    assert find_drift(read(*export_as(CF, CATALOG)), json.loads(text.replace('"other-db"', '"db"')))


def test_public_plans_alone_are_doubted_where_the_broker_has_more() -> None:
    offerings, plans = rows(CF)
    for plan in plans:
        plan["visibility_type"] = "public"
    assert not any("public" in note for note in stored_catalog_notes(read(page(offerings), page(plans)), CATALOG))
    assert any("public" in note for note in stored_catalog_notes(read(page(offerings), page(plans[1:])), CATALOG))


def test_what_kubernetes_stores_only_with_a_feature_is_no_drift() -> None:
    (whole,) = export_as(K8S, CATALOG)
    whole["items"][0]["spec"]["bindingRetrievable"] = not whole["items"][0]["spec"]["bindingRetrievable"]
    assert find_drift(read(whole), CATALOG) == []


@each("platform", KNOWN)
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


OFFERING, PLAN = OFFERINGS[0], PLANS[0]
UNHAPPY: dict[str, tuple[list[Any], str]] = {
    "not logged in": ([{"errors": [{"code": 1000, "detail": "Invalid Auth Token"}]}], "an error of the platform"),
    "not allowed": ([{"kind": "Status", "message": "is forbidden"}], "an error of the platform"),
    "v2 services": ([{"resources": [{"metadata": {}, "entity": {"label": "a"}}]}], "export of the v2 API"),
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
}


@each("case", PARTIAL | UNHAPPY)
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
    for platform in KNOWN:
        with pytest.raises(SourceError, match=r"0\.json: not an export of"):
            read(CATALOG, stored_as=StoredAs(platform.value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


SMALL: dict[str, Any] = {"services": [{**CATALOG["services"][0], "plans": CATALOG["services"][0]["plans"][:1]}]}
EXPORTS = {platform: export_as(platform, SMALL) for platform in KNOWN}


@pytest.mark.fuzz
@given(st.sampled_from(KNOWN), st.data())
def test_no_export_is_wrong_enough_for_a_traceback(platform: Platform, data: st.DataObject) -> None:
    files = EXPORTS[platform]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(files)))
        if len(path) > 1:
            files = changed(files, path, data.draw(JSON))
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
    assert all(stored_catalog_notes(kept, broker))


@pytest.mark.fuzz
@each("platform", KNOWN)
def test_any_one_value_may_be_any_other(platform: Platform) -> None:
    """Each with each under `make fuzz`, else one in seven: each place with one or two."""
    tried = itertools.product(places(EXPORTS[platform]), [None, True, 0, "x", [], {}, [None], {"x": []}])
    for path, value in tried if EVERY_CASE else itertools.islice(tried, None, None, 7):
        if len(path) > 1:
            check(changed(EXPORTS[platform], path, value), SMALL)


def test_documents_of_one_file() -> None:
    text = "---\n".join(map(dump, export_as(CF, CATALOG)))
    stored = find_stored_catalog(parse_documents(text.encode(), "x.yaml"))
    assert (stored.platform, find_drift(stored, CATALOG)) == (CF, [])
    path = ("services", 1, "plans", 0, "metadata", "displayName")
    place = stored.document.locate([path])[path]
    assert text.splitlines()[place.line - 1][place.column - 1 :].startswith("displayName")


def test_a_list_of_one_kind_leaves_it_out_in_its_items() -> None:
    items = export_as(K8S, CATALOG)[0]["items"]
    lists: dict[str, list[Any]] = {}
    for item in items:
        lists.setdefault(f"{item.pop('kind')}List", []).append(item)
    stored = read(*({"kind": kind, "items": some} for kind, some in lists.items()))
    assert (stored.platform, find_drift(stored, CATALOG)) == (K8S, [])


def test_classes_and_plans_of_a_namespace() -> None:
    items = export_as(K8S, CATALOG)[0]["items"]
    for item in items:
        item["kind"] = item["kind"].removeprefix("Cluster")
        item["metadata"]["namespace"] = "here"
        item["spec"]["serviceBrokerName"] = item["spec"].pop("clusterServiceBrokerName")
        if "clusterServiceClassRef" in item["spec"]:
            item["spec"]["serviceClassRef"] = item["spec"].pop("clusterServiceClassRef")
    stored = read(*items)
    assert (stored.platform, find_drift(stored, CATALOG)) == (K8S, [])


def test_service_manager_adds_plans_and_metadata_of_its_own() -> None:
    offerings, plans = (file["items"] for file in export_as(SM, CATALOG))
    for row in (*offerings, *plans):
        row.setdefault("metadata", {})["sm_offering_id"] = "x"
        row["metadata"]["sm_plan_id"] = "y"
    name = "reference-instance"
    added = {**plans[0], "id": "z", "catalog_id": "z", "name": name, "catalog_name": name}
    stored = read({"num_items": 2, "items": offerings}, {"num_items": 4, "items": [*plans, added]})
    assert find_drift(stored, CATALOG) == []
    bare = copy.deepcopy(CATALOG)
    del bare["services"][0]["metadata"]
    assert {c.field.partition("/")[0] for c in find_drift(stored, bare)} == {"metadata"}


@each("text", ["", "[", '{"resources": [1, 2', '{"a": 1} {"b": ', "a: 1\n---\nb: [", "[1]", "[]", "3"])
def test_a_file_that_cannot_be_read_is_told_with_its_place(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_documents(text.encode(), "x.txt")
    location = caught.value.findings[0].location
    assert location and location.source == "x.txt"


def test_an_export_of_the_v2_api_names_the_paths_of_v3() -> None:
    with pytest.raises(SourceError) as raised:
        find_stored_catalog([parse_document(b'{"resources": [{"entity": {"name": "a"}}]}', "plans.json")])
    assert "cf curl '/v3/service_plans?" in raised.value.advice
