"""A catalog inside of a larger document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from osbctl.errors import DocumentError, UsageError
from osbctl.findings import Finding
from osbctl.sources.parse import parse_document
from osbctl.sources.pointer import find_catalog

TEXT = json.dumps(
    {
        "a/b": {"~x": [{"k": 1}]},
        "catalog": {"services": [{"name": "s"}]},
        "list": [{"name": "one", "plans": [{"name": "p"}]}],
        "none": None,
        "": {"": {"k": 2}},
    },
    indent=1,
).encode()


@pytest.mark.parametrize(
    ("at", "data"),
    [
        ("/a~1b/~0x/0", {"k": 1}),
        ("/catalog", {"services": [{"name": "s"}]}),
        ("/", {"": {"k": 2}}),
        ("//", {"k": 2}),
        ("/list", {"services": [{"name": "one", "plans": [{"name": "p"}]}]}),
    ],
)
def test_what_a_pointer_leads_to(at: str, data: Any) -> None:
    assert parse_document(TEXT, "a.json", at=at).data == data


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_places_are_those_of_the_whole_text(name: str) -> None:
    document = parse_document(TEXT, name, at="/catalog")
    paths: list[tuple[str | int, ...]] = [(), ("services",), ("services", 0, "name"), ("gone",)]
    found = document.locate(paths)
    lines = TEXT.decode().split("\n")
    assert [lines[found[path].line - 1].strip() for path in paths] == [
        '"catalog": {',
        '"services": [',
        '"name": "s"',
        '"catalog": {',
    ]


def test_a_list_of_offerings_is_wrapped_and_located() -> None:
    document = parse_document(TEXT, "a.json", at="/list")
    whole = parse_document(TEXT, "a.json")
    for inner, outer in (
        ((), ("list",)),
        (("services",), ("list",)),
        (("services", 0), ("list", 0)),
        (("services", 0, "plans", 0, "name"), ("list", 0, "plans", 0, "name")),
    ):
        assert document.locate([inner])[inner] == whole.locate([outer])[outer]


def test_notes_are_those_of_the_part() -> None:
    text = b"on: 1\nouter:\n  catalog: {services: [{name: no, plans: []}]}\n  list: [{name: y, plans: []}]\n"
    assert len(parse_document(text, "a.yaml").notes) == 3
    (note,) = parse_document(text, "a.yaml", at="/outer/catalog").notes
    assert note.path == ("services", 0, "name")
    (note,) = parse_document(text, "a.yaml", at="/outer/list").notes
    assert note.path == ("services", 0, "name")
    assert note.location is not None
    assert note.location.line == 4


def nowhere(at: str) -> Finding:
    with pytest.raises(DocumentError) as caught:
        parse_document(TEXT, "a.json", at=at)
    (finding,) = caught.value.findings
    return finding


@pytest.mark.parametrize(
    ("at", "rule", "words"),
    [
        ("/catlog", "pointer-not-found", "no 'catlog' in the top did you mean catalog?"),
        ("/zzz", "pointer-not-found", "there are: a/b, catalog, list, none"),
        ("/a~1b/~0x/1", "pointer-not-found", "no '1' in /a~1b/~0x it is an array of 1"),
        ("/a~1b/~0x/00", "pointer-not-found", "no '00'"),
        ("/a~1b/~0x/-", "pointer-not-found", "no '-'"),
        ("/a~1b/~0x/٠", "pointer-not-found", "no '٠'"),
        ("/list/" + "9" * 5000, "pointer-not-found", "it is an array of 1"),
        ("/catalog/services/0/name/deeper", "pointer-not-found", "no 'deeper' in /catalog/services/0/name"),
        ("/none", "not-an-object", "the value at /none is null"),
        ("/catalog/services", "not-an-object", "the value at /catalog/services is an array"),
    ],
)
def test_pointers_that_lead_to_no_object(at: str, rule: str, words: str) -> None:
    finding = nowhere(at)
    assert finding.rule == rule
    assert words in f"{finding.message} {finding.hint}"
    assert finding.location is not None


@pytest.mark.parametrize("at", ["catalog", "#/catalog", "/a~2b", "/a~"])
def test_what_is_no_pointer(at: str) -> None:
    with pytest.raises(UsageError, match="not a JSON pointer"):
        parse_document(TEXT, "a.json", at=at)


OFFERINGS = [{"name": "x", "plans": []}]


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        ({"catalog": {"services": OFFERINGS}}, "/catalog"),
        ({"spring": {"cloud": {"openservicebroker": {"catalog": {"services": OFFERINGS}}}}},
         "/spring/cloud/openservicebroker/catalog"),
        ({"deep": {"catalog": {"services": OFFERINGS}}, "catalog": {"services": OFFERINGS}}, "/catalog"),
        ({"offerings": OFFERINGS}, "/offerings"),
        ({"jobs": [{}, {"properties": {"services": OFFERINGS}}]}, "/jobs/1/properties"),
        ({"a/b": {"~": {"services": OFFERINGS}}}, "/a~1b/~0"),
        ({"catalog": {"services": {"x": {}}}}, None),
        ({"catalog": {"services": []}}, None),
        ({"data": {"catalog.json": '{"services": []}'}}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_find_catalog(data: Any, pointer: str | None) -> None:
    assert find_catalog(data) == pointer
    if pointer:
        assert parse_document(json.dumps(data).encode(), "a.json", at=pointer).data == {"services": OFFERINGS}


def test_find_catalog_gives_up_in_the_depths() -> None:
    data: dict[str, Any] = {"services": OFFERINGS}
    for _ in range(50):
        data = {"x": data}
    assert find_catalog(data) is None


SPRING = b"""\
spring.cloud.openservicebroker.catalog:
  services:
  - name: s
    planUpdateable: true
    dashboard-client: {redirectUri: x}
    DESCRIPTION: d
    description: kept
    plans:
    - schemas: {serviceInstance: {create: {parameters: {minLength: 1, min-length: 2}}}}
      metadata: {display-name: P, someThing: 1}
"""


def test_the_names_of_a_spring_configuration_are_those_that_its_broker_sends() -> None:
    document = parse_document(SPRING, "application.yml", at="/spring.cloud.openservicebroker.catalog")
    (service,) = document.data["services"]
    assert service["plan_updateable"] is True
    assert service["dashboard_client"] == {"redirect_uri": "x"}
    assert (service["DESCRIPTION"], service["description"]) == ("d", "kept")
    (plan,) = service["plans"]
    assert plan["schemas"]["service_instance"]["create"]["parameters"] == {"minLength": 1, "min-length": 2}
    assert plan["metadata"] == {"displayName": "P", "someThing": 1}
    path = ("services", 0, "plans", 0, "schemas", "service_instance", "create", "parameters", "min-length")
    uri = ("services", 0, "dashboard_client", "redirect_uri")
    places = document.locate([path, uri])
    assert [(places[at].line, places[at].column) for at in (path, uri)] == [(9, 71), (5, 24)]


def test_elsewhere_names_stay_as_they_are() -> None:
    text = json.dumps({"catalog": {"services": [{"planUpdateable": True}]}}).encode()
    assert parse_document(text, "a.json", at="/catalog").data == {"services": [{"planUpdateable": True}]}
