"""The files that people have of an export: pages, arrays, several documents in one, JSON or YAML.

The shapes are those that the platforms' own code writes: the Cloud Controller's paginated lists with what is included,
the lists of kubectl and svcat, Service Manager's pages, Korifi's plans.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from osbctl.comparison.drift import find_drift
from osbctl.errors import SourceError
from osbctl.findings import DocumentError
from osbctl.platforms import Platform
from osbctl.sources.exports.merge import StoredCatalog
from osbctl.sources.exports.read import StoredAs, parse_documents, stored_catalog
from osbctl.sources.yaml_text import dump
from tests.drift.test_fields import CATALOG
from tests.sources.exports.make import export_as, page

CF, K8S, SM, KORIFI = Platform.CLOUD_FOUNDRY, Platform.KUBERNETES, Platform.SERVICE_MANAGER, Platform.KORIFI


def read(*texts: str, ending: str = "json", stored_as: StoredAs | None = None) -> StoredCatalog:
    named = [(text.encode(), f"{number}.{ending}") for number, text in enumerate(texts)]
    return stored_catalog([one for data, name in named for one in parse_documents(data, name)], stored_as)


def cloud_foundry_pages(size: int = 1) -> list[dict[str, Any]]:
    """As `/v3/service_plans?include=service_offering` and `/v3/service_offerings?fields[service_broker]=name,guid`."""
    offerings, plans = (file["resources"] for file in export_as(CF, CATALOG))
    brokers = [{"guid": "the-broker", "name": "mine", "relationships": {}, "links": {}}]
    files = []
    for kind, rows, query in (
        ("service_plans", plans, "include=service_offering"),
        ("service_offerings", offerings, "fields%5Bservice_broker%5D=name%2Cguid"),
    ):
        for start in range(0, len(rows), size):
            here = rows[start : start + size]
            parents = {row["relationships"].get("service_offering", {}).get("data", {}).get("guid") for row in here}
            included = [row for row in offerings if row["guid"] in parents]
            more = {"service_offerings": included} if included else {"service_brokers": brokers}
            asked = f"https://api.example.com/v3/{kind}?page=NUMBER&per_page={size}&{query}&service_broker_names=mine"
            number = start // size + 1
            made = page(here, len(rows), included=more)
            made["pagination"] |= {
                "total_pages": -(-len(rows) // size),
                "first": {"href": asked.replace("NUMBER", "1")},
                "next": {"href": asked.replace("NUMBER", str(number + 1))} if start + size < len(rows) else None,
                "previous": {"href": asked.replace("NUMBER", str(number - 1))} if start else None,
            }
            files.append(made)
    return files


JOINED: dict[str, Callable[[list[Any]], str]] = {
    "one after the other": lambda files: "".join(map(json.dumps, files)),
    "printed one after the other": lambda files: "\n".join(json.dumps(file, indent=2) for file in files) + "\n",
    "jq --slurp": lambda files: json.dumps(files, indent=2),
    "YAML documents": lambda files: "---\n".join(map(dump, files)),
    "YAML documents with a first ---": lambda files: "".join(f"---\n{dump(file)}" for file in files),
    "a YAML list": dump,
}


@pytest.mark.parametrize("how", JOINED)
@pytest.mark.parametrize("ending", ["json", "yaml", "txt"])
def test_pages_in_one_file(how: str, ending: str) -> None:
    stored = read(JOINED[how](cloud_foundry_pages()), ending=ending)
    assert (stored.platform, find_drift(stored, CATALOG)) == (CF, [])


@pytest.mark.parametrize("how", JOINED)
def test_places_in_a_file_of_several_documents(how: str) -> None:
    text = JOINED[how](cloud_foundry_pages())
    path = ("services", 1, "plans", 0, "metadata", "displayName")
    place = read(text).document.locate([path])[path]
    assert text.splitlines()[place.line - 1][place.column - 1 :].lstrip('"').startswith("displayName")


def test_a_page_less_is_noticed_however_they_are_joined() -> None:
    with pytest.raises(SourceError, match="it holds 2 of 3 plans"):
        read(json.dumps(cloud_foundry_pages()[1:]))


@pytest.mark.parametrize("ending", ["json", "yaml"])
@pytest.mark.parametrize("kinds", ["cluster", "namespace"])
def test_what_svcat_prints_is_what_kubectl_prints(ending: str, kinds: str) -> None:
    """Bare arrays in later versions, lists in earlier ones; objects of a typed client do not name their kind."""
    items = export_as(K8S, CATALOG)[0]["items"]
    for item in items:
        del item["apiVersion"]
    classes = [item for item in items if item["kind"] == "ClusterServiceClass"]
    plans = [item for item in items if item["kind"] == "ClusterServicePlan"]
    for item in items:
        del item["kind"]
        if kinds == "namespace":
            item["metadata"]["namespace"] = "here"
            item["spec"]["serviceBrokerName"] = item["spec"].pop("clusterServiceBrokerName")
            if "clusterServiceClassRef" in item["spec"]:
                item["spec"]["serviceClassRef"] = item["spec"].pop("clusterServiceClassRef")
    write: Callable[[Any], str] = json.dumps if ending == "json" else dump
    prefix = "Service" if kinds == "namespace" else "ClusterService"
    of_kinds = [{"kind": f"{prefix}ClassList", "items": classes}, {"kind": f"{prefix}PlanList", "items": plans}]
    lists = [{"metadata": {}, "items": classes}, {"metadata": {}, "items": plans}]
    for files in ([classes, plans], lists, of_kinds, items):
        stored = read(*map(write, files), ending=ending)
        assert (stored.platform, find_drift(stored, CATALOG)) == (K8S, [])
    path = ("services", 1, "name")
    text = write(classes)
    place = read(text, write(plans), ending=ending).document.locate([path])[path]
    assert "externalName" in text.splitlines()[place.line - 1][place.column - 1 :]


def test_service_manager_adds_plans_and_metadata_of_its_own() -> None:
    offerings, plans = (file["items"] for file in export_as(SM, CATALOG))
    for row in (*offerings, *plans):
        row.setdefault("metadata", {})["sm_offering_id"] = "x"
        row["metadata"]["sm_plan_id"] = "y"
    added = {
        **plans[0],
        "id": "z",
        "catalog_id": "z",
        "name": "reference-instance",
        "catalog_name": "reference-instance",
    }
    rows = [*plans, added]
    stored = read(json.dumps({"num_items": 2, "items": offerings}), json.dumps({"num_items": 4, "items": rows}))
    assert find_drift(stored, CATALOG) == []
    bare = copy.deepcopy(CATALOG)
    del bare["services"][0]["metadata"]
    assert {c.field.partition("/")[0] for c in find_drift(stored, bare)} == {"metadata"}


@pytest.mark.parametrize("version", ["", "1.2.3"])
def test_korifi_shows_an_empty_version_where_there_is_none(version: str) -> None:
    offerings, plans = (file["resources"] for file in export_as(KORIFI, CATALOG))
    for plan in plans:
        plan["maintenance_info"] = {"version": version}
    broker = copy.deepcopy(CATALOG)
    for service in broker["services"]:
        for one in service["plans"]:
            del one["maintenance_info"]
    rules = {c.rule for c in find_drift(read(json.dumps(page(offerings)), json.dumps(page(plans))), broker)}
    assert rules == ({"change-maintenance-version"} if version else set())


@pytest.mark.parametrize(
    "text", ["", "[", '{"resources": [1, 2', '{"a": 1} {"b": ', "a: 1\n---\nb: [", "[1]", "[]", "3"]
)
def test_a_file_that_cannot_be_read_is_told_with_its_place(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_documents(text.encode(), "x.txt")
    location = caught.value.findings[0].location
    assert location
    assert location.source == "x.txt"


def test_the_end_of_a_truncated_file_is_where_it_is(tmp_path: Any) -> None:
    whole = json.dumps(cloud_foundry_pages()[0], indent=1)
    with pytest.raises(DocumentError) as caught:
        parse_documents(f"{whole}\n{whole[:200]}".encode(), "x.json")
    location = caught.value.findings[0].location
    assert location
    assert location.line == whole.count("\n") + 1 + whole[:200].count("\n") + 1
